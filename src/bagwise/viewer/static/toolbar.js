// The toolbar above a bag: layer, class, scale, colour map, opacity, range, comparison, frames of key instances.

import { element, make } from "./dom.js";
import { PAPER_COLOURS } from "./raster.js";
import { LAYERS, set, state } from "./state.js";

const SELECTS = ["class", "scale", "colours", "beside"];
const SLIDERS = ["opacity", "from", "to"];
const COLOUR_TITLES = { [PAPER_COLOURS]: "darkening (paper)", RdBu_r: "blue – red", PuOr_r: "purple – orange" };

export function initToolbar() {
  const field = element("layers");
  field.append(...LAYERS.map((layer, number) => layerButton(layer, number + 1)));
  field.addEventListener("change", (event) => set({ layer: event.target.value }));
  for (const name of SELECTS) element(name).addEventListener("change", (event) => set({ [name]: event.target.value }));
  for (const name of SLIDERS) element(name).addEventListener("input", (event) => set(ordered(name, Number(event.target.value))));
  element("frames").addEventListener("change", (event) => set({ frames: event.target.checked }));
  element("tools").addEventListener("submit", (event) => event.preventDefault());
}

// Show the state and the available options: { classes, colours: names, beside: [value, title] pairs, placed, keys, missing }.
export function updateToolbar({ classes, colours, beside, placed, keys, missing }) {
  for (const input of element("layers").querySelectorAll("input")) {
    input.checked = input.value === state.layer;
    input.disabled = missing && input.value !== "weight";
  }
  setOptions("class", classes.map((label) => [label, label]), state.class);
  setOptions("colours", colours.map((name) => [name, COLOUR_TITLES[name] ?? name]), state.colours);
  setOptions("beside", beside, state.beside);
  element("scale").value = state.scale;
  for (const name of SLIDERS) element(name).value = state[name];
  element("frames").checked = state.frames;
  element("range-text").textContent = `${state.from.toFixed(2)} – ${state.to.toFixed(2)}`;
  element("class-field").hidden = state.layer === "weight";
  element("frames-field").hidden = !keys;
  element("tools").classList.toggle("unplaced", !placed);
}

function layerButton(layer, key) {
  const input = make("input", { type: "radio", name: "layer", value: layer, id: `layer-${layer}` });
  const title = layer[0].toUpperCase() + layer.slice(1);
  return make("span", {}, input, make("label", { for: `layer-${layer}`, title: `Shortcut: ${key}` }, title));
}

function setOptions(id, options, selected) {
  const select = element(id);
  select.replaceChildren(...options.map(([value, title]) => make("option", { value }, title)));
  select.value = selected;
  select.disabled = options.length < 2;
}

// Return the change of a slider; the lower end of the range stays below the upper end.
function ordered(name, value) {
  if (name === "from") return { from: value, to: Math.max(value, state.to) };
  if (name === "to") return { to: value, from: Math.min(value, state.from) };
  return { [name]: value };
}
