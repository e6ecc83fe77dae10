// The instances of greatest value, to walk along.

import { element, make, short } from "./words.js";

const LENGTH = 16;

// picture: an instance's address, or null if there is nothing to see
export function showStrip(order, values, keys, picture, onPick) {
  const items = order.slice(0, LENGTH).map((instance) => {
    const key = keys?.[instance] > 0;
    const label = `instance ${instance}, ${short(values[instance])}${key ? ", truly key" : ""}`;
    const attributes = { type: "button", class: key ? "card key" : "card", "data-instance": instance, "aria-label": label };
    const shown = picture ? make("img", { src: picture(instance), alt: "", decoding: "async" }) : make("span", { class: "which" }, `#${instance}`);
    const button = make("button", attributes, shown, make("span", { class: "number" }, short(values[instance])));
    button.addEventListener("click", () => onPick(instance));
    return make("li", {}, button);
  });
  element("strip").replaceChildren(...items);
}

export function markStrip(instance) {
  for (const button of element("strip").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", Number(button.dataset.instance) === instance);
  }
}
