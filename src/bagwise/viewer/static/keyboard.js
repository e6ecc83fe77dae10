// Keyboard shortcuts; they are disabled while a field has the focus, and "?" lists them.

import { element, make } from "./dom.js";

// actions: [keys, description, function of the key]
export function bindKeys(actions) {
  element("shortcuts").replaceChildren(
    ...actions.flatMap(([keys, description]) => [
      make("dt", {}, ...keys.map((key) => make("kbd", {}, keyTitle(key)))),
      make("dd", {}, description),
    ]),
  );
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target) || element("help").open) return;
    const action = actions.find(([keys]) => keys.includes(event.key));
    if (!action || (event.key.startsWith("Arrow") && usesArrows(event.target))) return;
    event.preventDefault();
    action[2](event.key);
  });
}

const keyTitle = (key) => ({ ArrowUp: "↑", ArrowDown: "↓" })[key] ?? key;

const isField = (target) => target.matches("input:not([type=checkbox]):not([type=radio]), select, textarea");

// Elements that use the arrow keys themselves: the picture, inputs, scrolling lists.
const usesArrows = (target) => Boolean(target.closest(".openseadragon-canvas, input, .grid-scroll"));
