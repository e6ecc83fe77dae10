// What is being looked at, in one object; it stands in the address too, so that a link leads back to the same view.

const DEFAULTS = {
  run: "",
  bag: "",
  layer: "weight",
  class: "",
  scale: "raw",
  colours: "",
  opacity: 0.6,
  from: 0,
  to: 1,
  beside: "",
  frames: true,
  instance: -1,
};
export const LAYERS = ["weight", "contribution", "probability"];
export const SCALES = ["raw", "rank", "log", "paper"];
const KNOWN = { layer: LAYERS, scale: SCALES };
const listeners = [];

export const state = { ...DEFAULTS, ...read() };

// Change the view; everyone who listens hears which names changed.
export function set(changes) {
  const changed = Object.keys(changes).filter((name) => state[name] !== changes[name]);
  if (!changed.length) return;
  Object.assign(state, changes);
  const turned = changed.includes("run") || changed.includes("bag");
  history[turned ? "pushState" : "replaceState"](null, "", address());
  tell(changed);
}

export function listen(listener) {
  listeners.push(listener);
}

export function address() {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value !== DEFAULTS[name]) words.set(name, value);
  }
  return `#${words}`;
}

function read() {
  const found = {};
  for (const [name, word] of new URLSearchParams(location.hash.slice(1))) {
    if (name in DEFAULTS && (KNOWN[name]?.includes(word) ?? true)) found[name] = typed(word, DEFAULTS[name]);
  }
  return found;
}

function typed(word, like) {
  if (typeof like === "boolean") return word === "true";
  if (typeof like !== "number") return word;
  return Number.isFinite(Number(word)) ? Number(word) : like;
}

function tell(changed) {
  for (const listener of listeners) listener(new Set(changed));
}

addEventListener("popstate", () => {
  const wanted = { ...DEFAULTS, ...read() };
  const changed = Object.keys(wanted).filter((name) => state[name] !== wanted[name]);
  Object.assign(state, wanted);
  if (changed.length) tell(changed);
});
