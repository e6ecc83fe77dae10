// The view as a PNG, with what it shows written below it: bag, layer, class, scale, and the values of the colours.

import { drawRamp } from "./legend.js";
import { short } from "./words.js";

const MARGIN = 16;
const CAPTION = 84;

export async function exportPng({ name, run, view, words, scale, table }) {
  const { titles } = view;
  const pictures = view.snapshots();
  const width = pictures.reduce((sum, { width: each }) => sum + each, MARGIN * (pictures.length - 1));
  const height = Math.max(...pictures.map((picture) => picture.height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.max(width, 480), height + CAPTION];
  const context = canvas.getContext("2d");
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  let left = 0;
  for (const picture of pictures) {
    context.drawImage(picture, left, 0);
    left += picture.width + MARGIN;
  }
  caption(context, height, `${name}: ${words}, ${scale.words}`, titles.length > 1 && titles[0].startsWith(run) ? titles.join(" | ") : `${run}: ${titles.join(" | ")}`, scale, table);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  save(blob, `${name.replace(/[^\w.@-]+/g, "-").replace(/^[.-]+/, "") || "bag"}.png`);
}

function caption(context, top, words, titles, scale, table) {
  context.fillStyle = "#1c2128";
  context.font = "600 15px system-ui, sans-serif";
  context.fillText(words, MARGIN, top + 26);
  context.font = "13px system-ui, sans-serif";
  context.fillText(titles, MARGIN, top + 46);
  const low = short(scale.low);
  const start = MARGIN + context.measureText(low).width + 8;
  context.fillText(low, MARGIN, top + 70);
  drawRamp(context, table, start, top + 58, 220, 14);
  context.fillStyle = "#1c2128";
  context.fillText(short(scale.high), start + 228, top + 70);
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
