// The list of test bags: sorted by a click on a title, filtered by words and by right or wrong.

import { element, make, share } from "./words.js";

const COLUMNS = [
  { name: "name", title: "Bag", of: (bag) => bag.name },
  { name: "group", title: "Group", of: (bag) => bag.group ?? "" },
  { name: "label", title: "Label", of: (bag) => bag.label },
  { name: "probability", title: "p", words: "probability", of: (bag) => Number(bag.exact), number: true },
  { name: "size", title: "Size", of: (bag) => bag.n_instances, number: true },
  { name: "right", title: "✓", words: "right or wrong", of: (bag) => Number(bag.right) },
];
const MOST_ROWS = 2000;
const END = 9; // letters of a name that are always shown

export class BagTable {
  constructor(onOpen) {
    this.onOpen = onOpen;
    this.bags = [];
    this.sorting = { name: null, down: false };
    element("search").addEventListener("input", () => this.draw());
    element("which").addEventListener("change", () => this.draw());
    element("bags").addEventListener("click", (event) => this.#clicked(event));
  }

  // bags: ``exact`` is the probability to show, as text; spokenOf: the class it is of, or null if that is the predicted one
  show(bags, spokenOf) {
    this.bags = bags;
    this.columns = COLUMNS.filter(({ name }) => name !== "group" || bags.some((bag) => bag.group !== null));
    this.spokenOf = spokenOf;
    this.draw();
  }

  draw() {
    this.shown = this.#sorted(this.bags.filter((bag) => this.#fits(bag)));
    element("bags").tHead.replaceChildren(make("tr", {}, ...this.columns.map((column) => this.#title(column))));
    element("bags").tBodies[0].replaceChildren(...this.shown.slice(0, MOST_ROWS).map((bag) => this.#row(bag)));
    const left = this.shown.length > MOST_ROWS ? `; the first ${MOST_ROWS} are listed` : "";
    element("bag-count").textContent = `${this.shown.length} of ${this.bags.length} bags${left}`;
    this.mark(this.current);
  }

  mark(name) {
    this.current = name;
    for (const row of element("bags").tBodies[0].rows) {
      const chosen = row.dataset.bag === name;
      row.toggleAttribute("aria-current", chosen);
      if (chosen) row.scrollIntoView({ block: "nearest" });
    }
  }

  // The bag so many rows further down, or up, as the list stands now.
  beside(step) {
    const place = this.shown.findIndex((bag) => bag.name === this.current);
    return this.shown[Math.min(Math.max(place + step, 0), this.shown.length - 1)];
  }

  #fits(bag) {
    const which = element("which").value;
    const words = element("search").value.trim().toLowerCase();
    const text = `${bag.name} ${bag.label} ${bag.group ?? ""}`.toLowerCase();
    return (which === "all" || (which === "right") === bag.right) && words.split(/\s+/).every((word) => text.includes(word));
  }

  #sorted(bags) {
    const column = COLUMNS.find(({ name }) => name === this.sorting.name);
    if (!column) return bags;
    const direction = this.sorting.down ? -1 : 1;
    return [...bags].sort((one, other) => direction * compare(column.of(one), column.of(other)));
  }

  #title({ name, title, words: spelled, number }) {
    const sorted = this.sorting.name === name;
    const direction = this.sorting.down ? "descending" : "ascending";
    const words = name === "probability" && this.spokenOf !== null ? `p(${this.spokenOf})` : title;
    const mark = sorted ? (this.sorting.down ? " ↓" : " ↑") : "";
    const attributes = { scope: "col", class: number && "number", "aria-sort": sorted ? direction : "none" };
    return make("th", attributes, make("button", { type: "button", "data-sort": name, "aria-label": spelled, title: words }, words + mark));
  }

  #row(bag) {
    const cells = this.columns.map((column) => this.#cell(column, bag));
    return make("tr", { "data-bag": bag.name, class: bag.right ? null : "wrong" }, ...cells);
  }

  #cell({ name, of, number }, bag) {
    if (name === "name") return make("th", { scope: "row" }, make("button", { type: "button", title: bag.name }, ...parted(bag.name)));
    if (name === "right") return make("td", { class: "verdict" }, bag.right ? "✓" : "✗", hidden(bag.right ? "right" : "wrong"));
    const text = name === "probability" ? share(of(bag)) : String(of(bag));
    return make("td", { class: number ? "number" : name, title: name === "probability" ? bag.exact : text }, text);
  }

  #clicked(event) {
    const sort = event.target.closest("[data-sort]")?.dataset.sort;
    if (sort) {
      this.sorting = { name: sort, down: this.sorting.name === sort && !this.sorting.down };
      this.draw();
      element("bags").querySelector(`[data-sort="${sort}"]`).focus();
      return;
    }
    const row = event.target.closest("tr[data-bag]");
    if (row) this.onOpen(row.dataset.bag);
  }
}

// Names of one kind often differ at their end only, so that the end must be seen where there is little room.
function parted(name) {
  if (name.length <= END) return [name];
  return [make("span", { class: "head" }, name.slice(0, -END)), make("span", {}, name.slice(-END))];
}

const hidden = (words) => make("span", { class: "hidden" }, words);

function compare(one, other) {
  if (typeof one === "number") return one - other;
  return one.localeCompare(other, undefined, { numeric: true });
}
