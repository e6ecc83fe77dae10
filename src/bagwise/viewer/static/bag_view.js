// The bag on the stage: one or two linked views of its picture, or a grid of its instances.

import { orderOf } from "./drawings.js";
import { InstanceGrid } from "./instance_grid.js";
import { addressOf } from "./server.js";
import { link, SlideView } from "./slide_view.js";
import { element, make } from "./words.js";

export class BagView {
  // run, bag: numbers; info: the server's words on the bag; onPick: hears of a chosen instance
  constructor(run, bag, info, onPick) {
    this.info = info;
    this.onPick = onPick;
    this.panes = [];
    this.placed = info.places !== null;
    this.tileAddress = (level, column, row) => addressOf(run, bag, "tiles", level, column, row);
    const seen = info.kind === "pictures" || (this.placed && info.picture !== null);
    this.pictureOf = seen ? (instance) => addressOf(run, bag, "instances", instance, "picture") : null;
  }

  async open(nPanes) {
    const host = element("views");
    host.className = this.placed ? `views panes-${nPanes}` : "views";
    element("stage").classList.toggle("unplaced", !this.placed);
    if (!this.placed) {
      this.panes = [new InstanceGrid(host, this.pictureOf, this.onPick)];
      return;
    }
    const hosts = Array.from({ length: nPanes }, () => make("div", { class: "pane" }));
    host.replaceChildren(...hosts);
    this.panes = hosts.map((pane) => new SlideView(pane, this.onPick));
    await Promise.all(this.panes.map((pane) => pane.open(this.info, this.tileAddress)));
    if (nPanes === 2) link(...this.panes);
  }

  // One drawing a pane, null for the picture alone; a grid shows a second one beside the first.
  paint(drawings, titles) {
    this.titles = titles;
    if (!this.placed) {
      this.panes[0].paint({ ...drawings[0], other: drawings[1], order: orderOf(drawings[0]) });
      return;
    }
    this.panes.forEach((pane, number) => {
      pane.setTitle(titles[number]);
      pane.paint(drawings[number]);
    });
  }

  setOpacity(opacity) {
    if (this.placed) this.panes.forEach((pane) => pane.setOpacity(opacity));
  }

  home() {
    if (this.placed) this.panes[0].home();
  }

  select(instance, positions) {
    this.panes.forEach((pane, number) => pane.select(instance, positions, number === 0));
  }

  // Pictures of the panes as they stand.
  snapshots() {
    return this.panes.map((pane) => pane.snapshot());
  }

  close() {
    for (const pane of this.panes) pane.close();
    this.panes = [];
  }
}
