// Matches, the newest first, by player, purpose, ending and length; one of them is stepped through.

import { go, link } from "../address.js";
import { apiPath, getJson } from "../api.js";
import { Board } from "../board.js";
import { DASH, percent, significant } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { Notice } from "../parts.js";

const PURPOSES = { "": "any", train: "training", evaluate: "evaluation" };
const ENDINGS = { "": "any", won: "won", drawn: "drawn", lost: "lost", void: "void" };
const FILTERS = ["player", "against", "purpose", "ending", "longest"];

export function Matches({ run, query }) {
  if (query.match) return html`<${Replay} run=${run} query=${query} />`;
  return html`<${Filter} run=${run} query=${query} /><${List} run=${run} query=${query} />`;
}

function kept(query) {
  return Object.fromEntries(FILTERS.filter((name) => query[name]).map((name) => [name, query[name]]));
}

function Filter({ run, query }) {
  const change = (name) => (event) => go(run, "matches", { ...kept(query), [name]: event.target.value.trim() });
  const text = (name, title, type = "search") => html`<label>${title} <input type=${type} min="0" value=${query[name] ?? ""} onChange=${change(name)} /></label>`;
  const choice = (name, title, known) => html`
    <label>${title} <select onChange=${change(name)}>
      ${Object.entries(known).map(([key, shown]) => html`<option value=${key} selected=${key === (query[name] ?? "")}>${shown}</option>`)}
    </select></label>`;
  return html`
    <p class="controls">
      ${text("player", "Player")} ${text("against", "against")} ${choice("purpose", "Purpose", PURPOSES)}
      ${choice("ending", "Ending", ENDINGS)} ${text("longest", "At least moves", "number")}
    </p>`;
}

