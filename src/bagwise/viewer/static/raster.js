// Tiles → one small picture: each cell has the mean of the tiles over it, so that drawing 100,000 tiles is one call.

const MOST_CELLS = 4_000_000;

export const PAPER_COLOURS = "paper"; // as in the paper: the less a tile counts the darker it is, and all else is black

export class Raster {
  // positions: x, y of each tile; side: of a tile; bounds: left, top, right, bottom of all
  constructor(positions, side, bounds) {
    const [left, top, right, bottom] = bounds;
    const area = (right - left) * (bottom - top);
    const step = commonStep(positions, side, left, top);
    this.cell = Math.max(step, Math.sqrt(area / MOST_CELLS));
    this.exact = this.cell === step; // else tiles may stand up to half a cell beside their place
    this.left = left;
    this.top = top;
    this.columns = Math.max(1, Math.ceil((right - left) / this.cell - 1e-6));
    this.rows = Math.max(1, Math.ceil((bottom - top) / this.cell - 1e-6));
    this.across = Math.max(1, Math.round(side / this.cell));
    this.positions = positions;
    this.canvas = document.createElement("canvas");
    this.canvas.width = this.columns;
    this.canvas.height = this.rows;
  }

  // Colour the tiles for which ``shown`` says so; ``lowest`` is the scaled value of the table's first colour.
  paint(scaled, shown, colour, lowest) {
    const { sums, counts } = this.#gather(scaled, shown);
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(this.columns, this.rows);
    for (let cell = 0; cell < counts.length; cell += 1) {
      const value = counts[cell] ? (sums[cell] / counts[cell] - lowest) / (1 - lowest) : NaN;
      colour(value, image.data, 4 * cell);
    }
    context.putImageData(image, 0, 0);
  }

  #gather(scaled, shown) {
    const sums = new Float32Array(this.columns * this.rows);
    const counts = new Uint16Array(this.columns * this.rows);
    for (let tile = 0; tile < scaled.length; tile += 1) {
      if (!shown(scaled[tile])) continue;
      const column = Math.round((this.positions[2 * tile] - this.left) / this.cell);
      const row = Math.round((this.positions[2 * tile + 1] - this.top) / this.cell);
      for (let down = row; down < Math.min(row + this.across, this.rows); down += 1) {
        for (let right = column; right < Math.min(column + this.across, this.columns); right += 1) {
          sums[down * this.columns + right] += scaled[tile];
          counts[down * this.columns + right] += 1;
        }
      }
    }
    return { sums, counts };
  }
}

// How a value from 0 to 1 becomes a pixel; a cell without a tile is NaN.
export function colouring(table) {
  if (table === PAPER_COLOURS) {
    return (value, pixels, place) => {
      pixels[place + 3] = Math.round(255 * (value || 0)); // how much of the black is taken away
    };
  }
  return (value, pixels, place) => {
    if (Number.isNaN(value)) return;
    const [red, green, blue] = table[Math.round(value * (table.length - 1))];
    pixels[place] = red;
    pixels[place + 1] = green;
    pixels[place + 2] = blue;
    pixels[place + 3] = 255;
  };
}

// The largest square that tiles the plane so that every tile begins and ends on its lines.
function commonStep(positions, side, left, top) {
  let step = Math.round(side);
  for (let each = 0; each < positions.length && step > 1; each += 1) {
    step = divisor(step, Math.round(positions[each] - (each % 2 ? top : left)));
  }
  return Math.max(1, step);
}

function divisor(one, other) {
  while (other) [one, other] = [other, one % other];
  return one;
}
