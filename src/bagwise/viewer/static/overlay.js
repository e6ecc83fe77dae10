// The canvas above a picture: the map of the tiles, and frames around key instances and the selected tile.

import { PAPER_COLOURS, Raster, makePixelSetter } from "./raster.js";

const KEY_FRAME = { colour: "#ffb000", outline: "#00000060", width: 1.5 };
const SELECTED_FRAME = { colour: "#ffffff", outline: "#000000", width: 3 };
const MAX_SINGLE_TILES = 4000; // tiles on the screen; more would be slow to draw, and their frames would cover them
const SMALL_TILE = 8; // pixels; frames of smaller tiles have thinner lines

export class Overlay {
  // tileGrid: { tile_size, bounds } of the tiles, in level-0 pixels
  constructor(host, tileGrid) {
    this.host = host;
    this.tileGrid = tileGrid;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "overlay";
    this.scratch = document.createElement("canvas");
    this.drawing = null;
    this.selected = null;
  }

  // drawing: { positions, scaled, isVisible, table, lowest, opacity, keys }; null for none
  setDrawing(drawing) {
    this.drawing = drawing;
    if (!drawing) return;
    if (this.raster?.positions !== drawing.positions) {
      this.raster = new Raster(drawing.positions, this.tileGrid.tile_size, this.tileGrid.bounds);
    }
    this.raster.paint(drawing.scaled, drawing.isVisible, makePixelSetter(drawing.table), drawing.lowest);
  }

  // view: { x, y, scale }: screen position of level-0 pixel (0, 0), and screen pixels per level-0 pixel
  // size: size of the picture, in level-0 pixels
  draw(view, size) {
    this.view = view;
    const context = this.#clear();
    if (this.drawing) this.#drawMap(context, size);
    if (this.drawing?.keys) this.#drawKeys(context);
    if (this.selected) this.#frame(context, this.selected.x, this.selected.y, SELECTED_FRAME);
  }

  #clear() {
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
      context.fillRect(x - 1, y - 1, size.x * scale + 2, size.y * scale + 2); // including pixels left over by rounding
      context.globalAlpha = 1;
      context.globalCompositeOperation = "destination-out"; // high values remove more of the black
    }
    context.drawImage(...this.#mapImage());
    context.globalCompositeOperation = "source-over";
    context.globalAlpha = 1;
  }

  // Return the image of the tiles and its position: the raster, or single tiles if the cells of the raster are too coarse.
  #mapImage() {
    const { x, y, scale } = this.view;
    const { left, top, cell, columns, rows, canvas, exact } = this.raster;
    const { isVisible, scaled } = this.drawing;
    const tiles = exact ? null : this.#tilesOnScreen((tile) => isVisible(scaled[tile]));
    if (!tiles) return [canvas, x + left * scale, y + top * scale, columns * cell * scale, rows * cell * scale];
    return [this.#drawTiles(tiles), 0, 0, this.host.clientWidth, this.host.clientHeight];
  }

  #drawTiles(tiles) {
    const { positions, scaled, lowest, table } = this.drawing;
    const [setPixel, pixel] = [makePixelSetter(table), [0, 0, 0, 0]];
    const side = this.tileGrid.tile_size * this.view.scale;
    this.scratch.width = this.host.clientWidth; // clears it
    this.scratch.height = this.host.clientHeight;
    const context = this.scratch.getContext("2d");
    for (const tile of tiles) {
      setPixel((scaled[tile] - lowest) / (1 - lowest), pixel, 0);
      context.fillStyle = `rgb(${pixel[0]} ${pixel[1]} ${pixel[2]} / ${pixel[3] / 255})`;
      const [x, y] = this.#toScreen(positions[2 * tile], positions[2 * tile + 1]);
      context.fillRect(x, y, side, side);
    }
    return this.scratch;
  }

  #drawKeys(context) {
    const { keys, positions } = this.drawing;
    for (const tile of this.#tilesOnScreen((each) => keys[each]) ?? []) {
      this.#frame(context, positions[2 * tile], positions[2 * tile + 1], KEY_FRAME);
    }
  }

  #frame(context, x, y, { colour, outline, width }) {
    const side = this.tileGrid.tile_size * this.view.scale;
    const corner = this.#toScreen(x, y);
    for (const [style, line] of [[outline, width + 1], [colour, width]]) {
      context.strokeStyle = style;
      context.lineWidth = side < SMALL_TILE ? line / 2 : line;
      context.strokeRect(...corner, side, side);
    }
  }

  #toScreen(x, y) {
    return [this.view.x + x * this.view.scale, this.view.y + y * this.view.scale];
  }

  // Return the tiles on the screen that fulfil a condition; null if there are too many to draw one by one.
  #tilesOnScreen(condition) {
    const { positions } = this.drawing;
    const side = this.tileGrid.tile_size * this.view.scale;
    const tiles = [];
    for (let tile = 0; tile < positions.length / 2; tile += 1) {
      const [x, y] = this.#toScreen(positions[2 * tile], positions[2 * tile + 1]);
      const inside = x > -side && y > -side && x < this.host.clientWidth && y < this.host.clientHeight;
      if (inside && condition(tile) && tiles.push(tile) > MAX_SINGLE_TILES) return null;
    }
    return tiles;
  }
}
