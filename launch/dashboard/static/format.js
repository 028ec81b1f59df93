// Numbers as people read them. A missing value is a dash.

export const DASH = "–";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function count(value) {
  return value === null || value === undefined ? DASH : whole.format(value);
}

// 12,345 as 12k, 3,200,000 as 3.2M: the same as the tables on the terminal.
export function short(value) {
  if (value === null || value === undefined) return DASH;
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= size) return `${(value / size).toFixed(value < 10 * size ? 1 : 0)}${unit}`;
  }
  return value > 0 && value < 0.95 ? String(Number(value.toPrecision(1))) : value.toFixed(0);
}

export function percent(value, digits = 0) {
  return value === null || value === undefined ? DASH : `${(100 * value).toFixed(digits)}%`;
}

export function significant(value, digits = 3) {
  return value === null || value === undefined ? DASH : String(Number(value.toPrecision(digits)));
}

export function clock(seconds) {
  if (seconds === null || seconds === undefined) return DASH;
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

export function age(seconds) {
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}

// A rating: points of Elo are whole numbers, units of return are not.
export function rating(row) {
  if (row.rating === null) return DASH;
  return row.by === "outcome" ? row.rating.toFixed(0).replace(/^-0$/, "0") : row.rating.toFixed(2);
}

export function reach(row) {
  if (row.rating === null) return "";
  if (row.low === null || row.high === null) return "±?";
  const half = (row.high - row.low) / 2;
  if (half === 0) return "fix";
  return `±${row.by === "outcome" ? half.toFixed(0) : Number(half.toPrecision(2))}`;
}
