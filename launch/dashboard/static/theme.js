// Light, dark, or as the system has it. Canvases cannot inherit colours, so they ask here.

const KEY = "ludus-theme";
const CHANGED = "ludus-theme-changed";
const system = window.matchMedia("(prefers-color-scheme: dark)");

export const LINES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#7f7f7f"];
// From orange (the row loses) over white to blue (it wins): colour-blind readers can tell them apart.
const SCORES = ["#8c4a00", "#e08214", "#fdd9b0", "#f7f7f7", "#b5d4e9", "#3f8fc5", "#0b3c6f"];

export function chosenTheme() {
  return localStorage.getItem(KEY) ?? "system";
}

export function chooseTheme(theme) {
  localStorage.setItem(KEY, theme);
  applyTheme();
}

export function applyTheme() {
  const theme = chosenTheme();
  document.documentElement.dataset.theme = theme === "system" ? (system.matches ? "dark" : "light") : theme;
  window.dispatchEvent(new Event(CHANGED));
}

export function onTheme(call) {
  window.addEventListener(CHANGED, call);
  return () => window.removeEventListener(CHANGED, call);
}

system.addEventListener("change", applyTheme);

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// The colour of a score from 0 to 1, as red, green and blue.
export function scoreColour(score) {
  const place = Math.min(Math.max(score, 0), 1) * (SCORES.length - 1);
  const low = Math.min(Math.floor(place), SCORES.length - 2);
  const [from, to] = [SCORES[low], SCORES[low + 1]].map(parts);
  return from.map((value, i) => Math.round(value + (to[i] - value) * (place - low)));
}

function parts(hex) {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}
