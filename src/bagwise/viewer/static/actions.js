// Keys and buttons, and what they do.

import { LAYERS, SCALES, set, state } from "./state.js";
import { element } from "./words.js";

const OPACITIES = [0, 0.3, 0.6, 1];

// step: to another bag; walk: to another instance; home: the whole picture; classes: of the run
export function keyActions({ step, walk, home, classes }) {
  const besides = () => [...element("beside").options].map(({ value }) => value);
  return [
    [["ArrowDown", "j"], "next bag", () => step(1)],
    [["ArrowUp", "k"], "bag before", () => step(-1)],
    [["n"], "next instance by value", () => walk(1)],
    [["p"], "instance before", () => walk(-1)],
    [["1", "2", "3"], "layer: weight, contribution, probability", (key) => element(`layer-${LAYERS[Number(key) - 1]}`).click()],
    [["c"], "next class", () => set({ class: next(classes(), state.class) })],
    [["s"], "next scale", () => set({ scale: next(SCALES, state.scale) })],
    [["o"], "opacity", () => set({ opacity: next(OPACITIES, state.opacity) })],
    [["b"], "another view beside", () => set({ beside: next(besides(), state.beside) })],
    [["f"], "frames of true key instances", () => set({ frames: !state.frames })],
    [["h"], "whole picture", home],
    [["/"], "filter the bags", () => element("search").focus()],
    [["?"], "these keys", () => element("help").showModal()],
  ];
}

export function bindButtons({ step, exportPng, copyLink, geojson }) {
  element("bag-before").addEventListener("click", () => step(-1));
  element("bag-after").addEventListener("click", () => step(1));
  element("help-open").addEventListener("click", () => element("help").showModal());
  element("export-png").addEventListener("click", exportPng);
  element("copy-link").addEventListener("click", copyLink);
  element("export-geojson").addEventListener("click", (event) => {
    event.currentTarget.href = geojson();
  });
}

const next = (list, value) => list[(list.indexOf(value) + 1) % list.length];
