// The state of the page, as one object; it is also stored in the URL, so that a link opens the same view.

const DEFAULTS = {
  run: "",
  bag: "",
  layer: "weight",
  output: "",
  scale: "raw",
  colours: "",
  opacity: 0.6,
  from: 0, // range of scaled values that are shown
  to: 1,
  beside: "", // a run to compare with, or the picture
  frames: true, // whether key instances are framed
  instance: -1,
};
export const SCALES = ["raw", "rank", "log", "paper"];
const CHOICES = { scale: SCALES };
const listeners = [];

export const state = { ...DEFAULTS, ...readHash() };

// Change the state and notify the listeners of the names that changed.
export function set(changes) {
  const changed = Object.keys(changes).filter((name) => state[name] !== changes[name]);
  if (!changed.length) return;
  Object.assign(state, changes);
  const isNewBag = changed.includes("run") || changed.includes("bag");
  history[isNewBag ? "pushState" : "replaceState"](null, "", stateHash());
  notify(changed);
}

export function listen(listener) {
  listeners.push(listener);
}

// Return the part of the URL after #: all values that differ from the defaults.
export function stateHash() {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value !== DEFAULTS[name]) parameters.set(name, value);
  }
  return `#${parameters}`;
}

function readHash() {
  const parsed = {};
  for (const [name, text] of new URLSearchParams(location.hash.slice(1))) {
    if (name in DEFAULTS && (CHOICES[name]?.includes(text) ?? true)) parsed[name] = convert(text, DEFAULTS[name]);
  }
  return parsed;
}

// Convert text to the type of the default.
function convert(text, fallback) {
  if (typeof fallback === "boolean") return text === "true";
  if (typeof fallback !== "number") return text;
  return Number.isFinite(Number(text)) ? Number(text) : fallback;
}

function notify(changed) {
  for (const listener of listeners) listener(new Set(changed));
}

addEventListener("popstate", () => {
  const target = { ...DEFAULTS, ...readHash() };
  const changed = Object.keys(target).filter((name) => state[name] !== target[name]);
  Object.assign(state, target);
  if (changed.length) notify(changed);
});
