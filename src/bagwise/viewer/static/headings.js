// The headings of the run and of the bag, and the notes on the bag.

import { element, make } from "./dom.js";
import { formatCount, formatNumber } from "./number_format.js";

export function showRun({ name, method, n_bags: n, metrics }) {
  const values = Object.entries(metrics).map(
    ([metric, value]) => `${metric === "auc" ? "AUC" : metric} ${value === null ? "n/a" : value.toFixed(3)}`,
  );
  element("run").value = name;
  element("run-details").textContent = [method, `${formatCount(n)} test bags`, ...values].join("  ·  ");
}

// label: the class whose probability is shown, to the last digit of predictions.csv
export function showBag(bag, label) {
  document.title = `${bag.name} – bagwise`;
  element("bag-name").textContent = bag.name;
  const outcome = bag.correct ? "correct" : "incorrect";
  const details = [`label ${bag.label}`, `predicted ${bag.predicted}`, `${formatCount(bag.n_instances)} instances`];
  if (bag.group !== null) details.push(`group ${bag.group}`);
  element("bag-details").replaceChildren(make("span", { class: `badge ${outcome}` }, outcome), ` ${details.join("  ·  ")}`);
  element("bag-probability-label").textContent = `p(${label}) =`;
  element("bag-probability").textContent = bag.probability;
}

// How reliable the weights are, and problems with the data or the picture.
export function showNotes(bag, info) {
  const effective = `Effective number of instances: ${formatNumber(info.effective_number)} of ${formatCount(bag.n_instances)}.`;
  const largest = `Largest weight: ${formatNumber(info.top_weight)}.`;
  const summary = [effective, largest];
  if (info.spread !== null) {
    summary.push(`Over ${info.n_seeds} seeds, the standard deviations of the weights sum to ${formatNumber(100 * info.spread)} %.`);
  }
  const notes = info.notes.map((text) => make("p", { class: "note" }, text));
  element("notes").replaceChildren(...summary.map((text) => make("p", { class: "small" }, text)), ...notes);
}
