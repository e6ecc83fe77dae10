// A message while something is being computed, shown after a short delay.

import { element } from "./dom.js";

const DELAY = 300; // milliseconds
let pending = 0;

export async function showWhileBusy(text, promise) {
  const timer = setTimeout(() => show(text), DELAY);
  pending += 1;
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    pending -= 1;
    if (pending === 0) element("busy").hidden = true;
  }
}

function show(text) {
  element("busy").textContent = text;
  element("busy").hidden = false;
}
