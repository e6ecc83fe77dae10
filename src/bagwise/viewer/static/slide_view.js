// A picture or slide with the map over it: OpenSeadragon shows the picture, an overlay the tiles.

import { Overlay } from "./overlay.js";
import { blankSource, pictureSource } from "./sources.js";

const SMALL = 0.25; // tiles that cover less of the picture are looked at themselves first
const LARGE = 1500; // pixels; such a picture has an overview in the corner

export class SlideView {
  constructor(host, onPick) {
    this.host = host;
    this.onPick = onPick;
    this.title = document.createElement("p");
    this.title.className = "pane-title";
    this.moved = false;
  }

  // Show a bag's picture; resolves when it stands.
  open({ places, picture }, tileAddress) {
    this.places = places;
    this.overlay = new Overlay(this.host, places);
    this.viewer = new OpenSeadragon.Viewer({
      ...SETTINGS,
      element: this.host,
      tileSources: picture ? pictureSource(picture, tileAddress) : blankSource(places.bounds),
      showNavigator: Boolean(picture) && Math.max(picture.width, picture.height) > LARGE,
      animationTime: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 0.5,
    });
    this.host.append(this.overlay.canvas, this.title);
    this.viewer.canvas.setAttribute("role", "application");
    this.viewer.canvas.setAttribute("aria-label", "the picture of the bag; arrow keys move it, plus and minus zoom");
    this.#listen();
    return new Promise((resolve) => {
      this.viewer.addOnceHandler("open", () => {
        this.home();
        resolve();
      });
    });
  }

  close() {
    this.viewer?.destroy();
    this.host.replaceChildren();
  }

  setTitle(words) {
    this.title.textContent = words;
  }

  // The tiles to draw, as an overlay takes them; null for the picture alone.
  paint(drawing) {
    this.overlay.paint(drawing);
    this.draw();
  }

  setOpacity(opacity) {
    if (this.overlay.drawing) this.overlay.drawing.opacity = opacity;
    this.draw();
  }

  // Frame a tile (−1: none); ``bring`` moves it onto the screen if it is not there.
  select(instance, positions, bring) {
    this.positions = positions;
    this.overlay.chosen = instance < 0 ? null : { x: positions[2 * instance], y: positions[2 * instance + 1] };
    if (bring && this.overlay.chosen) this.#bring(this.overlay.chosen);
    this.draw();
  }

  // The whole picture, or all tiles if they are a small part of it.
  home() {
    const [left, top, right, bottom] = this.places.bounds;
    const item = this.#item;
    const { x: width, y: height } = item.getContentSize();
    const whole = (right - left) * (bottom - top) >= SMALL * width * height;
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

  // The pane as it stands, for an export.
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
    this.viewer.addHandler("canvas-click", (event) => event.quick && this.#pick(event.position));
    this.viewer.addHandler("canvas-key", keepKeys);
    this.viewer.addHandler("update-viewport", () => this.draw());
    this.viewer.addHandler("after-resize", () => requestAnimationFrame(() => this.#resized()));
    for (const name of ["canvas-drag", "canvas-scroll", "canvas-key"]) {
      this.viewer.addHandler(name, () => {
        this.moved = true;
      });
    }
  }

  // Until someone moves it, the whole picture stays in view.
  #resized() {
    if (this.#item && !this.moved) this.home();
    this.draw();
  }

  // The tile below a point of the screen; of several the one whose middle is nearest.
  #pick(point) {
    if (!this.positions) return;
    const half = this.places.tile_size / 2;
    const [x, y] = [(point.x - this.view.x) / this.view.scale, (point.y - this.view.y) / this.view.scale];
    let [best, nearest] = [-1, half];
    for (let tile = 0; tile < this.positions.length / 2; tile += 1) {
      const across = Math.abs(x - this.positions[2 * tile] - half);
      const down = Math.abs(y - this.positions[2 * tile + 1] - half);
      if (Math.max(across, down) <= nearest) [best, nearest] = [tile, Math.max(across, down)];
    }
    if (best >= 0) this.onPick(best);
  }

  // Move only if nothing of the tile is on the screen.
  #bring({ x, y }) {
    const side = this.places.tile_size;
    const tile = this.#item.imageToViewportRectangle(new OpenSeadragon.Rect(x, y, side, side));
    const seen = this.viewer.viewport.getBounds();
    const apart = tile.x > seen.x + seen.width || tile.x + tile.width < seen.x || tile.y > seen.y + seen.height || tile.y + tile.height < seen.y;
    if (apart) this.viewer.viewport.panTo(tile.getCenter());
  }
}

// Both views always show the same place at the same zoom.
export function link(one, other) {
  let leading = null;
  for (const [from, to] of [[one, other], [other, one]]) {
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

// Turning and mirroring would break the link between two views; letters belong to the page's own keys.
function keepKeys(event) {
  const { key } = event.originalEvent;
  event.preventDefaultAction = !(key.startsWith("Arrow") || ["+", "-", "="].includes(key));
}
