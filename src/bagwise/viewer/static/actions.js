// The actions of keyboard shortcuts and buttons.

import { element } from "./dom.js";
import { SCALES, set, state } from "./state.js";

const OPACITIES = [0, 0.3, 0.6, 1];

// stepBag, stepInstance: select another bag or instance; resetZoom: show the whole picture; outputs, layers: those of the run
export function keyActions({ stepBag, stepInstance, resetZoom, outputs, layers }) {
  const comparisons = () => [...element("beside").options].map(({ value }) => value);
  return [
    [["ArrowDown", "j"], "Next bag", () => stepBag(1)],
    [["ArrowUp", "k"], "Previous bag", () => stepBag(-1)],
    [["n"], "Next instance by value", () => stepInstance(1)],
    [["p"], "Previous instance by value", () => stepInstance(-1)],
    [["1", "2", "3"], "Layer: first, second, third", (key) => element(`layer-${layers()[Number(key) - 1].name}`).click()],
    [["c"], "Next class or output", () => set({ output: next(outputs(), state.output) })],
    [["s"], "Next scale", () => set({ scale: next(SCALES, state.scale) })],
    [["o"], "Change opacity", () => set({ opacity: next(OPACITIES, state.opacity) })],
    [["b"], "Next comparison", () => set({ beside: next(comparisons(), state.beside) })],
    [["f"], "Show or hide frames of key instances", () => set({ frames: !state.frames })],
    [["h"], "Show the whole picture", resetZoom],
    [["/"], "Filter bags", () => element("search").focus()],
    [["?"], "Show keyboard shortcuts", () => element("help").showModal()],
  ];
}

export function bindButtons({ stepBag, exportPng, copyLink, geojsonUrl }) {
  element("previous-bag").addEventListener("click", () => stepBag(-1));
  element("next-bag").addEventListener("click", () => stepBag(1));
  element("help-open").addEventListener("click", () => element("help").showModal());
  element("export-png").addEventListener("click", exportPng);
  element("copy-link").addEventListener("click", copyLink);
  element("export-geojson").addEventListener("click", (event) => {
    event.currentTarget.href = geojsonUrl();
  });
}

const next = (list, value) => list[(list.indexOf(value) + 1) % list.length];
