// The canvas above a picture: the map of the tiles, frames around those that are truly key, and around the chosen one.

import { PAPER_COLOURS, Raster, colouring } from "./raster.js";

const KEY = { colour: "#ffb000", ground: "#00000060", width: 1.5 };
const CHOSEN = { colour: "#ffffff", ground: "#000000", width: 3 };
const MOST_ONE_BY_ONE = 4000; // tiles on one screen; more would be slow to draw, and their frames hide them
const SMALL = 8; // pixels; around smaller tiles lines are thinner

export class Overlay {
  // places: tile_size and bounds of the tiles, in level-0 pixels
  constructor(host, places) {
    this.host = host;
    this.places = places;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "overlay";
    this.scratch = document.createElement("canvas");
    this.drawing = null;
    this.chosen = null;
  }

  // What to draw: { positions, scaled, shown, table, lowest, opacity, keys }; null for nothing.
  paint(drawing) {
    this.drawing = drawing;
    if (!drawing) return;
    if (this.raster?.positions !== drawing.positions) {
      this.raster = new Raster(drawing.positions, this.places.tile_size, this.places.bounds);
    }
    this.raster.paint(drawing.scaled, drawing.shown, colouring(drawing.table), drawing.lowest);
  }

  // view: where level-0 pixel (0, 0) lies on the screen, and screen pixels a level-0 pixel; size: of the picture
  draw(view, size) {
    this.view = view;
    const context = this.#cleared();
    if (this.drawing) this.#drawMap(context, size);
    if (this.drawing?.keys) this.#drawKeys(context);
    if (this.chosen) this.#frame(context, this.chosen.x, this.chosen.y, CHOSEN);
  }

  #cleared() {
    const ratio = devicePixelRatio || 1;
    const [width, height] = [this.host.clientWidth, this.host.clientHeight].map((side) => Math.round(side * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      [this.canvas.width, this.canvas.height] = [width, height];
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  #drawMap(context, size) {
    const { x, y, scale } = this.view;
    context.globalAlpha = this.drawing.opacity;
    context.imageSmoothingEnabled = false;
    if (this.drawing.table === PAPER_COLOURS) {
      context.fillStyle = "#000000";
      context.fillRect(x - 1, y - 1, size.x * scale + 2, size.y * scale + 2); // also over what rounding leaves of it
      context.globalAlpha = 1;
      context.globalCompositeOperation = "destination-out"; // the more a tile counts, the more of the black goes
    }
    context.drawImage(...this.#map());
    context.globalCompositeOperation = "source-over";
    context.globalAlpha = 1;
  }

  // The picture of the tiles and its place: the raster, or the tiles one by one where its cells are too coarse for them.
  #map() {
    const { x, y, scale } = this.view;
    const { left, top, cell, columns, rows, canvas, exact } = this.raster;
    const { shown, scaled } = this.drawing;
    const visible = exact ? null : this.#visible((tile) => shown(scaled[tile]));
    if (!visible) return [canvas, x + left * scale, y + top * scale, columns * cell * scale, rows * cell * scale];
    return [this.#oneByOne(visible), 0, 0, this.host.clientWidth, this.host.clientHeight];
  }

  #oneByOne(tiles) {
    const { positions, scaled, lowest, table } = this.drawing;
    const [colour, pixel] = [colouring(table), [0, 0, 0, 0]];
    const side = this.places.tile_size * this.view.scale;
    this.scratch.width = this.host.clientWidth; // clears it
    this.scratch.height = this.host.clientHeight;
    const context = this.scratch.getContext("2d");
    for (const tile of tiles) {
      colour((scaled[tile] - lowest) / (1 - lowest), pixel, 0);
      context.fillStyle = `rgb(${pixel[0]} ${pixel[1]} ${pixel[2]} / ${pixel[3] / 255})`;
      const [x, y] = this.#onScreen(positions[2 * tile], positions[2 * tile + 1]);
      context.fillRect(x, y, side, side);
    }
    return this.scratch;
  }

  #drawKeys(context) {
    const { keys, positions } = this.drawing;
    for (const tile of this.#visible((each) => keys[each]) ?? []) {
      this.#frame(context, positions[2 * tile], positions[2 * tile + 1], KEY);
    }
  }

  #frame(context, x, y, { colour, ground, width }) {
    const side = this.places.tile_size * this.view.scale;
    const place = this.#onScreen(x, y);
    for (const [style, line] of [[ground, width + 1], [colour, width]]) {
      context.strokeStyle = style;
      context.lineWidth = side < SMALL ? line / 2 : line;
      context.strokeRect(...place, side, side);
    }
  }

  #onScreen(x, y) {
    return [this.view.x + x * this.view.scale, this.view.y + y * this.view.scale];
  }

  // The tiles on the screen that are ``wanted``; null if they are too many to be drawn one by one.
  #visible(wanted) {
    const { positions } = this.drawing;
    const side = this.places.tile_size * this.view.scale;
    const found = [];
    for (let tile = 0; tile < positions.length / 2; tile += 1) {
      const [x, y] = this.#onScreen(positions[2 * tile], positions[2 * tile + 1]);
      const inside = x > -side && y > -side && x < this.host.clientWidth && y < this.host.clientHeight;
      if (inside && wanted(tile) && found.push(tile) > MOST_ONE_BY_ONE) return null;
    }
    return found;
  }
}
