// Answers of the server: JSON for lists and words, float32 for numbers to draw.

const base = "/api/runs";

export const addressOf = (run, bag, ...rest) => [base, run, "bags", bag, ...rest].join("/");

async function ask(address) {
  const answer = await fetch(address);
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  throw new Error(said.error || `the viewer answered ${answer.status}`);
}

async function json(address) {
  return (await ask(address)).json();
}

async function numbers(address) {
  const answer = await ask(address);
  const values = new Float32Array(await answer.arrayBuffer());
  const scale = answer.headers.get("Scale");
  return { values, ...(scale ? { scale: JSON.parse(scale) } : {}) };
}

export const colours = () => json("/api/colours");
export const runs = () => json(base);
export const bags = (run) => json(`${base}/${run}/bags`);
export const bag = (run, number) => json(addressOf(run, number));
export const instance = (run, bag, number) => json(addressOf(run, bag, "instances", number));
export const positions = async (run, bag) => (await numbers(addressOf(run, bag, "positions"))).values;
export const keys = async (run, bag) => (await numbers(addressOf(run, bag, "keys"))).values;

// { values: exact numbers, scaled: the same as they are coloured, scale: its ends and words }
export async function layer(run, bag, name, classNumber, scale) {
  const address = (form) => addressOf(run, bag, "layers", name, classNumber, form);
  const [exact, scaled] = await Promise.all([numbers(address("exact")), numbers(address(scale))]);
  return { values: exact.values, scaled: scaled.values, scale: scaled.scale };
}
