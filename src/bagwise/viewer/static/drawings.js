// Numbers and choices → what the views draw.

import { PAPER_COLOURS } from "./raster.js";
import * as server from "./server.js";

const LAYERS_KEPT = 12;
const kept = new Map();

// The numbers of a layer; the last few are remembered.
export async function layerOf(run, bag, name, classNumber, scale) {
  const key = [run, bag, name, name === "weight" ? 0 : classNumber, scale].join("/");
  if (!kept.has(key)) {
    kept.set(key, server.layer(run, bag, name, classNumber, scale));
    if (kept.size > LAYERS_KEPT) kept.delete(kept.keys().next().value);
  }
  try {
    return await kept.get(key);
  } catch (error) {
    kept.delete(key);
    throw error;
  }
}

// What a view needs to draw a layer; tiles of a scaled value (its size, if signed) outside the range are left out.
export function drawingOf(layer, { positions, keys, table, opacity, from, to }) {
  const { signed } = layer.scale;
  const shown = (value) => {
    const size = signed ? Math.abs(value) : value;
    return size >= from && size <= to;
  };
  return {
    ...layer,
    signed,
    positions,
    keys,
    table,
    opacity,
    shown,
    lowest: signed ? -1 : 0,
    colourOf: (value) => cssColour(table, signed ? (value + 1) / 2 : value),
  };
}

// Instances in the range, the greatest value first.
export function orderOf({ values, scaled, shown }) {
  const order = [];
  for (let instance = 0; instance < values.length; instance += 1) if (shown(scaled[instance])) order.push(instance);
  return order.sort((one, other) => values[other] - values[one] || one - other);
}

function cssColour(table, share) {
  if (table === PAPER_COLOURS) return "currentColor";
  return `rgb(${table[Math.round(share * (table.length - 1))].join(" ")})`;
}
