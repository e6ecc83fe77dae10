// Instances without positions, highest value first: a grid of pictures, or a list if they are feature vectors.

import { make } from "./dom.js";
import { formatNumber } from "./number_format.js";

const PAGE = 240; // instances shown at first, and added by "Show more"
const MAX_EXPORTED = 48;
const LINE_HEIGHT = 27; // pixels of one drawing in an exported card
const TEXT_COLOUR = "#1c2128";

export class InstanceGrid {
  constructor(host, pictureUrl, onSelect) {
    this.pictureUrl = pictureUrl;
    this.onSelect = onSelect;
    this.limit = PAGE;
    this.list = make("ol", { class: pictureUrl ? "grid" : "grid features" });
    this.more = make("button", { type: "button", class: "more" }, "Show more");
    this.more.addEventListener("click", () => {
      this.limit += PAGE;
      this.#draw();
    });
    host.replaceChildren(make("div", { class: "grid-scroll", tabindex: "0", role: "region", "aria-label": "Instances" }, this.list, this.more));
    this.list.addEventListener("click", (event) => {
      const card = event.target.closest("[data-instance]");
      if (card) this.onSelect(Number(card.dataset.instance));
    });
  }

  // drawing: { values, scaled, signed, ranking, keys, colourOf, compared: the drawing of another run, if any }
  setDrawing(drawing) {
    this.drawing = drawing;
    this.#draw();
  }

  select(instance) {
    this.selected = instance;
    const place = this.drawing ? this.drawing.ranking.indexOf(instance) : -1;
    if (place >= this.limit) {
      this.limit = PAGE * Math.ceil((place + 1) / PAGE);
      this.#draw();
    }
    for (const card of this.list.querySelectorAll("[data-instance]")) {
      const selected = Number(card.dataset.instance) === instance;
      card.setAttribute("aria-pressed", selected);
      if (selected) card.scrollIntoView({ block: "nearest" });
    }
  }

  close() {
    this.list.replaceChildren();
  }

  // The first instances as a canvas.
  snapshot() {
    const cards = [...this.list.querySelectorAll(".card")].slice(0, MAX_EXPORTED);
    const columns = this.pictureUrl ? Math.max(1, Math.min(8, cards.length)) : 1;
    const drawings = [this.drawing, ...(this.drawing.compared ? [this.drawing.compared] : [])];
    const [width, height] = this.pictureUrl ? [108, 98 + LINE_HEIGHT * drawings.length] : [480, 4 + LINE_HEIGHT * drawings.length];
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [columns * width, Math.max(1, Math.ceil(cards.length / columns)) * height];
    const context = canvas.getContext("2d");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    cards.forEach((card, place) => {
      context.setTransform(1, 0, 0, 1, (place % columns) * width, Math.floor(place / columns) * height);
      this.#exportCard(context, card, drawings, height);
    });
    return canvas;
  }

  // Draw a card: the picture or name of an instance, and one bar and one number per drawing.
  #exportCard(context, card, drawings, height) {
    const instance = Number(card.dataset.instance);
    const picture = card.querySelector("img");
    context.font = "13px system-ui, sans-serif";
    context.fillStyle = TEXT_COLOUR;
    if (picture) {
      context.imageSmoothingEnabled = false;
      context.drawImage(picture, 6, 6, 96, 90);
    } else {
      context.fillText(`instance ${instance}`, 8, 20);
    }
    if (this.drawing.keys?.[instance] > 0) outline(context, picture ? [4, 4, 100, 94] : [2, 2, 476, height - 4]);
    drawings.forEach((drawing, line) => {
      if (picture) exportLine(context, drawing, instance, [6, 100 + LINE_HEIGHT * line, 96], [6, 120 + LINE_HEIGHT * line]);
      else exportLine(context, drawing, instance, [110, 12 + LINE_HEIGHT * line, 260], [390, 20 + LINE_HEIGHT * line]);
    });
  }

  #draw() {
    const { ranking } = this.drawing;
    this.list.replaceChildren(...ranking.slice(0, this.limit).map((instance) => make("li", {}, this.#card(instance))));
    this.more.hidden = ranking.length <= this.limit;
    this.select(this.selected);
  }

  #card(instance) {
    const { values, keys } = this.drawing;
    const key = keys?.[instance] > 0;
    const label = `instance ${instance}, ${formatNumber(values[instance])}${key ? ", key instance" : ""}`;
    const card = make("button", { type: "button", class: key ? "card key" : "card", "data-instance": instance, "aria-label": label });
    if (this.pictureUrl) {
      card.append(make("img", { src: this.pictureUrl(instance), alt: "", loading: "lazy", decoding: "async" }));
    } else {
      card.append(make("span", { class: "instance-name" }, `instance ${instance}`));
    }
    card.append(this.#bar(this.drawing, instance), make("span", { class: "number" }, formatNumber(values[instance])));
    if (this.drawing.compared) {
      card.append(this.#bar(this.drawing.compared, instance), make("span", { class: "number compared" }, formatNumber(this.drawing.compared.values[instance])));
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

// Draw the bar of an instance at [left, top, width], and its value at a position.
function exportLine(context, { values, scaled, signed, colourOf }, instance, [left, top, width], position) {
  const share = Math.abs(scaled[instance]) * (signed ? width / 2 : width);
  context.fillStyle = colourOf(scaled[instance]);
  context.fillRect(signed ? left + width / 2 - (scaled[instance] < 0 ? share : 0) : left, top, Math.max(share, 1), 6);
  context.fillStyle = TEXT_COLOUR;
  context.fillText(formatNumber(values[instance]), ...position);
}

function outline(context, rectangle) {
  context.strokeStyle = "#d98a00";
  context.lineWidth = 2;
  context.strokeRect(...rectangle);
}
