// The toolbar above a bag: layer, output, scale, colour map, opacity, range, comparison, frames of key instances.

import { element, make } from "./dom.js";
import { PAPER_COLOURS } from "./raster.js";
import { set, state } from "./state.js";

const SELECTS = ["output", "scale", "colours", "beside"];
const SLIDERS = ["opacity", "from", "to"];
const COLOUR_TITLES = { [PAPER_COLOURS]: "darkening (paper)", RdBu_r: "blue – red", PuOr_r: "purple – orange" };

export function initToolbar() {
  const field = element("layers");
  field.addEventListener("change", (event) => set({ layer: event.target.value }));
  for (const name of SELECTS) element(name).addEventListener("change", (event) => set({ [name]: event.target.value }));
  for (const name of SLIDERS) element(name).addEventListener("input", (event) => set(ordered(name, Number(event.target.value))));
  element("frames").addEventListener("change", (event) => set({ frames: event.target.checked }));
  element("tools").addEventListener("submit", (event) => event.preventDefault());
}

// Show one button per layer of the run.
export function initLayers(layers) {
  const legend = element("layers").querySelector("legend");
  element("layers").replaceChildren(legend, ...layers.map(({ name }, number) => layerButton(name, number + 1)));
}

// Show the state and the available options: { run, colours: names, beside: [value, title] pairs, placed, keys, missing }.
export function updateToolbar({ run, colours, beside, placed, keys, missing }) {
  for (const input of element("layers").querySelectorAll("input")) {
    input.checked = input.value === state.layer;
    input.disabled = missing && input.value !== "weight";
  }
  setOptions("output", run.outputs.map((title) => [title, title]), state.output);
  element("output-word").textContent = run.output_word[0].toUpperCase() + run.output_word.slice(1);
  setOptions("colours", colours.map((name) => [name, COLOUR_TITLES[name] ?? name]), state.colours);
  setOptions("beside", beside, state.beside);
  element("scale").value = state.scale;
  for (const name of SLIDERS) element(name).value = state[name];
  element("frames").checked = state.frames;
  element("range-text").textContent = `${state.from.toFixed(2)} – ${state.to.toFixed(2)}`;
  element("output-field").hidden = !run.layers.find(({ name }) => name === state.layer)?.of_output;
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
