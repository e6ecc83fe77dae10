// Numbers and elements of the page; text is always set as text, never as markup.

export const element = (id) => document.getElementById(id);

// Make an element: make("td", { class: "number" }, "text", otherElement …).
export function make(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...content.filter((each) => each !== null && each !== undefined));
  return made;
}

// A number in few digits, for reading: 0.0312, 1.2e-7, −0.4.
export function short(value, digits = 3) {
  const number = Number(value);
  if (number === 0) return "0";
  const size = Math.abs(number);
  const text = size >= 1e-4 && size < 1e5 ? String(Number(number.toPrecision(digits))) : number.toExponential(digits - 1);
  return text.replace("-", "−").replace("e−", "e-").replace("e+", "e");
}

export const count = (number) => number.toLocaleString("en-US");

export function signed(value) {
  return (Number(value) > 0 ? "+" : "") + short(value);
}

// A probability or share; 0 and 1 are written only when it is just that.
export function share(text) {
  const value = Number(text);
  if (value === 0 || value === 1) return String(value);
  if (value < 0.0005) return "<0.001";
  return value > 0.9995 ? ">0.999" : value.toFixed(3);
}
