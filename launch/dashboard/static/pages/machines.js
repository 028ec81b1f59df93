// The processes of a league, machine by machine: how fast each is, how long it waits, what it plays now.

import { link } from "../address.js";
import { apiPath, useJson, useTicks } from "../api.js";
import { DASH, count, percent, short, significant } from "../format.js";
import { html } from "../html.js";
import { Bar, Fact, Facts, Notice } from "../parts.js";

const SILENT = 10; // seconds without a message
const WAITING = 1 / 3;
const NAMED = 2; // tickets of a collector that are named, the others are counted

export function Machines({ run, status }) {
  const { data } = useJson(status.live ? apiPath(run, "open") : null, useTicks(3));
  const workers = status.workers ?? [];
  const hosts = new Set(workers.map((worker) => worker.host));
  const restarts = workers.reduce((sum, worker) => sum + worker.restarts, 0);
  return html`
    <${Facts}>
      <${Fact} name="Coordinator">${status.live ? `term ${status.term}${data?.coordinator ? `, on ${data.coordinator}` : ""}` : "does not run"}<//>
      <${Fact} name="Starts of the coordinator">${count(status.term)}<//>
      ${workers.length > 0 && html`
        <${Fact} name="Machines">${count(hosts.size)}<//>
        <${Fact} name="Restarts of its processes">${count(restarts)}<//>`}
      <${Fact} name="Collectors">${count(status.collectors)}<//>
      <${Fact} name="Learners">${count(status.learners)}<//>
      <${Fact} name="Env steps per second">${short(status.env_steps_per_second)}<//>
    <//>
    ${Object.entries(status.quarantined).map(([name, why]) => html`<${Notice} kind="problem">${name} is quarantined, it failed everything while others succeeded; the last time: ${why}<//>`)}
    ${workers.length === 0 && html`<${Notice}>No process reports: this is what the ledger has.<//>`}
    ${workers.length > 0 && html`<${Workers} run=${run} workers=${workers} plays=${data?.plays ?? {}} />`}
    ${data && html`<${Open} run=${run} data=${data} />`}`;
}

function byHost(workers) {
  const compared = (a, b) => a.localeCompare(b, "en", { numeric: true });
  const groups = new Map();
  for (const worker of [...workers].sort((a, b) => compared(a.host, b.host) || compared(a.role, b.role) || compared(a.name, b.name))) {
    groups.set(worker.host, [...(groups.get(worker.host) ?? []), worker]);
  }
  return [...groups];
}

function Workers({ run, workers, plays }) {
  const heads = ["Process", "Speed", "Waits", "", "Lag (mean, p95)", "Dropped decisions", "Restarts", "Heard", "Plays now"];
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Processes">
      <table class="machines"><thead><tr>${heads.map((name) => html`<th scope="col">${name || html`<span class="hidden">Share of waiting</span>`}</th>`)}</tr></thead>
        ${byHost(workers).map(([host, members]) => html`
          <tbody key=${host}>
            <tr class="host"><th scope="rowgroup" colspan=${heads.length}>${host || "unknown machine"} <span class="dim">${hostLine(members)}</span></th></tr>
            ${members.map((worker) => html`<${Worker} key=${worker.name} run=${run} worker=${worker} plays=${plays[worker.name] ?? []} />`)}
          </tbody>`)}
      </table>
    </div>`;
}

function hostLine(members) {
  const speed = members.reduce((sum, worker) => sum + (worker.metrics.env_steps_per_second ?? 0), 0);
  return `${members.length} ${members.length === 1 ? "process" : "processes"}${speed ? `, ${short(speed)} steps/s` : ""}`;
}

function Worker({ run, worker, plays }) {
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
      <td class="number">${worker.restarts ? html`<strong>${count(worker.restarts)}</strong>` : count(0)}</td>
      <td class="number">${worker.age > SILENT ? html`<strong>silent for ${worker.age.toFixed(0)} s</strong>` : `${worker.age.toFixed(0)} s ago`}</td>
      <td>${worker.role === "collector" ? html`<${Plays} run=${run} plays=${plays} held=${worker.held} />` : DASH}</td>
    </tr>`;
}

// The tickets that a collector has held longest; those that it got later wait for a slot, or share the slots.
function Plays({ run, plays, held }) {
  if (!held) return html`<span class="dim">no ticket</span>`;
  const named = plays.slice(0, NAMED);
  return html`
    ${named.map((one, i) => html`${i > 0 && "; "}<${Pairing} run=${run} one=${one} /> <span class="dim">(${one.purpose} ${one.ticket})</span>`)}
    ${held > named.length && html`<span class="dim">${named.length ? " and " : ""}${count(held - named.length)} ${named.length ? "more" : "tickets"}</span>`}`;
}

function Pairing({ run, one }) {
  const [player, against] = one.players;
  const query = against && against !== player ? { player, against } : { player };
  return html`<a href=${link(run, "matches", query)}>${one.players.join(" v ")}</a>`;
}

// The worst of all players of a learner.
function worst(metrics, end) {
  const found = Object.entries(metrics).filter(([name]) => name.endsWith(`/${end}`)).map(([, value]) => value);
  return found.length ? Math.max(...found) : null;
}

function Open({ run, data }) {
  return html`
    <h2>Played at this moment</h2>
    <p>${count(data.count)} tickets are under way${data.tickets.length < data.count ? `; the newest ${data.tickets.length}:` : ":"}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Tickets under way">
      <table><thead><tr>${["Ticket", "Purpose", "Players", "Collector", "Episodes", "Attempt"].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${data.tickets.map((one) => html`<tr key=${one.ticket}><th scope="row">${one.ticket}</th><td>${one.purpose}</td><td><${Pairing} run=${run} one=${one} /></td><td>${one.collector ?? DASH}</td><td class="number">${one.episodes}</td><td class="number">${one.attempt}</td></tr>`)}</tbody></table>
    </div>`;
}
