// The list of test bags: a click on a column title sorts it; it is filtered by text and by outcome.

import { element, make } from "./dom.js";
import { formatOutput } from "./number_format.js";

const COLUMNS = [
  { name: "name", title: "Bag", of: (bag) => bag.name },
  { name: "group", title: "Group", of: (bag) => bag.group ?? "" },
  { name: "label", title: "Label", of: (bag) => bag.label },
  { name: "output", title: "p", of: (bag) => Number(bag.output), number: true },
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

  // bags: have ``output`` as text; run: names the outputs, and states whether a prediction is right or wrong
  show(bags, run) {
    this.bags = bags;
    this.run = run;
    const hidden = [bags.some((bag) => bag.group !== null) ? null : "group", run.right_or_wrong ? null : "outcome"];
    this.columns = COLUMNS.filter(({ name }) => !hidden.includes(name));
    element("outcome").hidden = !run.right_or_wrong;
    if (!run.right_or_wrong) element("outcome").value = "all";
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
    const text = name === "output" ? outputTitle(this.run, this.run.shown_output) : title;
    const arrow = sorted ? (this.sorting.descending ? " ↓" : " ↑") : "";
    const attributes = { scope: "col", class: number && "number", "aria-sort": sorted ? direction : "none" };
    const tooltip = label ?? text; // the title may be truncated on the screen
    return make("th", attributes, make("button", { type: "button", "data-sort": name, "aria-label": label ?? (name === "output" ? this.run.output_kind : undefined), title: tooltip }, text + arrow));
  }

  #row(bag) {
    const cells = this.columns.map((column) => this.#cell(column, bag));
    return make("tr", { "data-bag": bag.name, class: bag.correct === false ? "incorrect" : null }, ...cells);
  }

  #cell({ name, of, number }, bag) {
    if (name === "name") return make("th", { scope: "row" }, make("button", { type: "button", title: bag.name }, ...splitName(bag.name)));
    if (name === "outcome") return make("td", { class: "outcome" }, bag.correct ? "✓" : "✗", hiddenText(bag.correct ? "correct" : "incorrect"));
    const text = name === "output" ? formatOutput(bag.output, this.run.output_kind) : String(of(bag));
    return make("td", { class: number ? "number" : name, title: name === "output" ? bag.output : text }, text);
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

// The name of an output in short: p(tumour), or the title of an output that is not a probability.
export function outputTitle(run, number) {
  if (run.output_kind !== "probability") return run.outputs[number ?? 0];
  return number === null ? "p" : `p(${run.outputs[number]})`;
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