function List({ run, query }) {
  const [found, setFound] = useState({ matches: [], before: undefined, problem: null, busy: true });
  const key = JSON.stringify(kept(query));
  const ask = (before, control) => {
    setFound((old) => ({ ...old, busy: true }));
    getJson(apiPath(run, "matches", { ...kept(query), ...(before ? { before } : {}) }), control?.signal)
      .then((news) => setFound((old) => ({ matches: [...(before ? old.matches : []), ...news.matches], before: news.before, problem: null, busy: false })))
      .catch((problem) => problem.name !== "AbortError" && setFound((old) => ({ ...old, problem, busy: false })));
  };
  useEffect(() => {
    const control = new AbortController();
    ask(null, control);
    return () => control.abort();
  }, [run, key]);
  const { matches, before, problem, busy } = found;
  return html`
    ${problem && html`<${Notice} kind="problem">${problem.message}<//>`}
    ${!matches.length && !busy && !problem && html`<${Notice}>${before ? "None among the newest; there may be older ones." : "No such match."}<//>`}
    <div class="scroll" tabindex="0" role="region" aria-label="Matches">
      <table>
        <thead><tr>${["Ticket", "Purpose", "Players (score in %, or return)", "Moves", "Replay"].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${matches.map((match) => html`<${Row} key=${match.seq} match=${match} run=${run} query=${query} />`)}</tbody>
      </table>
    </div>
    ${before && html`<p><button disabled=${busy} onClick=${() => ask(before)}>Older matches</button></p>`}
    ${busy && html`<p class="dim" role="status">Searching ...</p>`}`;
}

function Row({ match, run, query }) {
  const lengths = match.lengths;
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  const moves = match.void === null ? `${lengths.length} x ${least === most ? least : `${least}-${most}`}` : "void";
  const replay = (episode) => link(run, "matches", { ...kept(query), match: `${match.ticket}.${episode}`, seq: match.seq });
  const episodes = match.recorded.map((episode) => html`<a href=${replay(episode)} aria-label=${`Replay ${match.ticket}.${episode}`}>${episode}</a> `);
  return html`
    <tr>
      <th scope="row">${match.ticket}</th>
      <td>${PURPOSES[match.purpose] ?? match.purpose}${match.variant ? ` in ${match.variant}` : ""}</td>
      <td>${names(match)}</td>
      <td class="number">${moves}</td>
      <td>${match.void ?? (episodes.length ? episodes : DASH)}</td>
    </tr>`;
}

function names(match) {
  const values = match.scores?.map((score) => (score === null ? DASH : percent(score))) ?? match.returns?.map((one) => significant(one, 4)) ?? [];
  const sides = new Map();
  match.players.forEach((player, i) => {
    const text = values[i] === undefined ? player : `${player} (${values[i]})`;
    sides.set(match.sides[i], [...(sides.get(match.sides[i]) ?? []), text]);
  });
  return [...sides.values()].map((team) => team.join(" + ")).join(" v ");
}

// --- one episode -----------------------------------------------------------------------------------------------

function Replay({ run, query }) {
  const [found, setFound] = useState({ data: null, problem: null });
  useEffect(() => {
    const control = new AbortController();
    setFound({ data: null, problem: null });
    getJson(apiPath(run, "replay", { match: query.match, ...(query.seq ? { seq: query.seq } : {}) }), control.signal)
      .then((data) => setFound({ data, problem: null }))
      .catch((problem) => problem.name !== "AbortError" && setFound({ data: null, problem }));
    return () => control.abort();
  }, [run, query.match]);
  const { data, problem } = found;
  return html`
    <p><a href=${link(run, "matches", kept(query))}>All matches</a></p>
    <h2>Match ${query.match}</h2>
    ${problem && html`<${Notice} kind="problem">${problem.message}<//>`}
    ${!data && !problem && html`<${Notice}>The game is being played again ...<//>`}
    ${data && html`<${Steps} data=${data} />`}`;
}

function Steps({ data }) {
  const [step, setStep] = useState(0);
  const last = data.positions.length - 1;
  const to = (place) => setStep(Math.min(last, Math.max(0, place)));
  const keys = { ArrowLeft: () => to(step - 1), ArrowRight: () => to(step + 1), Home: () => to(0), End: () => to(last) };
  const key = (event) => {
    if (!keys[event.key] || event.target.tagName === "INPUT") return;
    event.preventDefault();
    keys[event.key]();
  };
  const position = data.positions[step];
  return html`
    <div class="replay" onKeyDown=${key}>
      <p>${data.players.map((one) => html`<span class="seat"><strong>${one.agents.join(", ")}</strong>: ${one.text}</span>`)}</p>
      <p class="controls">
        <button onClick=${() => to(0)} aria-label="First position">|◀</button>
        <button onClick=${() => to(step - 1)}>Back</button>
        <button onClick=${() => to(step + 1)}>Next</button>
        <button onClick=${() => to(last)} aria-label="Last position">▶|</button>
        <label>Position <input type="range" min="0" max=${last} value=${step} onInput=${(event) => to(Number(event.target.value))} /></label>
        <span role="status">${step} of ${last}${moves(position)}</span>
      </p>
      <div class="two">
        <${Position} position=${position} />
        <div>${position.decisions.map((decision) => html`<${Decision} decision=${decision} />`)}</div>
      </div>
      ${step === last && html`<${Notice}>${data.outcome}<//>`}
      ${data.wrong && html`<${Notice} kind="problem">This is NOT what was recorded: ${data.wrong}<//>`}
    </div>`;
}

function moves(position) {
  return position.moves.length ? `: ${position.moves.map((move) => `${move.agent} (${move.player}) plays ${move.action}`).join(", ")}` : "";
}

function Position({ position }) {
  if (position.picture) return html`<img class="frame" src=${position.picture} alt=${position.text || "The position"} />`;
  if (position.board) return html`<${Board} cells=${position.board} />`;
  return html`<pre>${position.text || "This environment shows nothing of itself."}</pre>`;
}

function Decision({ decision }) {
  const { probabilities, legal, value, why, chosen } = decision;
  const options = (legal ?? []).map((action, i) => [action, probabilities?.[i]]).sort((a, b) => (b[1] ?? 0) - (a[1] ?? 0));
  return html`
    <section class="decision" aria-label=${`What ${decision.player} considered`}>
      <h3>${decision.agent}: ${decision.player} to move</h3>
      <p>${value === null ? "" : `It expects ${significant(value)}. `}It plays ${String(chosen)}.</p>
      ${why && html`<p class="dim">No probabilities: ${why}.</p>`}
      ${probabilities &&
      html`<table><thead><tr><th scope="col">Action</th><th scope="col">Probability</th></tr></thead><tbody>
        ${options.slice(0, 30).map(([action, chance]) => html`<tr class=${action === chosen ? "chosen" : ""}><th scope="row">${action}${action === chosen ? " (played)" : ""}</th><td class="number">${percent(chance, 1)}</td></tr>`)}
      </tbody></table>`}
    </section>`;
}
