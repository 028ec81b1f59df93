// Whom a player is matched with now and why, what its next freeze lacks, and whom it met so far.

import { go, link } from "../address.js";
import { apiPath, useJson, useTicks } from "../api.js";
import { count, percent } from "../format.js";
import { html } from "../html.js";
import { Bar, Notice } from "../parts.js";
import { LINES } from "../theme.js";

const NAMED = 7; // opponents that have a colour of their own

export function Why({ run, league, query }) {
  const players = league.learning.map((one) => one.player);
  const player = query.player ?? league.mains[0] ?? players[0];
  const { data, problem } = useJson(player ? apiPath(run, "why", { player }) : null, useTicks(5));
  if (!player) return html`<${Notice}>Nobody learns in this league, so nobody is matched by rules.<//>`;
  return html`
    <p class="controls"><label>Player <select onChange=${(event) => go(run, "why", { player: event.target.value })}>
      ${players.map((name) => html`<option value=${name} selected=${name === player}>${name}</option>`)}
    </select></label></p>
    ${problem && html`<${Notice} kind="problem">${problem.message}<//>`}
    ${data && html`<${Explanation} run=${run} data=${data} />`}`;
}

function Explanation({ run, data }) {
  return html`
    <p>${data.player} is ${data.origin}.</p>
    ${data.promotion && html`<p><strong>Next freeze:</strong> ${data.promotion}.${data.reset ? ` After it ${data.reset}.` : ""}</p>`}
    ${data.seats.map((seat) => html`<${Choices} run=${run} player=${data.player} seat=${seat} />`)}
    <h2>Whom it met so far</h2>
    ${!data.complete && html`<p class="dim">The past is still being read.</p>`}
    <${Past} past=${data.past} />`;
}

function Choices({ run, player, seat }) {
  return html`
    <h2>${seat.mate ? "Partner" : "Next opponent"} as ${seat.role}</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Choices">
      <table>
        <thead><tr>${["Player", "Weights", "Probability", "", "Score", "Why"].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>
          ${seat.choices.map(
            (choice) => html`
              <tr>
                <th scope="row"><a href=${link(run, "matches", { player, against: choice.opponent })}>${choice.opponent}</a></th>
                <td>${choice.live ? "live" : "frozen"}</td>
                <td class="number">${percent(choice.probability, 2)}</td>
                <td><${Bar} share=${choice.probability} label=${`${percent(choice.probability, 2)} of its matches`} /></td>
                <td class="number">${percent(choice.score)}</td>
                <td>${choice.why}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

// Shares of opponents over time, as columns that add up to all episodes of their time.
function Past({ past }) {
  const totals = {};
  for (const bucket of past.buckets) {
    for (const [name, episodes] of Object.entries(bucket.episodes)) totals[name] = (totals[name] ?? 0) + episodes;
  }
  const names = Object.keys(totals).sort((a, b) => totals[b] - totals[a]);
  if (!names.length) return html`<p class="dim">No training match of it is finished yet.</p>`;
  const shown = [...names.slice(0, NAMED), ...(names.length > NAMED ? ["others"] : [])];
  const all = names.reduce((sum, name) => sum + totals[name], 0);
  const of = (name) => (name === "others" ? names.slice(NAMED).reduce((sum, one) => sum + totals[one], 0) : totals[name]);
  const text = shown.map((name) => `${name} ${percent(of(name) / all)}`).join(", ");
  return html`
    <svg class="past" viewBox="0 0 ${past.buckets.length} 1" preserveAspectRatio="none" role="img" aria-label=${`Shares of opponents over time; in all: ${text}`}>
      ${past.buckets.map((bucket, i) => html`<${Column} bucket=${bucket} place=${i} shown=${shown} />`)}
    </svg>
    <ul class="key">${shown.map((name, i) => html`<li><svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" fill=${LINES[i]} /></svg> ${name}: ${count(of(name))} episodes, ${percent(of(name) / all)}</li>`)}</ul>
    <p class="dim">From left to right: all matches of the league, ${count(past.width)} in each column.</p>`;
}

function Column({ bucket, place, shown }) {
  const sum = Object.values(bucket.episodes).reduce((a, b) => a + b, 0);
  const named = shown.filter((name) => name !== "others").map((name) => bucket.episodes[name] ?? 0);
  const rest = sum - named.reduce((a, b) => a + b, 0);
  let top = 0;
  return [...named, rest].map((episodes, i) => {
    const height = episodes / sum;
    top += height;
    return height > 0 ? html`<rect x=${place} y=${top - height} width="1.02" height=${height} fill=${LINES[i]} />` : null;
  });
}
