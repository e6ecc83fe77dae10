// The headings of the run and of the bag, and the notes on the bag.

import { outputTitle } from "./bag_table.js";
import { element, make } from "./dom.js";
import { formatCount, formatNumber } from "./number_format.js";

export function showRun({ name, method, n_bags: n, metrics, metrics_note: note }) {
  const values = Object.entries(metrics).map(([metric, value]) => `${metric} ${value === null ? "n/a" : value.toFixed(3)}`);
  element("run").value = name;
  element("run-details").textContent = [method, `${formatCount(n)} test bags`, ...values].join("  ·  ");
  element("run-details").title = note;
}

// The output that is shown for the bag has all digits of predictions.csv.
export function showBag(bag, run) {
  document.title = `${bag.name} – bagwise`;
  element("bag-name").textContent = bag.name;
  const outcome = bag.correct ? "correct" : "incorrect";
  const details = [`label ${bag.label}`, `predicted ${bag.predicted}`, `${formatCount(bag.n_instances)} instances`];
  if (bag.group !== null) details.push(`group ${bag.group}`);
  const badge = run.right_or_wrong ? [make("span", { class: `badge ${outcome}` }, outcome)] : [];
  element("bag-details").replaceChildren(...badge, ` ${details.join("  ·  ")}`);
  element("bag-output-label").textContent = `${outputTitle(run, bag.shown)} =`;
  element("bag-output").textContent = bag.output;
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
