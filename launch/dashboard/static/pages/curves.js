// Any curve of a run, with its interval, and those of other runs over it.

import { go } from "../address.js";
import { apiPath, getJson, useJson, useTicks } from "../api.js";
import { Chart } from "../chart.js";
import { html, useEffect, useMemo, useState } from "../html.js";
import { Notice } from "../parts.js";

const AXES = { matches: "matches", env_steps: "env steps" };
const FIRST = 8; // curves of a group that are drawn before somebody chooses
const BOUND = /_(low|high)$/;
const TITLES = {
  elo: "Ratings (Elo)",
  margin: "Ratings (margin a game)",
  return: "Mean returns",
  over_median: "Returns over the median",
  score: "Scores against anchors",
  elo_online: "Online Elo",
  losses: "Losses",
  lag: "Lag in versions",
  wait: "Shares of time spent waiting",
  charts: "Episodes and throughput",
  league: "The league",
  queue: "Tickets",
  process: "Processes",
  player: "Learning players",
  system: "Machine",
};

export function Curves({ run, query, status }) {
  const runs = [run, ...(query.with ? query.with.split(" ") : [])];
  const group = query.group ?? "elo";
  const axis = query.over ?? "matches";
  const names = useJson(apiPath(run, "curves"), useTicks(5));
  const others = useJson("/api/runs");
  const groups = useMemo(() => grouped(names.data?.names ?? []), [names.data]);
  const chosen = groups[group] ? group : (Object.keys(groups)[0] ?? group);
  const change = (more) => go(run, "curves", { group: chosen, over: axis, with: query.with, player: query.player, ...more });
  const shown = (groups[chosen] ?? []).filter((name) => !query.player || name.includes(query.player));
  const series = useRuns(runs, shown, names.data?.next ?? status.seq);
  return html`
    <p class="controls">
      <label>Curves <select onChange=${(event) => change({ group: event.target.value })}>
        ${Object.keys(groups).map((name) => html`<option value=${name} selected=${name === chosen}>${TITLES[name] ?? name}</option>`)}
      </select></label>
      <label>Over <select onChange=${(event) => change({ over: event.target.value })}>
        ${Object.entries(AXES).map(([name, title]) => html`<option value=${name} selected=${name === axis}>${title}</option>`)}
      </select></label>
      <label>Only <input type="search" value=${query.player ?? ""} placeholder="player" onChange=${(event) => change({ player: event.target.value })} /></label>
      <${Overlay} run=${run} all=${others.data} chosen=${runs.slice(1)} choose=${(list) => change({ with: list.join(" ") })} />
    </p>
    ${names.data && !names.data.complete && html`<${Notice}>${progress(names.data)}<//>`}
    ${names.data?.complete && !shown.length && html`<${Notice}>This run has no such curve.<//>`}
    <${Plots} shown=${shown} runs=${runs} series=${series} axis=${axis} title=${TITLES[chosen] ?? chosen} />`;
}

function progress({ reading: [read, all], problem }) {
  return problem || `The past is being read: event ${read.toLocaleString("en")} of ${all.toLocaleString("en")}.`;
}

// Curves by the first part of their name, without the bounds of their intervals.
function grouped(names) {
  const groups = {};
  for (const name of names) {
    if (!BOUND.test(name) || !names.includes(name.replace(BOUND, ""))) (groups[name.split("/")[0]] ??= []).push(name);
  }
  return groups;
}

// The points of some curves of several runs: {run: {name: points}}.
function useRuns(runs, names, version) {
  const [found, setFound] = useState({});
  const key = `${runs.join("|")}#${names.join("|")}`;
  useEffect(() => {
    if (!names.length) return undefined;
    const control = new AbortController();
    const wanted = names.slice(0, 4 * FIRST).flatMap((name) => [name, `${name}_low`, `${name}_high`]);
    for (const run of runs) {
      getJson(apiPath(run, "curves", { name: wanted }), control.signal)
        .then((news) => setFound((before) => ({ ...before, [run]: news.series })))
        .catch(() => undefined); // a run that cannot be read has no curves; its own page says why
    }
    return () => control.abort();
  }, [key, version]);
  return found;
}

function Overlay({ run, all, chosen, choose }) {
  const others = (all ?? []).map((one) => one.name).filter((name) => name !== run && !chosen.includes(name));
  const add = (event) => event.target.value && choose([...chosen, event.target.value]);
  return html`
    ${others.length > 0 &&
    html`<label>With run <select onChange=${add}><option value="">choose ...</option>${others.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
    ${chosen.map((name) => html`<button onClick=${() => choose(chosen.filter((one) => one !== name))}>without ${name}</button>`)}`;
}

// Curves of one unit share a chart; losses and other measurements have one each.
function Plots({ shown, runs, series, axis, title }) {
  const together = ["elo", "margin", "score", "wait", "elo_online", "return", "over_median"].includes(shown[0]?.split("/")[0]);
  const charts = together ? [[title, shown.slice(0, FIRST)]] : shown.slice(0, 4 * FIRST).map((name) => [name, [name]]);
  const left = together ? shown.length - FIRST : shown.length - 4 * FIRST;
  return html`
    ${charts.map(([name, curves]) => html`<${Plot} key=${name} title=${name} curves=${curves} runs=${runs} series=${series} axis=${axis} />`)}
    ${left > 0 && html`<p class="dim">${left} more: name a player to choose among them.</p>`}`;
}

function Plot({ title, curves, runs, series, axis }) {
  const lines = useMemo(() => runs.flatMap((run) => curves.map((name) => line(run, name, runs, series, axis)).filter(Boolean)), [series, axis, curves.join("|")]);
  return html`<${Chart} title=${title} lines=${lines} xLabel=${AXES[axis]} yLabel="" />`;
}

function line(run, name, runs, series, axis) {
  const points = series[run]?.[name];
  if (!points) return null;
  const [low, high] = ["_low", "_high"].map((end) => series[run][`${name}${end}`]?.values);
  const banded = low?.length === points.values.length && high?.length === points.values.length;
  const label = name.split("/").slice(1).join("/") || name;
  return { label: runs.length > 1 ? `${run}: ${label}` : label, x: points[axis], y: points.values, ...(banded ? { low, high } : {}) };
}
