// The legend: which layer, class and scale the colours show, and the values at their ends.

import { PAPER_COLOURS } from "./raster.js";
import { element, short } from "./words.js";

const GREYS = Array.from({ length: 256 }, (_, step) => [step, step, step]);

export function layerWords(layer, label) {
  const words = { weight: "weight", contribution: `contribution to ${label}`, probability: `p(${label}) of the instance alone` };
  return words[layer];
}

export function showLegend(words, scale, table) {
  const figure = element("legend");
  figure.querySelector("figcaption").textContent = `${words}, ${scale.words}`;
  const [low, high] = figure.querySelectorAll(".ends span");
  low.textContent = short(scale.low);
  high.textContent = short(scale.high);
  const canvas = figure.querySelector("canvas");
  canvas.setAttribute("aria-label", `colours from ${short(scale.low)} to ${short(scale.high)}`);
  drawRamp(canvas.getContext("2d"), table, 0, 0, canvas.width, canvas.height);
}

export function drawRamp(context, table, left, top, width, height) {
  const colours = table === PAPER_COLOURS ? GREYS : table;
  for (let step = 0; step < width; step += 1) {
    const [red, green, blue] = colours[Math.round((step / (width - 1)) * (colours.length - 1))];
    context.fillStyle = `rgb(${red} ${green} ${blue})`;
    context.fillRect(left + step, top, 1, height);
  }
}
