// Several runs side by side: what they scored, their curves with intervals across seeds, and how their configs differ.

import { go, link } from "../address.js";
import { useJson, useTicks } from "../api.js";
import { Chart } from "../chart.js";
import { DASH, rating, reach, short, significant } from "../format.js";
import { html, useMemo } from "../html.js";
import { Notice } from "../parts.js";

const BOUND = /_(low|high)$/;

export function Compare({ query }) {
  const all = useJson("/api/runs");
  const chosen = (query.runs ?? "").split(" ").filter(Boolean);
  const curve = query.curve ?? "elo/main";
  const search = new URLSearchParams([...chosen.map((run) => ["run", run]), ["name", curve]]);
  const { data, problem } = useJson(chosen.length > 1 ? `/api/compare?${search}` : null, useTicks(5));
  const change = (more) => go("-", "compare", { runs: chosen.join(" "), curve, ...more });
  const turn = (run) => change({ runs: (chosen.includes(run) ? chosen.filter((one) => one !== run) : [...chosen, run]).join(" ") });
  return html`
    <h1>Compare</h1>
    <fieldset class="controls">
      <legend>Runs</legend>
      ${all.data?.filter((run) => run.state !== "unreadable" && run.state !== "not started").map((run) => html`<label><input type="checkbox" checked=${chosen.includes(run.name)} onChange=${() => turn(run.name)} /> ${run.name}</label>`)}
    </fieldset>
    ${problem && html`<${Notice} kind="problem">${problem.message}<//>`}
    ${chosen.length < 2 && html`<${Notice}>Choose two runs or more. Those that differ only in their seed are one group.<//>`}
    ${chosen.length > 1 && !data && !problem && html`<${Notice}>Reading the runs ...<//>`}
    ${data && html`<${Comparison} data=${data} curve=${curve} change=${change} />`}`;
}

function Comparison({ data, curve, change }) {
  const names = data.names.filter((name) => !BOUND.test(name));
  const lines = useMemo(
    () =>
      Object.entries(data.curves[curve] ?? {}).map(([label, one]) => ({
        label: `${label} (${one.runs})`,
        x: one.env_steps,
        y: one.mean,
        ...(one.low ? { low: one.low, high: one.high } : {}),
      })),
    [data, curve],
  );
  return html`
    <h2>Figures</h2>
    <${Figures} data=${data} />
    <h2>Curves</h2>
    <p class="controls"><label>Curve <select onChange=${(event) => change({ curve: event.target.value })}>
      ${names.map((name) => html`<option value=${name} selected=${name === curve}>${name}</option>`)}
    </select></label></p>
    ${!data.complete && html`<p class="dim">The past of some runs is still being read.</p>`}
    <${Chart} title=${`${curve}: mean of each group, with the 95 % t interval across seeds`} lines=${lines} xLabel="env steps" yLabel="" />
    ${Object.entries(data.tournaments).map(([name, rows]) => html`<${Tournament} name=${name} rows=${rows} />`)}
    <h2>Settings that differ</h2>
    <${Changes} changes=${data.changes} />`;
}

function Figures({ data }) {
  const names = [...new Set(data.figures.flatMap((row) => Object.keys(row.means)))];
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Figures">
      <table>
        <caption>Means over seeds with their 95 % t intervals; of a single run, the interval of its own games.</caption>
        <thead><tr>${["Group", "Runs", ...names].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>
          ${data.figures.map(
            (row) => html`
              <tr>
                <th scope="row">${row.settings}</th>
                <td>${data.groups[row.settings].map((run) => html`<a href=${link(run)}>${run}</a> `)}</td>
                ${names.map((name) => html`<td class="number">${figure(row.means[name])}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

function figure(mean) {
  if (!mean) return DASH;
  const reach = mean.low === null ? "" : ` (${significant(mean.low)} to ${significant(mean.high)})`;
  return `${significant(mean.mean)}${reach}`;
}

function Tournament({ name, rows }) {
  return html`
    <h2>Tournament <a href=${link(name, "standings")}>${name}</a></h2>
    <table>
      <thead><tr>${["#", "Player", "From run", "Rating", "Games"].map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr><td class="number">${row.place}</td><th scope="row">${row.player}</th><td>${row.run ?? DASH}</td><td class="number">${rating(row)} ${reach(row)}</td><td class="number">${short(row.games)}</td></tr>`)}</tbody>
    </table>`;
}

function Changes({ changes }) {
  const rows = Object.entries(changes).flatMap(([run, list]) => list.map((change) => ({ run, ...change })));
  if (!rows.length) return html`<p class="dim">None.</p>`;
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Settings that differ">
      <table>
        <thead><tr>${["Setting", "First run", "Other run", "Its value"].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${rows.map((row) => html`<tr><th scope="row">${row.key}</th><td>${JSON.stringify(row.first)}</td><td>${row.run}</td><td>${JSON.stringify(row.other)}</td></tr>`)}</tbody>
      </table>
    </div>`;
}
