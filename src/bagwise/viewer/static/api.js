// Requests to the server: JSON for descriptions, float32 for arrays.

const base = "/api/runs";

export const bagUrl = (run, bag, ...rest) => [base, run, "bags", bag, ...rest].join("/");

async function request(url) {
  const response = await fetch(url);
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Error(body.error || `the server responded with status ${response.status}`);
}

async function fetchJson(url) {
  return (await request(url)).json();
}

async function fetchFloats(url) {
  const response = await request(url);
  const values = new Float32Array(await response.arrayBuffer());
  const scale = response.headers.get("Scale");
  return { values, ...(scale ? { scale: JSON.parse(scale) } : {}) };
}

export const fetchColours = () => fetchJson("/api/colours");
export const fetchRuns = () => fetchJson(base);
export const fetchBags = (run) => fetchJson(`${base}/${run}/bags`);
export const fetchBag = (run, bag) => fetchJson(bagUrl(run, bag));
export const fetchInstance = (run, bag, instance) => fetchJson(bagUrl(run, bag, "instances", instance));
export const fetchPositions = async (run, bag) => (await fetchFloats(bagUrl(run, bag, "positions"))).values;
export const fetchKeys = async (run, bag) => (await fetchFloats(bagUrl(run, bag, "keys"))).values;

// Returns { values: unscaled, scaled: from 0 to 1, or −1 to 1 if signed, scale: { low, high, signed, caption } }.
export async function fetchLayer(run, bag, layer, outputNumber, scale) {
  const url = (form) => bagUrl(run, bag, "layers", layer, outputNumber, form);
  const [exact, scaled] = await Promise.all([fetchFloats(url("exact")), fetchFloats(url(scale))]);
  return { values: exact.values, scaled: scaled.values, scale: scaled.scale };
}
