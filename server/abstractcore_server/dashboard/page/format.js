// Numbers, times and amounts as texts.

const WHOLE = new Intl.NumberFormat("en");

export function count(number) {
  return number === null || number === undefined ? "?" : WHOLE.format(number);
}

export function short(number) {
  const units = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const [size, unit] = units.find(([each]) => Math.abs(number) >= each) ?? [1, ""];
  return `${Number((number / size).toPrecision(3))}${unit}`;
}

export function seconds(value) {
  if (value === null || value === undefined) return "?";
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  return value < 100 ? `${value.toFixed(1)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

// Amounts come as exact texts: small ones keep three digits, whatever their size.
export function dollars(text) {
  const value = Number(text);
  if (value === 0) return "$0";
  if (Math.abs(value) >= 0.1) return `$${value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 12 })}`;
}

// What is known, what is estimated, and that nothing is known are never one number.
export function cost(call) {
  if (call.cost === null && call.estimated_cost === null) return "unknown";
  const parts = [];
  if (call.cost !== null) parts.push(dollars(call.cost));
  if (call.estimated_cost !== null) parts.push(`~${dollars(call.estimated_cost)}`);
  return parts.join(" + ");
}

export function time(value) {
  const date = new Date(value * 1000);
  const two = (number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function bytes(size) {
  return size === null || size === undefined ? "" : `${short(size)}B`;
}
