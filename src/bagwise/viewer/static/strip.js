// The instances with the highest values, as thumbnails.

import { element, make } from "./dom.js";
import { formatNumber } from "./number_format.js";

const LENGTH = 16;

// pictureUrl: function from an instance to the URL of its picture; null if there are no pictures
export function showStrip(ranking, values, keys, pictureUrl, onSelect) {
  const items = ranking.slice(0, LENGTH).map((instance) => {
    const key = keys?.[instance] > 0;
    const label = `instance ${instance}, ${formatNumber(values[instance])}${key ? ", key instance" : ""}`;
    const attributes = { type: "button", class: key ? "card key" : "card", "data-instance": instance, "aria-label": label };
    const content = pictureUrl ? make("img", { src: pictureUrl(instance), alt: "", decoding: "async" }) : make("span", { class: "instance-name" }, `#${instance}`);
    const button = make("button", attributes, content, make("span", { class: "number" }, formatNumber(values[instance])));
    button.addEventListener("click", () => onSelect(instance));
    return make("li", {}, button);
  });
  element("strip").replaceChildren(...items);
}

export function selectInStrip(instance) {
  for (const button of element("strip").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", Number(button.dataset.instance) === instance);
  }
}
