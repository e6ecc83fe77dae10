// The page: what is chosen (state) → numbers of the server → the list, the stage, the panel.

import { bindButtons, keyActions } from "./actions.js";
import { startAppearance } from "./appearance.js";
import { BagTable } from "./bag_table.js";
import { BagView } from "./bag_view.js";
import { showChoices, startChoices } from "./choices.js";
import { drawingOf, layerOf, orderOf } from "./drawings.js";
import { exportPng } from "./export_png.js";
import { showBriefly, showFully, showNone } from "./instance_panel.js";
import { bindKeys } from "./keyboard.js";
import { layerWords, showLegend } from "./legend.js";
import { PAPER_COLOURS } from "./raster.js";
import * as server from "./server.js";
import { address, listen, set, state } from "./state.js";
import { markStrip, showStrip } from "./strip.js";
import { showBag, showNotes, showRun } from "./titles.js";
import { whileBusy } from "./waiting.js";
import { count, element, make, short } from "./words.js";

const PICTURE = "/picture"; // no run is called so
const REDRAWING = ["layer", "class", "scale", "colours", "from", "to", "frames"];
const table = new BagTable((name) => set({ bag: name, instance: -1 }));
let runs, colours; // of the server, for good
let run, bags, bag; // chosen, as the lists have them
let view, info, positions, keys; // of the bag on the stage
let drawing, order; // what is drawn now
let opening = true; // a bag is on its way, and will be drawn as it is wanted then
let [turn, strokes] = [0, 0]; // of bags and of drawings: answers to an earlier question are dropped

const wantedNow = () => [bag.number, state.layer, classNumber(), state.scale];
const spoken = (row) => (run.classes.length === 2 ? 1 : run.classes.indexOf(row.predicted));
const classNumber = () => run.classes.indexOf(state.class);
const rivals = () => runs.filter(({ name, test_bags: test }) => test && test === run.test_bags && name !== run.name);
const rival = () => rivals().find(({ name }) => name === state.beside);

async function start() {
  startAppearance();
  startChoices();
  showNone();
  [runs, colours] = await Promise.all([server.runs(), server.colours()]);
  element("run").replaceChildren(...runs.map(({ name }) => make("option", { value: name }, name)));
  element("run").addEventListener("change", (event) => set({ run: event.target.value, instance: -1 }));
  bindKeys(keyActions({ step, walk, home: () => view?.home(), classes: () => run.classes }));
  const geojson = () => server.addressOf(run.number, bag.number, "export", "geojson", classNumber());
  bindButtons({ step, geojson, exportPng: () => attempt(savePng), copyLink: () => attempt(copyLink) });
  document.querySelector(".skip").addEventListener("click", skip);
  listen((changed) => attempt(() => react(changed)));
  await openRun();
}

async function react(changed) {
  if (changed.has("run")) return openRun();
  if (changed.has("bag")) return openBag();
  if (opening) return;
  if (!drawing) return openBag(); // the last drawing failed
  if (changed.has("beside")) return stage();
  if (changed.has("opacity")) view.setOpacity(state.opacity);
  if (REDRAWING.some((name) => changed.has(name))) await draw();
  if (changed.has("instance")) await choose();
  showChoices(choices());
}

async function openRun() {
  run = runs.find(({ name }) => name === state.run) ?? runs[0];
  showRun(run);
  const now = (turn += 1);
  const found = await server.bags(run.number);
  if (now !== turn) return;
  bags = found.map((row) => ({ ...row, exact: row.probabilities[spoken(row)] }));
  table.show(bags, run.classes.length === 2 ? run.classes[1] : null);
  await openBag();
}

async function openBag() {
  bag = bags.find(({ name }) => name === state.bag) ?? bags[0];
  const now = (turn += 1);
  table.mark(bag.name);
  showBag(bag, run.classes[spoken(bag)]);
  element("export-csv").href = server.addressOf(run.number, bag.number, "export", "csv");
  opening = true;
  try {
    await fetchBag(now);
    if (now === turn) await stage();
  } finally {
    if (now === turn) opening = false;
  }
}

async function fetchBag(now) {
  const found = await server.bag(run.number, bag.number);
  const [places, truth] = await Promise.all([
    found.places && server.positions(run.number, bag.number),
    found.key_instances ? server.keys(run.number, bag.number) : null,
  ]);
  if (now !== turn) return;
  [info, positions, keys] = [found, places, truth];
  if (info.kind === "missing") state.layer = "weight"; // all else needs the data
  element("export-csv").hidden = info.kind === "missing";
  showNotes(bag, info);
}

// The views of the bag, one or two.
async function stage() {
  const now = turn;
  [drawing, order] = [];
  view?.close();
  view = new BagView(run.number, bag.number, info, (instance) => set({ instance }));
  element("export-geojson").hidden = !view.placed;
  await view.open(paneRuns().length);
  if (now === turn) await draw();
  if (now === turn) await choose();
}

