// What is being computed, said to whoever has to wait for it.

import { element } from "./words.js";

const PATIENCE = 300; // milliseconds before anything is said
let waiting = 0;

export async function whileBusy(words, promise) {
  const timer = setTimeout(() => show(words), PATIENCE);
  waiting += 1;
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    waiting -= 1;
    if (waiting === 0) element("busy").hidden = true;
  }
}

function show(words) {
  element("busy").textContent = words;
  element("busy").hidden = false;
}
