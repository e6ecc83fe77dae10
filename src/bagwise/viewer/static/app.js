// The page: state → data from the server → bag list, views and instance panel.

import { bindButtons, keyActions } from "./actions.js";
import * as api from "./api.js";
import { BagTable } from "./bag_table.js";
import { BagView } from "./bag_view.js";
import { showWhileBusy } from "./busy_indicator.js";
import { element, make } from "./dom.js";
import { exportPng } from "./export_png.js";
import { showBag, showNotes, showRun } from "./headings.js";
import { showInstance, showNone, showPreview } from "./instance_panel.js";
import { bindKeys } from "./keyboard.js";
import { loadLayer, makeDrawing, rankInstances } from "./layer_drawing.js";
import { layerCaption, showLegend } from "./legend.js";
import { formatCount, formatNumber } from "./number_format.js";
import { PAPER_COLOURS } from "./raster.js";
import { listen, set, state, stateHash } from "./state.js";
import { selectInStrip, showStrip } from "./strip.js";
import { initTheme } from "./theme.js";
import { initLayers, initToolbar, updateToolbar } from "./toolbar.js";

const PICTURE = "/picture"; // cannot be the name of a run
const REDRAW_ON = ["layer", "output", "scale", "colours", "from", "to", "frames"];
const table = new BagTable((name) => set({ bag: name, instance: -1 }));
let runs, colours; // fetched once
let run, bags, bag; // the selected run, its bags, and the selected bag
let view, info, positions, keys; // properties of the selected bag
let drawing, ranking; // the current drawing, and the visible instances by value
let opening = true; // whether a bag is being fetched; it is then drawn with the current state
let [bagRequest, drawRequest] = [0, 0]; // counters of requests; responses to earlier requests are ignored

const layerRequest = () => [bag.number, state.layer, outputNumber(), state.scale];
const layerOf = (name) => run.layers.find((layer) => layer.name === name);
const outputNumber = () => run.outputs.indexOf(state.output);
const caption = () => layerCaption(layerOf(state.layer), run, state.output);
const comparableRuns = () => runs.filter(({ name, test_bags: test }) => test && test === run.test_bags && name !== run.name);
const comparedRun = () => comparableRuns().find(({ name }) => name === state.beside);

async function start() {
  initTheme();
  initToolbar();
  showNone();
  [runs, colours] = await Promise.all([api.fetchRuns(), api.fetchColours()]);
  element("run").replaceChildren(...runs.map(({ name }) => make("option", { value: name }, name)));
  element("run").addEventListener("change", (event) => set({ run: event.target.value, instance: -1 }));
  bindKeys(keyActions({ stepBag, stepInstance, resetZoom: () => view?.resetZoom(), outputs: () => run.outputs, layers: () => run.layers }));
  const geojsonUrl = () => api.bagUrl(run.number, bag.number, "export", "geojson", outputNumber());
  bindButtons({ stepBag, geojsonUrl, exportPng: () => attempt(savePng), copyLink: () => attempt(copyLink) });
  document.querySelector(".skip").addEventListener("click", skipToStage);
  listen((changed) => attempt(() => update(changed)));
  await openRun();
}

async function update(changed) {
  if (changed.has("run")) return openRun();
  if (changed.has("bag")) return openBag();
  if (opening) return;
  if (!drawing) return openBag(); // the last drawing failed
  if (changed.has("beside")) return openView();
  if (changed.has("opacity")) view.setOpacity(state.opacity);
  if (REDRAW_ON.some((name) => changed.has(name))) await draw();
  if (changed.has("instance")) await selectInstance();
  updateToolbar(toolbarOptions());
}

async function openRun() {
  run = runs.find(({ name }) => name === state.run) ?? runs[0];
  showRun(run);
  initLayers(run.layers);
  if (!layerOf(state.layer)) state.layer = run.layers[0].name;
  const request = (bagRequest += 1);
  const rows = await api.fetchBags(run.number);
  if (request !== bagRequest) return;
  bags = rows.map((row) => ({ ...row, output: row.outputs[row.shown] }));
  table.show(bags, run);
  await openBag();
}

async function openBag() {
  bag = bags.find(({ name }) => name === state.bag) ?? bags[0];
  const request = (bagRequest += 1);
  table.select(bag.name);
  showBag(bag, run);
  element("export-csv").href = api.bagUrl(run.number, bag.number, "export", "csv");
  opening = true;
  try {
    await fetchBag(request);
    if (request === bagRequest) await openView();
  } finally {
    if (request === bagRequest) opening = false;
  }
}

async function fetchBag(request) {
  const description = await api.fetchBag(run.number, bag.number);
  const [fetchedPositions, fetchedKeys] = await Promise.all([
    description.tile_grid && api.fetchPositions(run.number, bag.number),
    description.key_instances ? api.fetchKeys(run.number, bag.number) : null,
  ]);
  if (request !== bagRequest) return;
  [info, positions, keys] = [description, fetchedPositions, fetchedKeys];
  if (info.kind === "missing") state.layer = "weight"; // the other layers need the data
  element("export-csv").hidden = info.kind === "missing";
  showNotes(bag, info);
}

