// All runs of the folder as cards, the newest first.

import { link } from "../address.js";
import { useJson, useTicks } from "../api.js";
import { age, count, short } from "../format.js";
import { html, useEffect } from "../html.js";
import { Notice } from "../parts.js";

export function Runs() {
  const { data, problem } = useJson("/api/runs", useTicks(5));
  useEffect(() => {
    if (data?.length === 1 && !data[0].why) window.location.replace(link(data[0].name));
  }, [data]);
  return html`
    <h1>Runs</h1>
    ${problem && html`<${Notice} kind="problem">${problem.message}<//>`}
    ${!data && !problem && html`<${Notice}>Reading the runs ...<//>`}
    ${data?.length === 0 && html`<${Notice}>There are no runs here yet. Start one with: ludus run<//>`}
    ${data?.length > 1 && html`<p><a href=${link("-", "compare")}>Compare runs</a></p>`}
    <ul class="cards">${data?.map((run) => html`<${Card} key=${run.name} run=${run} />`)}</ul>`;
}

function Card({ run }) {
  const best = run.best && html`<p>Best: <strong>${run.best.player}</strong>, ${run.best.text}</p>`;
  return html`
    <li class="card">
      <h2><a href=${link(run.name)}>${run.name}</a></h2>
      <p><span class="state ${run.state.replace(" ", "-")}">${run.state}</span> ${run.game ?? ""}</p>
      ${run.why && html`<p class="dim">${run.why}</p>`}
      <p class="dim">
        ${count(run.players)} players, ${count(run.matches)} matches, ${short(run.env_steps)} env steps; ${age(run.age)} old
      </p>
      ${best}
    </li>`;
}
