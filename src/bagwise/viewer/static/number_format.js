// Numbers as text.

// Few digits, for reading: 0.0312, 1.2e-7, −0.4.
export function formatNumber(value, digits = 3) {
  const number = Number(value);
  if (number === 0) return "0";
  const size = Math.abs(number);
  const text = size >= 1e-4 && size < 1e5 ? String(Number(number.toPrecision(digits))) : number.toExponential(digits - 1);
  return text.replace("-", "−").replace("e−", "e-").replace("e+", "e");
}

export const formatCount = (number) => number.toLocaleString("en-US");

export function formatSigned(value) {
  return (Number(value) > 0 ? "+" : "") + formatNumber(value);
}

export const formatOutput = (text, kind) => (kind === "probability" ? formatProbability(text) : formatNumber(text));

// Three decimals; 0 and 1 are shown only for exactly 0 and 1.
export function formatProbability(text) {
  const value = Number(text);
  if (value === 0 || value === 1) return String(value);
  if (value < 0.0005) return "<0.001";
  return value > 0.9995 ? ">0.999" : value.toFixed(3);
}
