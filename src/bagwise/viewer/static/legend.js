// The legend: layer, class and scale, and a colour bar with the values at its ends.

import { element } from "./dom.js";
import { formatNumber } from "./number_format.js";
import { PAPER_COLOURS } from "./raster.js";

const GREYS = Array.from({ length: 256 }, (_, step) => [step, step, step]);

export function layerCaption(layer, run, output) {
  return layer.caption.replace("{output}", `${run.output_word} ${output}`);
}

export function showLegend(caption, scale, table) {
  const figure = element("legend");
  figure.querySelector("figcaption").textContent = `${caption}, ${scale.caption}`;
  const [low, high] = figure.querySelectorAll(".colour-bar span");
  low.textContent = formatNumber(scale.low);
  high.textContent = formatNumber(scale.high);
  const canvas = figure.querySelector("canvas");
  canvas.setAttribute("aria-label", `colour bar from ${formatNumber(scale.low)} to ${formatNumber(scale.high)}`);
  drawColourBar(canvas.getContext("2d"), table, 0, 0, canvas.width, canvas.height);
}

export function drawColourBar(context, table, left, top, width, height) {
  const colours = table === PAPER_COLOURS ? GREYS : table;
  for (let step = 0; step < width; step += 1) {
    const [red, green, blue] = colours[Math.round((step / (width - 1)) * (colours.length - 1))];
    context.fillStyle = `rgb(${red} ${green} ${blue})`;
    context.fillRect(left + step, top, 1, height);
  }
}
