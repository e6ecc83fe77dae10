// The view of a bag: one or two linked panes with its picture, or a grid of its instances.

import { bagUrl } from "./api.js";
import { element, make } from "./dom.js";
import { InstanceGrid } from "./instance_grid.js";
import { rankInstances } from "./layer_drawing.js";
import { linkViews, SlideView } from "./slide_view.js";

export class BagView {
  // run, bag: numbers; info: the server's description of the bag; onSelect: called with the selected instance
  constructor(run, bag, info, onSelect) {
    this.info = info;
    this.onSelect = onSelect;
    this.panes = [];
    this.placed = info.tile_grid !== null;
    this.tileUrl = (level, column, row) => bagUrl(run, bag, "tiles", level, column, row);
    const hasPictures = info.kind === "pictures" || (this.placed && info.picture !== null);
    this.pictureUrl = hasPictures ? (instance) => bagUrl(run, bag, "instances", instance, "picture") : null;
  }

  async open(nPanes) {
    const host = element("views");
    host.className = this.placed ? `views panes-${nPanes}` : "views";
    element("stage").classList.toggle("unplaced", !this.placed);
    if (!this.placed) {
      this.panes = [new InstanceGrid(host, this.pictureUrl, this.onSelect)];
      return;
    }
    const hosts = Array.from({ length: nPanes }, () => make("div", { class: "pane" }));
    host.replaceChildren(...hosts);
    this.panes = hosts.map((pane) => new SlideView(pane, this.onSelect));
    await Promise.all(this.panes.map((pane) => pane.open(this.info, this.tileUrl)));
    if (nPanes === 2) linkViews(...this.panes);
  }

  // drawings: one per pane, null for the image only; a grid shows a second drawing next to the first
  draw(drawings, titles) {
    this.titles = titles;
    if (!this.placed) {
      this.panes[0].setDrawing({ ...drawings[0], compared: drawings[1], ranking: rankInstances(drawings[0]) });
      return;
    }
    this.panes.forEach((pane, number) => {
      pane.setTitle(titles[number]);
      pane.setDrawing(drawings[number]);
    });
  }

  setOpacity(opacity) {
    if (this.placed) this.panes.forEach((pane) => pane.setOpacity(opacity));
  }

  resetZoom() {
    if (this.placed) this.panes[0].resetZoom();
  }

  select(instance, positions) {
    this.panes.forEach((pane, number) => pane.select(instance, positions, number === 0));
  }

  // The current content of the panes as canvases.
  snapshots() {
    return this.panes.map((pane) => pane.snapshot());
  }

  close() {
    for (const pane of this.panes) pane.close();
    this.panes = [];
  }
}
