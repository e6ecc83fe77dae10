// The tiles as one small image, so that 100,000 tiles are drawn with one call; a cell is the mean of the tiles on it.

const MAX_CELLS = 4_000_000;

export const PAPER_COLOURS = "paper"; // as in the paper: low values are dark, and everything without a tile is black

export class Raster {
  // positions: x and y of each tile; side: side of a tile; bounds: left, top, right and bottom of all tiles
  constructor(positions, side, bounds) {
    const [left, top, right, bottom] = bounds;
    const area = (right - left) * (bottom - top);
    const step = commonStep(positions, side, left, top);
    this.cell = Math.max(step, Math.sqrt(area / MAX_CELLS));
    this.exact = this.cell === step; // otherwise tiles may be off by up to half a cell
    this.left = left;
    this.top = top;
    this.columns = Math.max(1, Math.ceil((right - left) / this.cell - 1e-6));
    this.rows = Math.max(1, Math.ceil((bottom - top) / this.cell - 1e-6));
    this.tileCells = Math.max(1, Math.round(side / this.cell));
    this.positions = positions;
    this.canvas = document.createElement("canvas");
    this.canvas.width = this.columns;
    this.canvas.height = this.rows;
  }

  // Colour the visible tiles; ``lowest`` is the scaled value of the first colour of the table.
  paint(scaled, isVisible, setPixel, lowest) {
    const { sums, counts } = this.#accumulate(scaled, isVisible);
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(this.columns, this.rows);
    for (let cell = 0; cell < counts.length; cell += 1) {
      const value = counts[cell] ? (sums[cell] / counts[cell] - lowest) / (1 - lowest) : NaN;
      setPixel(value, image.data, 4 * cell);
    }
    context.putImageData(image, 0, 0);
  }

  #accumulate(scaled, isVisible) {
    const sums = new Float32Array(this.columns * this.rows);
    const counts = new Uint16Array(this.columns * this.rows);
    for (let tile = 0; tile < scaled.length; tile += 1) {
      if (!isVisible(scaled[tile])) continue;
      const column = Math.round((this.positions[2 * tile] - this.left) / this.cell);
      const row = Math.round((this.positions[2 * tile + 1] - this.top) / this.cell);
      for (let y = row; y < Math.min(row + this.tileCells, this.rows); y += 1) {
        for (let x = column; x < Math.min(column + this.tileCells, this.columns); x += 1) {
          sums[y * this.columns + x] += scaled[tile];
          counts[y * this.columns + x] += 1;
        }
      }
    }
    return { sums, counts };
  }
}

// Return a function that writes a value from 0 to 1 as a pixel at an offset; NaN is a cell without a tile.
export function makePixelSetter(table) {
  if (table === PAPER_COLOURS) {
    return (value, pixels, offset) => {
      pixels[offset + 3] = Math.round(255 * (value || 0)); // how much of the black is removed
    };
  }
  return (value, pixels, offset) => {
    if (Number.isNaN(value)) return;
    const [red, green, blue] = table[Math.round(value * (table.length - 1))];
    pixels[offset] = red;
    pixels[offset + 1] = green;
    pixels[offset + 2] = blue;
    pixels[offset + 3] = 255;
  };
}

// Return the largest cell size for which every tile starts and ends at a cell border.
function commonStep(positions, side, left, top) {
  let step = Math.round(side);
  for (let each = 0; each < positions.length && step > 1; each += 1) {
    step = greatestCommonDivisor(step, Math.round(positions[each] - (each % 2 ? top : left)));
  }
  return Math.max(1, step);
}

function greatestCommonDivisor(left, right) {
  while (right) [left, right] = [right, left % right];
  return left;
}
