// The processes of a league: how fast each is, how long it waits, when it was heard of, and what is played now.

import { apiPath, useJson, useTicks } from "../api.js";
import { DASH, count, percent, short, significant } from "../format.js";
import { html } from "../html.js";
import { Bar, Fact, Facts, Notice } from "../parts.js";

const SILENT = 10; // seconds without a message
const WAITING = 1 / 3;

export function Machines({ run, status }) {
  const { data } = useJson(status.live ? apiPath(run, "open") : null, useTicks(3));
  const workers = [...(status.workers ?? [])].sort((a, b) => a.role.localeCompare(b.role) || a.name.localeCompare(b.name, "en", { numeric: true }));
  return html`
    <${Facts}>
      <${Fact} name="Coordinator">${status.live ? `term ${status.term}` : "does not run"}<//>
      <${Fact} name="Starts of the coordinator">${count(status.term)}<//>
      <${Fact} name="Collectors">${count(status.collectors)}<//>
      <${Fact} name="Learners">${count(status.learners)}<//>
      <${Fact} name="Env steps per second">${short(status.env_steps_per_second)}<//>
    <//>
    ${Object.entries(status.quarantined).map(([name, why]) => html`<${Notice} kind="problem">${name} is quarantined, it failed everything while others succeeded; the last time: ${why}<//>`)}
    ${workers.length === 0 && html`<${Notice}>No process reports: this is what the ledger has.<//>`}
    ${workers.length > 0 && html`<${Workers} workers=${workers} />`}
    ${data && html`<${Open} data=${data} />`}`;
}

function Workers({ workers }) {
  const heads = ["Process", "Speed", "Waits", "", "Lag (mean, p95)", "Dropped decisions", "Heard"];
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Processes">
      <table><thead><tr>${heads.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${workers.map((worker) => html`<${Worker} key=${worker.name} worker=${worker} />`)}</tbody></table>
    </div>`;
}

function Worker({ worker }) {
  const known = worker.metrics;
  const wait = known.wait_share;
  const speeds = [["env_steps_per_second", "steps/s"], ["updates_per_second", "updates/s"], ["rows_per_second", "rows/s"]];
  const speed = speeds.filter(([name]) => known[name] !== undefined).map(([name, unit]) => `${short(known[name])} ${unit}`);
  const lags = ["lag_mean", "lag_p95"].map((end) => worst(known, end));
  return html`
    <tr>
      <th scope="row">${worker.name}</th>
      <td class="number">${speed.join(", ") || DASH}</td>
      <td class="number">${percent(wait)}</td>
      <td>${wait !== undefined && html`<${Bar} share=${wait} warn=${wait > WAITING} label=${`waits ${percent(wait)} of its time`} />`}</td>
      <td class="number">${lags.every((lag) => lag === null) ? DASH : lags.map((lag) => significant(lag, 2)).join(", ")}</td>
      <td class="number">${count(known.dropped_decisions)}</td>
      <td class="number">${worker.age > SILENT ? html`<strong>silent for ${worker.age.toFixed(0)} s</strong>` : `${worker.age.toFixed(0)} s ago`}</td>
    </tr>`;
}

// The worst of all players of a learner.
function worst(metrics, end) {
  const found = Object.entries(metrics).filter(([name]) => name.endsWith(`/${end}`)).map(([, value]) => value);
  return found.length ? Math.max(...found) : null;
}

function Open({ data }) {
  return html`
    <h2>Played at this moment</h2>
    <p>${count(data.count)} tickets are under way${data.tickets.length < data.count ? `; the newest ${data.tickets.length}:` : ":"}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Tickets under way">
      <table><thead><tr>${["Ticket", "Purpose", "Players", "Episodes", "Attempt"].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${data.tickets.map((one) => html`<tr key=${one.ticket}><th scope="row">${one.ticket}</th><td>${one.purpose}</td><td>${one.players.join(" v ")}</td><td class="number">${one.episodes}</td><td class="number">${one.attempt}</td></tr>`)}</tbody></table>
    </div>`;
}
