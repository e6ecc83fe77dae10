// Keys of the page; they rest while one types into a field, and the list of them is shown by "?".

import { element, make } from "./words.js";

// actions: [keys, words, function of the key]
export function bindKeys(actions) {
  element("keys").replaceChildren(
    ...actions.flatMap(([keys, words]) => [
      make("dt", {}, ...keys.slice(0, 3).map((key) => make("kbd", {}, named(key)))),
      make("dd", {}, words),
    ]),
  );
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || element("help").open) return;
    const found = actions.find(([keys]) => keys.includes(event.key));
    if (!found || (event.key.startsWith("Arrow") && ownsArrows(event.target))) return;
    event.preventDefault();
    found[2](event.key);
  });
}

const named = (key) => ({ ArrowUp: "↑", ArrowDown: "↓" })[key] ?? key;

const typing = (target) => target.matches("input:not([type=checkbox]):not([type=radio]), select, textarea");

// Where arrows have a meaning of their own: the picture, a choice, a list that scrolls.
const ownsArrows = (target) => Boolean(target.closest(".openseadragon-canvas, input, .grid-scroll"));
