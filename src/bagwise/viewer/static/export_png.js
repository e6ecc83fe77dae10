// Export of the view as PNG, with a caption: bag, layer, class, scale, and the values at the ends of the colour bar.

import { drawColourBar } from "./legend.js";
import { formatNumber } from "./number_format.js";

const MARGIN = 16;
const CAPTION_HEIGHT = 84;
const TEXT_COLOUR = "#1c2128";

// compared: whether two runs are compared, so that the titles of the panes already contain their names
export async function exportPng({ name, run, compared, view, caption, scale, table }) {
  const pictures = view.snapshots();
  const width = pictures.reduce((sum, { width: each }) => sum + each, MARGIN * (pictures.length - 1));
  const height = Math.max(...pictures.map((picture) => picture.height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.max(width, 480), height + CAPTION_HEIGHT];
  const context = canvas.getContext("2d");
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  let left = 0;
  for (const picture of pictures) {
    context.drawImage(picture, left, 0);
    left += picture.width + MARGIN;
  }
  const titles = view.titles.join(" | ");
  drawCaption(context, height, [`${name}: ${caption}, ${scale.caption}`, compared ? titles : `${run}: ${titles}`], scale, table);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  download(blob, `${name.replace(/[^\w.@-]+/g, "-").replace(/^[.-]+/, "") || "bag"}.png`);
}

function drawCaption(context, top, [title, subtitle], scale, table) {
  context.fillStyle = TEXT_COLOUR;
  context.font = "600 15px system-ui, sans-serif";
  context.fillText(title, MARGIN, top + 26);
  context.font = "13px system-ui, sans-serif";
  context.fillText(subtitle, MARGIN, top + 46);
  const low = formatNumber(scale.low);
  const start = MARGIN + context.measureText(low).width + 8;
  context.fillText(low, MARGIN, top + 70);
  drawColourBar(context, table, start, top + 58, 220, 14);
  context.fillStyle = TEXT_COLOUR;
  context.fillText(formatNumber(scale.high), start + 228, top + 70);
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
