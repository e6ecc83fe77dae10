// An image or slide with a map: OpenSeadragon shows the image, and an overlay shows the tiles.

import { Overlay } from "./overlay.js";
import { blankSource, pictureSource } from "./tile_sources.js";

const SMALL_AREA = 0.25; // if the tiles cover less of the picture, the view starts at the tiles
const LARGE_PICTURE = 1500; // pixels; larger pictures have an overview in the corner

export class SlideView {
  constructor(host, onSelect) {
    this.host = host;
    this.onSelect = onSelect;
    this.title = document.createElement("p");
    this.title.className = "pane-title";
    this.moved = false;
  }

  // Show the picture of a bag; resolves when it is open.
  open({ tile_grid: tileGrid, picture }, tileUrl) {
    this.tileGrid = tileGrid;
    this.overlay = new Overlay(this.host, tileGrid);
    this.viewer = new OpenSeadragon.Viewer({
      ...SETTINGS,
      element: this.host,
      tileSources: picture ? pictureSource(picture, tileUrl) : blankSource(tileGrid.bounds),
      showNavigator: Boolean(picture) && Math.max(picture.width, picture.height) > LARGE_PICTURE,
      animationTime: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 0.5,
    });
    this.host.append(this.overlay.canvas, this.title);
    this.viewer.canvas.setAttribute("role", "application");
    this.viewer.canvas.setAttribute("aria-label", "Picture of the bag. Use the arrow keys to pan, and plus and minus to zoom.");
    this.#listen();
    return new Promise((resolve) => {
      this.viewer.addOnceHandler("open", () => {
        this.resetZoom();
        resolve();
      });
    });
  }

  close() {
    this.viewer?.destroy();
    this.host.replaceChildren();
  }

  setTitle(text) {
    this.title.textContent = text;
  }

  // drawing: as for an overlay; null for the image only
  setDrawing(drawing) {
    this.overlay.setDrawing(drawing);
    this.draw();
  }

  setOpacity(opacity) {
    if (this.overlay.drawing) this.overlay.drawing.opacity = opacity;
    this.draw();
  }

  // Frame a tile (−1: none); ``reveal`` pans to it if it is off the screen.
  select(instance, positions, reveal) {
    this.positions = positions;
    this.overlay.selected = instance < 0 ? null : { x: positions[2 * instance], y: positions[2 * instance + 1] };
    if (reveal && this.overlay.selected) this.#reveal(this.overlay.selected);
    this.draw();
  }

  // Show the whole picture, or only the tiles if they cover a small part of it.
  resetZoom() {
    const [left, top, right, bottom] = this.tileGrid.bounds;
    const item = this.#item;
    const { x: width, y: height } = item.getContentSize();
    const whole = (right - left) * (bottom - top) >= SMALL_AREA * width * height;
    const margin = 0.04 * Math.max(right - left, bottom - top);
    const rectangle = whole
      ? new OpenSeadragon.Rect(0, 0, width, height)
      : new OpenSeadragon.Rect(left - margin, top - margin, right - left + 2 * margin, bottom - top + 2 * margin);
    this.viewer.viewport.fitBounds(item.imageToViewportRectangle(rectangle), true);
    this.moved = false;
  }

  draw() {
    const item = this.#item;
    if (!item) return;
    const origin = item.imageToViewerElementCoordinates(new OpenSeadragon.Point(0, 0));
    const far = item.imageToViewerElementCoordinates(new OpenSeadragon.Point(1000, 0));
    this.view = { x: origin.x, y: origin.y, scale: (far.x - origin.x) / 1000 };
    this.overlay.draw(this.view, item.getContentSize());
  }

  // Return the current content of the pane as a canvas.
  snapshot() {
    const { width, height } = this.overlay.canvas;
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(this.host).backgroundColor;
    context.fillRect(0, 0, width, height);
    context.drawImage(this.viewer.drawer.canvas, 0, 0, width, height);
    context.drawImage(this.overlay.canvas, 0, 0);
    return canvas;
  }

  get #item() {
    return this.viewer?.world?.getItemAt(0);
  }

  #listen() {
    this.viewer.addHandler("canvas-click", (event) => event.quick && this.#selectAt(event.position));
    this.viewer.addHandler("canvas-key", restrictKeys);
    this.viewer.addHandler("update-viewport", () => this.draw());
    this.viewer.addHandler("after-resize", () => requestAnimationFrame(() => this.#handleResize()));
    for (const name of ["canvas-drag", "canvas-scroll", "canvas-key"]) {
      this.viewer.addHandler(name, () => {
        this.moved = true;
      });
    }
  }

  // The whole picture stays in view until the user moves it.
  #handleResize() {
    if (this.#item && !this.moved) this.resetZoom();
    this.draw();
  }

  // Select the tile at a point of the screen; if there are several, the one whose centre is nearest.
  #selectAt(point) {
    if (!this.positions) return;
    const half = this.tileGrid.tile_size / 2;
    const [x, y] = [(point.x - this.view.x) / this.view.scale, (point.y - this.view.y) / this.view.scale];
    let [best, nearest] = [-1, half];
    for (let tile = 0; tile < this.positions.length / 2; tile += 1) {
      const across = Math.abs(x - this.positions[2 * tile] - half);
      const down = Math.abs(y - this.positions[2 * tile + 1] - half);
      if (Math.max(across, down) <= nearest) [best, nearest] = [tile, Math.max(across, down)];
    }
    if (best >= 0) this.onSelect(best);
  }

  // Pan only if the tile is completely off the screen.
  #reveal({ x, y }) {
    const side = this.tileGrid.tile_size;
    const tile = this.#item.imageToViewportRectangle(new OpenSeadragon.Rect(x, y, side, side));
    const screen = this.viewer.viewport.getBounds();
    const offScreen =
      tile.x > screen.x + screen.width || tile.x + tile.width < screen.x || tile.y > screen.y + screen.height || tile.y + tile.height < screen.y;
    if (offScreen) this.viewer.viewport.panTo(tile.getCenter());
  }
}

// Keep two views at the same position and zoom.
export function linkViews(first, second) {
  let leading = null;
  for (const [from, to] of [[first, second], [second, first]]) {
    from.viewer.addHandler("viewport-change", () => {
      if (leading) return;
      leading = from;
      to.moved = from.moved;
      to.viewer.viewport.zoomTo(from.viewer.viewport.getZoom(true), null, true);
      to.viewer.viewport.panTo(from.viewer.viewport.getCenter(true), true);
      to.viewer.forceRedraw();
      leading = null;
    });
  }
}

const SETTINGS = {
  drawer: "canvas",
  showNavigationControl: false,
  navigatorPosition: "BOTTOM_RIGHT",
  gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: true },
  gestureSettingsTouch: { clickToZoom: false, dblClickToZoom: true },
  maxZoomPixelRatio: 20,
  minZoomImageRatio: 0.7,
  visibilityRatio: 0.6,
  springStiffness: 9,
};

// Rotation and mirroring would break the link between two views; letters are shortcuts of the page.
function restrictKeys(event) {
  const { key } = event.originalEvent;
  event.preventDefaultAction = !(key.startsWith("Arrow") || ["+", "-", "="].includes(key));
}
