// Instances without positions: pictures side by side, or rows of a table, the greatest value first.

import { make, short } from "./words.js";

const PAGE = 240; // instances drawn at once; more on request
const MOST_EXPORTED = 48;
const LINE = 27; // pixels a drawing takes in an exported card
const INK = "#1c2128";

export class InstanceGrid {
  constructor(host, pictureOf, onPick) {
    this.pictureOf = pictureOf;
    this.onPick = onPick;
    this.most = PAGE;
    this.list = make("ol", { class: pictureOf ? "grid" : "grid features" });
    this.more = make("button", { type: "button", class: "more" }, "Show more");
    this.more.addEventListener("click", () => {
      this.most += PAGE;
      this.#draw();
    });
    host.replaceChildren(make("div", { class: "grid-scroll", tabindex: "0", role: "region", "aria-label": "Instances" }, this.list, this.more));
    this.list.addEventListener("click", (event) => {
      const card = event.target.closest("[data-instance]");
      if (card) this.onPick(Number(card.dataset.instance));
    });
  }

  // drawing: { values, scaled, signed, order, keys, colourOf, other: the drawing of another model, if any }
  paint(drawing) {
    this.drawing = drawing;
    this.#draw();
  }

  select(instance) {
    this.selected = instance;
    const place = this.drawing ? this.drawing.order.indexOf(instance) : -1;
    if (place >= this.most) {
      this.most = PAGE * Math.ceil((place + 1) / PAGE);
      this.#draw();
    }
    for (const card of this.list.querySelectorAll("[data-instance]")) {
      const chosen = Number(card.dataset.instance) === instance;
      card.setAttribute("aria-pressed", chosen);
      if (chosen) card.scrollIntoView({ block: "nearest" });
    }
  }

  close() {
    this.list.replaceChildren();
  }

  // The first instances as a picture, for an export.
  snapshot() {
    const shown = [...this.list.querySelectorAll(".card")].slice(0, MOST_EXPORTED);
    const columns = this.pictureOf ? Math.max(1, Math.min(8, shown.length)) : 1;
    const drawings = [this.drawing, ...(this.drawing.other ? [this.drawing.other] : [])];
    const [width, height] = this.pictureOf ? [108, 98 + LINE * drawings.length] : [480, 4 + LINE * drawings.length];
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [columns * width, Math.max(1, Math.ceil(shown.length / columns)) * height];
    const context = canvas.getContext("2d");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    shown.forEach((card, place) => {
      context.setTransform(1, 0, 0, 1, (place % columns) * width, Math.floor(place / columns) * height);
      this.#export(context, card, drawings, height);
    });
    return canvas;
  }

  // A card: the picture or name of an instance, and below or beside it a bar and a number a drawing.
  #export(context, card, drawings, height) {
    const instance = Number(card.dataset.instance);
    const picture = card.querySelector("img");
    context.font = "13px system-ui, sans-serif";
    context.fillStyle = INK;
    if (picture) {
      context.imageSmoothingEnabled = false;
      context.drawImage(picture, 6, 6, 96, 90);
    } else {
      context.fillText(`instance ${instance}`, 8, 20);
    }
    if (this.drawing.keys?.[instance] > 0) outline(context, picture ? [4, 4, 100, 94] : [2, 2, 476, height - 4]);
    drawings.forEach((drawing, line) => {
      if (picture) exportLine(context, drawing, instance, [6, 100 + LINE * line, 96], [6, 120 + LINE * line]);
      else exportLine(context, drawing, instance, [110, 12 + LINE * line, 260], [390, 20 + LINE * line]);
    });
  }

  #draw() {
    const { order } = this.drawing;
    this.list.replaceChildren(...order.slice(0, this.most).map((instance) => make("li", {}, this.#card(instance))));
    this.more.hidden = order.length <= this.most;
    this.select(this.selected);
  }

  #card(instance) {
    const { values, keys } = this.drawing;
    const key = keys?.[instance] > 0;
    const words = `instance ${instance}, ${short(values[instance])}${key ? ", truly key" : ""}`;
    const card = make("button", { type: "button", class: key ? "card key" : "card", "data-instance": instance, "aria-label": words });
    if (this.pictureOf) {
      card.append(make("img", { src: this.pictureOf(instance), alt: "", loading: "lazy", decoding: "async" }));
    } else {
      card.append(make("span", { class: "which" }, `instance ${instance}`));
    }
    card.append(this.#bar(this.drawing, instance), make("span", { class: "number" }, short(values[instance])));
    if (this.drawing.other) {
      card.append(this.#bar(this.drawing.other, instance), make("span", { class: "number other" }, short(this.drawing.other.values[instance])));
    }
    return card;
  }

  #bar({ scaled, signed, colourOf }, instance) {
    const share = Math.abs(scaled[instance]);
    const bar = make("i", {});
    bar.style.width = `${(signed ? 50 : 100) * share}%`;
    bar.style.left = signed ? `${scaled[instance] < 0 ? 50 - 50 * share : 50}%` : "0";
    bar.style.background = colourOf(scaled[instance]);
    return make("span", { class: signed ? "track signed" : "track" }, bar);
  }
}

// The bar of an instance at [left, top, width], and its number at a place.
function exportLine(context, { values, scaled, signed, colourOf }, instance, [left, top, width], place) {
  const share = Math.abs(scaled[instance]) * (signed ? width / 2 : width);
  context.fillStyle = colourOf(scaled[instance]);
  context.fillRect(signed ? left + width / 2 - (scaled[instance] < 0 ? share : 0) : left, top, Math.max(share, 1), 6);
  context.fillStyle = INK;
  context.fillText(short(values[instance]), ...place);
}

function outline(context, place) {
  context.strokeStyle = "#d98a00";
  context.lineWidth = 2;
  context.strokeRect(...place);
}
