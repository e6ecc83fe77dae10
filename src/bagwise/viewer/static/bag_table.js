// The list of test bags: a click on a column title sorts it; it is filtered by text and by outcome.

import { element, make } from "./dom.js";
import { formatProbability } from "./number_format.js";

const COLUMNS = [
  { name: "name", title: "Bag", of: (bag) => bag.name },
  { name: "group", title: "Group", of: (bag) => bag.group ?? "" },
  { name: "label", title: "Label", of: (bag) => bag.label },
  { name: "probability", title: "p", label: "probability", of: (bag) => Number(bag.probability), number: true },
  { name: "size", title: "Size", label: "number of instances", of: (bag) => bag.n_instances, number: true },
  { name: "outcome", title: "✓", label: "correct or incorrect", of: (bag) => Number(bag.correct) },
];
const MAX_ROWS = 2000;
const NAME_END = 9; // characters at the end of a name that are always visible

export class BagTable {
  constructor(onOpen) {
    this.onOpen = onOpen;
    this.bags = [];
    this.sorting = { name: null, descending: false };
    element("search").addEventListener("input", () => this.draw());
    element("outcome").addEventListener("change", () => this.draw());
    element("bags").addEventListener("click", (event) => this.#handleClick(event));
  }

  // bags: have ``probability`` as text; probabilityClass: the class of this probability, null for the predicted class
  show(bags, probabilityClass) {
    this.bags = bags;
    this.columns = COLUMNS.filter(({ name }) => name !== "group" || bags.some((bag) => bag.group !== null));
    this.probabilityClass = probabilityClass;
    this.draw();
  }

  draw() {
    this.listed = this.#sort(this.bags.filter((bag) => this.#matches(bag)));
    element("bags").tHead.replaceChildren(make("tr", {}, ...this.columns.map((column) => this.#header(column))));
    element("bags").tBodies[0].replaceChildren(...this.listed.slice(0, MAX_ROWS).map((bag) => this.#row(bag)));
    const limited = this.listed.length > MAX_ROWS ? `; the first ${MAX_ROWS} are listed` : "";
    element("bag-count").textContent = `${this.listed.length} of ${this.bags.length} bags${limited}`;
    this.select(this.selected);
  }

  select(name) {
    this.selected = name;
    for (const row of element("bags").tBodies[0].rows) {
      const selected = row.dataset.bag === name;
      row.toggleAttribute("aria-current", selected);
      if (selected) row.scrollIntoView({ block: "nearest" });
    }
  }

  // The bag ``step`` rows below the selected one (above, if negative) in the current order.
  neighbour(step) {
    const place = this.listed.findIndex((bag) => bag.name === this.selected);
    return this.listed[Math.min(Math.max(place + step, 0), this.listed.length - 1)];
  }

  #matches(bag) {
    const outcome = element("outcome").value;
    const words = element("search").value.trim().toLowerCase().split(/\s+/);
    const text = `${bag.name} ${bag.label} ${bag.group ?? ""}`.toLowerCase();
    return (outcome === "all" || (outcome === "correct") === bag.correct) && words.every((word) => text.includes(word));
  }

  #sort(bags) {
    const column = COLUMNS.find(({ name }) => name === this.sorting.name);
    if (!column) return bags;
    const direction = this.sorting.descending ? -1 : 1;
    return [...bags].sort((left, right) => direction * compare(column.of(left), column.of(right)));
  }

  #header({ name, title, label, number }) {
    const sorted = this.sorting.name === name;
    const direction = this.sorting.descending ? "descending" : "ascending";
    const text = name === "probability" && this.probabilityClass !== null ? `p(${this.probabilityClass})` : title;
    const arrow = sorted ? (this.sorting.descending ? " ↓" : " ↑") : "";
    const attributes = { scope: "col", class: number && "number", "aria-sort": sorted ? direction : "none" };
    const tooltip = name === "probability" ? text : (label ?? text); // the title may be truncated on the screen
    return make("th", attributes, make("button", { type: "button", "data-sort": name, "aria-label": label, title: tooltip }, text + arrow));
  }

  #row(bag) {
    const cells = this.columns.map((column) => this.#cell(column, bag));
    return make("tr", { "data-bag": bag.name, class: bag.correct ? null : "incorrect" }, ...cells);
  }

  #cell({ name, of, number }, bag) {
    if (name === "name") return make("th", { scope: "row" }, make("button", { type: "button", title: bag.name }, ...splitName(bag.name)));
    if (name === "outcome") return make("td", { class: "outcome" }, bag.correct ? "✓" : "✗", hiddenText(bag.correct ? "correct" : "incorrect"));
    const text = name === "probability" ? formatProbability(of(bag)) : String(of(bag));
    return make("td", { class: number ? "number" : name, title: name === "probability" ? bag.probability : text }, text);
  }

  #handleClick(event) {
    const column = event.target.closest("[data-sort]")?.dataset.sort;
    if (column) {
      this.sorting = { name: column, descending: this.sorting.name === column && !this.sorting.descending };
      this.draw();
      element("bags").querySelector(`[data-sort="${column}"]`).focus();
      return;
    }
    const row = event.target.closest("tr[data-bag]");
    if (row) this.onOpen(row.dataset.bag);
  }
}

// Similar names often differ only at the end, so the end stays visible when a name is truncated.
function splitName(name) {
  if (name.length <= NAME_END) return [name];
  return [make("span", { class: "name-start" }, name.slice(0, -NAME_END)), make("span", {}, name.slice(-NAME_END))];
}

const hiddenText = (text) => make("span", { class: "hidden" }, text);

function compare(left, right) {
  if (typeof left === "number") return left - right;
  return left.localeCompare(right, undefined, { numeric: true });
}