// Open the panes of the bag, one or two.
async function openView() {
  const request = bagRequest;
  [drawing, ranking] = [];
  view?.close();
  view = new BagView(run.number, bag.number, info, (instance) => set({ instance }));
  element("export-geojson").hidden = !view.placed;
  await view.open(paneRuns().length);
  if (request === bagRequest) await draw();
  if (request === bagRequest) await selectInstance();
}

async function draw() {
  const [request, current] = [bagRequest, (drawRequest += 1)];
  const panes = paneRuns();
  if (!run.outputs.includes(state.output)) state.output = run.outputs[bag.shown];
  const names = colourNames();
  if (!names.includes(state.colours)) state.colours = names[0];
  updateToolbar(toolbarOptions());
  const [requested, title] = [layerRequest(), caption()];
  const loading = Promise.all(panes.map((each) => each && loadLayer(each.number, ...requested)));
  const layers = await showWhileBusy(`Computing: ${title} …`, loading);
  if (request !== bagRequest || current !== drawRequest) return;
  if (layerRequest().join() !== requested.join()) return draw(); // the state changed in the meantime
  const shared = { positions, keys: state.frames ? keys : null, table: colourTable(state.colours) };
  const drawings = layers.map((layer) => layer && makeDrawing(layer, { ...shared, ...state }));
  drawing = drawings[panes.indexOf(run)];
  view.draw(drawings, panes.map((each, number) => paneTitle(each, layers[number])));
  showLegend(title, drawing.scale, drawing.table);
  performance.mark("bag drawn");
  await new Promise(requestAnimationFrame); // show the map before sorting its tiles
  ranking = rankInstances(drawing);
  showRanking();
  element("views").dataset.drawn = JSON.stringify([run.name, bag.name, state.layer, state.output, state.scale]);
}

function showRanking() {
  element("visible-count").textContent = `${formatCount(ranking.length)} of ${formatCount(bag.n_instances)} instances shown`;
  if (view.placed) showStrip(ranking, drawing.values, keys, view.pictureUrl, (instance) => set({ instance }));
  selectInStrip(state.instance);
}

async function selectInstance() {
  const { instance } = state;
  const exists = Number.isInteger(instance) && instance >= 0 && instance < bag.n_instances;
  view.select(exists ? instance : -1, positions);
  selectInStrip(instance);
  if (!exists) return showNone();
  const title = caption();
  const picture = view.pictureUrl?.(instance);
  showPreview(instance, bag.n_instances, picture, title, drawing.values[instance], info.kind === "missing");
  const rank = `rank ${ranking.indexOf(instance) + 1} of ${ranking.length}`;
  element("live").textContent = `instance ${instance}, ${title}: ${formatNumber(drawing.values[instance])}, ${rank}`;
  if (info.kind === "missing") return;
  const request = bagRequest;
  const details = await api.fetchInstance(run.number, bag.number, instance);
  if (request === bagRequest && state.instance === instance) showInstance(instance, bag.n_instances, picture, details, run);
}

// The run of each pane; null for the image only.
function paneRuns() {
  if (comparedRun()) return [run, comparedRun()];
  return state.beside === PICTURE && info.picture && view.placed ? [null, run] : [run];
}

// Two compared runs have separate scales, whose limits are shown after the name.
function paneTitle(of, layer) {
  if (!of) return "Image";
  return comparedRun() ? `${of.name}: ${formatNumber(layer.scale.low)} to ${formatNumber(layer.scale.high)}` : "Map";
}

// Contributions are signed, so their colour maps are diverging.
function colourNames() {
  return layerOf(state.layer).signed ? Object.keys(colours.diverging) : [...Object.keys(colours.sequential), PAPER_COLOURS];
}

const colourTable = (name) => colours.sequential[name] ?? colours.diverging[name] ?? PAPER_COLOURS;

function toolbarOptions() {
  const beside = [["", "none"], ...comparableRuns().map(({ name }) => [name, name])];
  if (view.placed && info.picture) beside.splice(1, 0, [PICTURE, "image only"]);
  const available = { placed: view.placed, keys: keys !== null, missing: info.kind === "missing" };
  return { run, colours: colourNames(), beside, ...available };
}

function stepBag(by) {
  const target = table.neighbour(by);
  if (target) set({ bag: target.name, instance: -1 });
}

function stepInstance(by) {
  if (!ranking) return;
  const place = ranking.indexOf(state.instance);
  set({ instance: ranking[Math.min(Math.max(place + by, 0), ranking.length - 1)] ?? -1 });
}

function savePng() {
  return exportPng({ name: bag.name, run: run.name, compared: Boolean(comparedRun()), view, caption: caption(), scale: drawing.scale, table: drawing.table });
}

// Move the focus without changing the URL, which stores the state.
function skipToStage(event) {
  event.preventDefault();
  element("stage").focus();
}

async function copyLink() {
  await navigator.clipboard.writeText(new URL(stateHash(), location.href).href);
  element("live").textContent = "link copied";
}

async function attempt(action) {
  try {
    element("error").hidden = true;
    await action();
  } catch (error) {
    element("error").textContent = error.message;
    element("error").hidden = false;
  }
}

attempt(start);
