// The chosen instance, large: its numbers to the last digit, and the features by which it differs most.

import { count, element, make, share, short, signed } from "./words.js";

export function showNone() {
  element("instance").replaceChildren(
    title("No instance chosen"),
    make("p", { class: "small" }, "Choose a tile or press n to walk through those of greatest value."),
  );
}

// What is known at once; the rest follows when the model has answered, unless the data are missing.
export function showBriefly(instance, n, picture, words, value, missing) {
  const rest = missing ? "The data are not at hand, so there is no more to say." : "The model is asked for the rest …";
  show(instance, n, picture, facts([[words, short(value)]]), make("p", { class: "small" }, rest));
}

export function showFully(instance, n, picture, found, classes) {
  const numbers = [
    ["weight", found.weight],
    ["rank by weight", `${count(found.rank)} of ${count(n)}`],
    ...overSeeds(found.weight_over_seeds),
    ...classes.map((label, number) => [`contribution to ${label}`, signed(found.contributions[number]), found.contributions[number]]),
    ...classes.map((label, number) => [`p(${label}) alone`, share(found.probabilities[number]), found.probabilities[number]]),
  ];
  if (found.position) numbers.push(["position", found.position.map((place) => short(place, 6)).join(", ")]);
  if (found.key !== null) numbers.push(["truly key", found.key ? "yes" : "no"]);
  show(instance, n, picture, facts(numbers), ...(found.features.length ? features(found.features) : []));
}

// Mean and standard deviation over runs that differ in their seed alone.
function overSeeds(weights) {
  if (!weights) return [];
  const mean = weights.reduce((sum, each) => sum + each, 0) / weights.length;
  const deviation = Math.sqrt(weights.reduce((sum, each) => sum + (each - mean) ** 2, 0) / weights.length);
  return [[`weight over ${weights.length} seeds`, `${short(mean)} ± ${short(deviation)}`, weights.join(", ")]];
}

function show(instance, n, picture, ...content) {
  const seen = picture ? [make("img", { class: "large", src: picture, alt: `instance ${instance}` })] : [];
  element("instance").replaceChildren(title(`Instance ${instance}`, `of ${count(n)}`), ...seen, ...content);
}

function title(words, more = "") {
  return make("h2", { id: "instance-title" }, words, " ", make("span", { class: "small" }, more));
}

function facts(rows) {
  const pairs = rows.map(([name, value, exact]) => make("div", {}, make("dt", {}, name), make("dd", { title: exact ?? value }, value)));
  return make("dl", { class: "numbers" }, ...pairs);
}

function features(found) {
  const most = Math.max(...found.map((each) => Math.abs(each.deviations)));
  const rows = found.map((each) => {
    const bar = make("i", {});
    const share = (50 * Math.abs(each.deviations)) / most;
    bar.style.width = `${share}%`;
    bar.style.left = `${each.deviations < 0 ? 50 - share : 50}%`;
    return make(
      "tr",
      { title: `value ${short(each.value, 5)}, mean ${short(each.mean, 5)}` },
      make("th", { scope: "row" }, `feature ${each.feature}`),
      make("td", {}, make("span", { class: "track signed" }, bar)),
      make("td", { class: "number" }, `${signed(each.deviations)} sd`),
    );
  });
  return [make("h3", {}, "Features that differ most"), make("table", { class: "features" }, make("tbody", {}, ...rows))];
}
