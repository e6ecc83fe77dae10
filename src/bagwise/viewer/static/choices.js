// The choices above a bag: layer, class, scale, colours, opacity, range, what stands beside, frames.

import { PAPER_COLOURS } from "./raster.js";
import { LAYERS, set, state } from "./state.js";
import { element, make } from "./words.js";

const DIRECT = ["class", "scale", "colours", "beside"]; // a choice is the value itself
const NUMBERS = ["opacity", "from", "to"];

export function startChoices() {
  const field = element("layers");
  field.append(...LAYERS.map((layer, number) => segment(layer, number + 1)));
  field.addEventListener("change", (event) => set({ layer: event.target.value }));
  for (const name of DIRECT) element(name).addEventListener("change", (event) => set({ [name]: event.target.value }));
  for (const name of NUMBERS) element(name).addEventListener("input", (event) => set(ordered(name, Number(event.target.value))));
  element("frames").addEventListener("change", (event) => set({ frames: event.target.checked }));
  element("tools").addEventListener("submit", (event) => event.preventDefault());
}

// Show what is chosen among what there is: { classes, colours: names, beside: [value, words], placed, keys, missing }.
export function showChoices({ classes, colours, beside, placed, keys, missing }) {
  for (const input of element("layers").querySelectorAll("input")) {
    input.checked = input.value === state.layer;
    input.disabled = missing && input.value !== "weight";
  }
  options("class", classes.map((label) => [label, label]), state.class);
  options("colours", colours.map((name) => [name, COLOUR_WORDS[name] ?? name]), state.colours);
  options("beside", beside, state.beside);
  element("scale").value = state.scale;
  for (const name of NUMBERS) element(name).value = state[name];
  element("frames").checked = state.frames;
  element("range-words").textContent = `${state.from.toFixed(2)} – ${state.to.toFixed(2)}`;
  element("class-field").hidden = state.layer === "weight";
  element("frames-field").hidden = !keys;
  element("tools").classList.toggle("unplaced", !placed);
}

const COLOUR_WORDS = { [PAPER_COLOURS]: "dark where it counts little", RdBu_r: "blue – red", PuOr_r: "orange – purple" };

function segment(layer, key) {
  const input = make("input", { type: "radio", name: "layer", value: layer, id: `layer-${layer}` });
  return make("span", {}, input, make("label", { for: `layer-${layer}`, title: `key ${key}` }, layer));
}

function options(id, pairs, chosen) {
  const select = element(id);
  select.replaceChildren(...pairs.map(([value, words]) => make("option", { value }, words)));
  select.value = chosen;
  select.disabled = pairs.length < 2;
}

// The lower end of the range stays below the upper one.
function ordered(name, value) {
  if (name === "from") return { from: value, to: Math.max(value, state.to) };
  if (name === "to") return { to: value, from: Math.min(value, state.from) };
  return { [name]: value };
}
