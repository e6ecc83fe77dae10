// The values of a layer with colours and range, as drawn by the views.

import { fetchLayer } from "./api.js";
import { PAPER_COLOURS } from "./raster.js";

const MAX_CACHED_LAYERS = 12;
const cache = new Map();

// Return the values of a layer; the most recently added layers are cached.
export async function loadLayer(run, bag, layer, outputNumber, scale) {
  const key = [run, bag, layer, layer === "weight" ? 0 : outputNumber, scale].join("/");
  if (!cache.has(key)) {
    cache.set(key, fetchLayer(run, bag, layer, outputNumber, scale));
    if (cache.size > MAX_CACHED_LAYERS) cache.delete(cache.keys().next().value);
  }
  try {
    return await cache.get(key);
  } catch (error) {
    cache.delete(key);
    throw error;
  }
}

// Return the data to draw a layer; instances whose scaled value (magnitude, if signed) is out of range are hidden.
export function makeDrawing(layer, { positions, keys, table, opacity, from, to }) {
  const { signed } = layer.scale;
  const isVisible = (value) => {
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
    isVisible,
    lowest: signed ? -1 : 0,
    colourOf: (value) => cssColour(table, signed ? (value + 1) / 2 : value),
  };
}

// Return the visible instances, highest value first.
export function rankInstances({ values, scaled, isVisible }) {
  const ranking = [];
  for (let instance = 0; instance < values.length; instance += 1) if (isVisible(scaled[instance])) ranking.push(instance);
  return ranking.sort((left, right) => values[right] - values[left] || left - right);
}

function cssColour(table, share) {
  if (table === PAPER_COLOURS) return "currentColor";
  return `rgb(${table[Math.round(share * (table.length - 1))].join(" ")})`;
}