async function draw() {
  const [now, stroke] = [turn, (strokes += 1)];
  const panes = paneRuns();
  if (!run.classes.includes(state.class)) state.class = run.classes[spoken(bag)];
  const names = colourNames();
  if (!names.includes(state.colours)) state.colours = names[0];
  showChoices(choices());
  const [wanted, words] = [wantedNow(), layerWords(state.layer, state.class)];
  const asked = Promise.all(panes.map((each) => each && layerOf(each.number, ...wanted)));
  const layers = await whileBusy(`computing: ${words} …`, asked);
  if (now !== turn || stroke !== strokes) return;
  if (wantedNow().join() !== wanted.join()) return draw(); // another choice was made while the first one was computed
  const shared = { positions, keys: state.frames ? keys : null, table: tableOf(state.colours) };
  const drawings = layers.map((layer) => layer && drawingOf(layer, { ...shared, ...state }));
  drawing = drawings[panes.indexOf(run)];
  view.paint(drawings, panes.map((each, number) => paneTitle(each, layers[number])));
  showLegend(words, drawing.scale, drawing.table);
  performance.mark("bag drawn");
  await new Promise(requestAnimationFrame); // the map is on the screen before its tiles are sorted
  order = orderOf(drawing);
  showOrder();
  element("views").dataset.drawn = JSON.stringify([run.name, bag.name, state.layer, state.class, state.scale]);
}

function showOrder() {
  element("shown-count").textContent = `${count(order.length)} of ${count(bag.n_instances)} instances shown`;
  if (view.placed) showStrip(order, drawing.values, keys, view.pictureOf, (instance) => set({ instance }));
  markStrip(state.instance);
}

async function choose() {
  const { instance } = state;
  const chosen = Number.isInteger(instance) && instance >= 0 && instance < bag.n_instances;
  view.select(chosen ? instance : -1, positions);
  markStrip(instance);
  if (!chosen) return showNone();
  const words = layerWords(state.layer, state.class);
  const picture = view.pictureOf?.(instance);
  showBriefly(instance, bag.n_instances, picture, words, drawing.values[instance], info.kind === "missing");
  const place = `place ${order.indexOf(instance) + 1} of ${order.length}`;
  element("live").textContent = `instance ${instance}, ${words} ${short(drawing.values[instance])}, ${place}`;
  if (info.kind === "missing") return;
  const now = turn;
  const found = await server.instance(run.number, bag.number, instance);
  if (now === turn && state.instance === instance) showFully(instance, bag.n_instances, picture, found, run.classes);
}

// The run that each pane shows; null for the picture alone.
function paneRuns() {
  if (rival()) return [run, rival()];
  return state.beside === PICTURE && info.picture && view.placed ? [null, run] : [run];
}

// Each of two models has a scale of its own, whose ends stand beside its name.
function paneTitle(of, layer) {
  if (!of) return "image";
  return rival() ? `${of.name}: ${short(layer.scale.low)} to ${short(layer.scale.high)}` : "map";
}

// Contributions have a sign, so their colours have a neutral middle.
function colourNames() {
  return state.layer === "contribution" ? Object.keys(colours.diverging) : [...Object.keys(colours.sequential), PAPER_COLOURS];
}

const tableOf = (name) => colours.sequential[name] ?? colours.diverging[name] ?? PAPER_COLOURS;

function choices() {
  const beside = [["", "nothing"], ...rivals().map(({ name }) => [name, name])];
  if (view.placed && info.picture) beside.splice(1, 0, [PICTURE, "the image alone"]);
  const shown = { placed: view.placed, keys: keys !== null, missing: info.kind === "missing" };
  return { classes: run.classes, colours: colourNames(), beside, ...shown };
}

function step(by) {
  const found = table.beside(by);
  if (found) set({ bag: found.name, instance: -1 });
}

function walk(by) {
  if (!order) return;
  const place = order.indexOf(state.instance);
  set({ instance: order[Math.min(Math.max(place + by, 0), order.length - 1)] ?? -1 });
}

function savePng() {
  const words = layerWords(state.layer, state.class);
  return exportPng({ name: bag.name, run: run.name, view, words, scale: drawing.scale, table: drawing.table });
}

// Without a change of the address, which says what is looked at.
function skip(event) {
  event.preventDefault();
  element("stage").focus();
}

async function copyLink() {
  await navigator.clipboard.writeText(new URL(address(), location.href).href);
  element("live").textContent = "link copied";
}

async function attempt(action) {
  try {
    element("problem").hidden = true;
    await action();
  } catch (error) {
    element("problem").textContent = error.message;
    element("problem").hidden = false;
  }
}

attempt(start);
