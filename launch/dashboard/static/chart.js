// Curves with their intervals, drawn by uPlot. Beneath each chart are its newest numbers as text.

import { short, significant } from "./format.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { LINES, colour, onTheme } from "./theme.js";

const HEIGHT = 260;

// lines: [{label, x: [], y: [], low: [], high: [], colour}]; low and high may be missing.
export function Chart({ title, lines, xLabel, yLabel, height = HEIGHT }) {
  const place = useRef(null);
  const plot = useRef(null);
  const [theme, setTheme] = useState(0);
  const shape = lines.map((line) => `${line.label}${line.low ? "±" : ""}`).join("|");
  useEffect(() => onTheme(() => setTheme((before) => before + 1)), []);
  useEffect(() => {
    const options = chartOptions(lines, xLabel, yLabel, place.current.clientWidth, height);
    plot.current = new window.uPlot(options, chartData(lines), place.current);
    const watcher = new ResizeObserver(() => plot.current.setSize({ width: place.current.clientWidth, height }));
    watcher.observe(place.current);
    return () => {
      watcher.disconnect();
      plot.current.destroy();
    };
  }, [shape, theme, xLabel, yLabel, height]);
  useEffect(() => plot.current.setData(chartData(lines)), [lines]);
  return html`
    <figure class="chart">
      <figcaption>${title}</figcaption>
      <div ref=${place} role="img" aria-label=${`${title}. ${summary(lines)}`}></div>
    </figure>`;
}

function summary(lines) {
  const newest = lines.filter((line) => line.y.length).map((line) => `${line.label}: ${significant(line.y.at(-1))}`);
  return newest.length ? `Newest values: ${newest.slice(0, 12).join(", ")}` : "No points yet";
}

// uPlot has one column of x values for all lines; points of other lines are gaps.
function chartData(lines) {
  const tables = lines.map((line) => (line.low ? [line.x, line.y, line.low, line.high] : [line.x, line.y]));
  if (!tables.length) return [[], []];
  return tables.length === 1 ? tables[0] : window.uPlot.join(tables);
}

function chartOptions(lines, xLabel, yLabel, width, height) {
  const series = [{ label: xLabel, value: (_, value) => (value === null ? "" : short(value)) }];
  const bands = [];
  lines.forEach((line, i) => {
    const stroke = line.colour ?? LINES[i % LINES.length];
    const value = (_, number) => (number === null || number === undefined ? "" : significant(number, 4));
    series.push({ label: line.label, stroke, width: 1.6, spanGaps: true, value, points: { show: line.y.length < 3 } });
    if (line.low) {
      const edge = { class: "bound", stroke: `${stroke}55`, width: 0.5, spanGaps: true, value, points: { show: false } };
      series.push({ label: `${line.label}, low`, ...edge }, { label: `${line.label}, high`, ...edge });
      bands.push({ series: [series.length - 1, series.length - 2], fill: `${stroke}22` });
    }
  });
  const axis = { stroke: colour("text"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line") } };
  const size = (_, values) => 14 + 8 * Math.max(2, ...(values ?? []).map((text) => text.length));
  return {
    width,
    height,
    scales: { x: { time: false } },
    axes: [
      { ...axis, label: xLabel, values: (_, splits) => splits.map((value) => short(value)) },
      { ...axis, label: yLabel, size, values: (_, splits) => splits.map((value) => significant(value)) },
    ],
    series,
    bands,
    legend: { live: true },
  };
}
