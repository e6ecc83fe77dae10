// The selected instance: its picture, its exact values, and its most unusual features.

import { outputTitle } from "./bag_table.js";
import { element, make } from "./dom.js";
import { formatCount, formatNumber, formatOutput, formatSigned } from "./number_format.js";

export function showNone() {
  element("instance").replaceChildren(
    title("No instance selected"),
    make("p", { class: "small" }, "Click an instance, or press n to step through the instances by value."),
  );
}

// Show the value of the current layer; the other values follow when the server has computed them, if the data are available.
export function showPreview(instance, n, picture, caption, value, missing) {
  const status = missing ? "The data of this run are not available, so only the weight is shown." : "Computing …";
  show(instance, n, picture, valueList([[caption, formatNumber(value)]]), make("p", { class: "small" }, status));
}

export function showInstance(instance, n, picture, info, run) {
  const rows = [
    ["Weight", info.weight],
    ["Rank by weight", `${formatCount(info.rank)} of ${formatCount(n)}`],
    ...weightOverSeeds(info.weight_over_seeds),
    ...run.outputs.map((title, number) => [`Contribution to ${run.output_word} ${title}`, formatSigned(info.contributions[number]), info.contributions[number]]),
    ...run.outputs.map((title, number) => [`${outputTitle(run, number)}, instance alone`, formatOutput(info.outputs[number], run.output_kind), info.outputs[number]]),
  ];
  if (info.position) rows.push(["Position (x, y)", info.position.map((coordinate) => formatNumber(coordinate, 6)).join(", ")]);
  if (info.key !== null) rows.push(["Key instance", info.key ? "yes" : "no"]);
  show(instance, n, picture, valueList(rows), ...(info.features.length ? unusualFeatures(info.features) : []));
}

// Mean and standard deviation over runs that differ only in their seed.
function weightOverSeeds(weights) {
  if (!weights) return [];
  const mean = weights.reduce((sum, each) => sum + each, 0) / weights.length;
  const deviation = Math.sqrt(weights.reduce((sum, each) => sum + (each - mean) ** 2, 0) / weights.length);
  return [[`Weight over ${weights.length} seeds`, `${formatNumber(mean)} ± ${formatNumber(deviation)}`, weights.join(", ")]];
}

function show(instance, n, picture, ...content) {
  const image = picture ? [make("img", { class: "large", src: picture, alt: `instance ${instance}` })] : [];
  element("instance").replaceChildren(title(`Instance ${instance}`, `of ${formatCount(n)}`), ...image, ...content);
}

function title(text, suffix = "") {
  return make("h2", { id: "instance-title" }, text, " ", make("span", { class: "small" }, suffix));
}

// rows: [name, text, exact value as a tooltip]
function valueList(rows) {
  const pairs = rows.map(([name, value, exact]) => make("div", {}, make("dt", {}, name), make("dd", { title: exact ?? value }, value)));
  return make("dl", { class: "values" }, ...pairs);
}

function unusualFeatures(features) {
  const largest = Math.max(...features.map((each) => Math.abs(each.deviations)));
  const rows = features.map((each) => {
    const bar = make("i", {});
    const share = (50 * Math.abs(each.deviations)) / largest;
    bar.style.width = `${share}%`;
    bar.style.left = `${each.deviations < 0 ? 50 - share : 50}%`;
    return make(
      "tr",
      { title: `value ${formatNumber(each.value, 5)}, mean ${formatNumber(each.mean, 5)}` },
      make("th", { scope: "row" }, each.feature),
      make("td", {}, make("span", { class: "track signed" }, bar)),
      make("td", { class: "number" }, `${formatSigned(each.deviations)} SD`),
    );
  });
  return [make("h3", {}, "Most unusual features"), make("table", { class: "features" }, make("tbody", {}, ...rows))];
}
