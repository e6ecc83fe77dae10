// What is said of the run and of the bag on the stage.

import { count, element, make, short } from "./words.js";

export function showRun({ name, pooling, level, n_bags: n, metrics }) {
  const numbers = Object.entries(metrics).map(
    ([metric, value]) => `${metric === "auc" ? "AUC" : metric} ${value === null ? "n/a" : value.toFixed(3)}`,
  );
  element("run").value = name;
  element("run-facts").textContent = [`${pooling}, ${level} level`, `${count(n)} test bags`, ...numbers].join("  ·  ");
}

// spokenOf: the class whose probability is shown, to the last digit of predictions.csv
export function showBag(bag, spokenOf) {
  document.title = `${bag.name} – bagwise`;
  element("bag-name").textContent = bag.name;
  const verdict = make("span", { class: bag.right ? "badge right" : "badge wrong" }, bag.right ? "right" : "wrong");
  const facts = [`label ${bag.label}`, `predicted ${bag.predicted}`, `${count(bag.n_instances)} instances`];
  if (bag.group !== null) facts.push(`group ${bag.group}`);
  element("bag-facts").replaceChildren(verdict, ` ${facts.join("  ·  ")}`);
  element("chance-of").textContent = `p(${spokenOf}) =`;
  element("chance").textContent = bag.exact;
}

// How far the weights can be trusted, and what is wrong with data or picture.
export function showNotes(bag, info) {
  const used = `${short(info.effective_number)} of ${count(bag.n_instances)} instances count (effective number); the greatest weight is ${short(info.top_weight)}.`;
  const seeds = info.spread === null ? "" : ` Over ${info.n_seeds} seeds the weights deviate by ${short(100 * info.spread)} % in all.`;
  const notes = info.notes.map((words) => make("p", { class: "note" }, words));
  element("notes").replaceChildren(make("p", { class: "small" }, used + seeds), ...notes);
}
