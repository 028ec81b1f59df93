// A game against a player of a league: clicks or keys make moves; the server plays the other side.

import { Board } from "./board.js";
import { percent, significant } from "./format.js";
import { html, render, useEffect, useState } from "./html.js";
import { Notice } from "./parts.js";
import { applyTheme } from "./theme.js";

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const response = await fetch(path, { ...options, credentials: "same-origin" });
  const found = await response.json().catch(() => ({ problem: "open the address that ludus play printed last" }));
  if (!response.ok) throw new Error(found.problem ?? `the server answered ${response.status}`);
  return found;
}

function App() {
  const [known, setKnown] = useState(null);
  const [game, setGame] = useState(null);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const [shown, setShown] = useState(null); // what the player would do, if somebody asked
  const run = async (work) => {
    setBusy(true);
    setProblem("");
    setShown(null);
    try {
      setGame(await work());
    } catch (error) {
      setProblem(error.message);
    }
    setBusy(false);
  };
  useEffect(() => {
    ask("/api/players").then(setKnown).catch((error) => setProblem(error.message));
    ask("/api/game").then((found) => found.over || setGame(found)).catch(() => undefined);
  }, []);
  const considered = async () => setShown(await ask("/api/considered"));
  return html`
    <header><span class="brand">Ludus</span><span>Play</span></header>
    <main>
      <h1>Play</h1>
      ${problem && html`<${Notice} kind="problem">${problem}<//>`}
      ${known && html`<${Opening} known=${known} busy=${busy} begin=${(opening) => run(() => ask("/api/begin", opening))} />`}
      ${busy && html`<p role="status">The other side thinks ...</p>`}
      ${game &&
      html`<${Game}
        game=${game}
        shown=${shown}
        busy=${busy}
        move=${(action) => run(() => ask("/api/move", { action }))}
        undo=${() => run(() => ask("/api/undo", {}))}
        considered=${considered}
      />`}
    </main>`;
}

function Opening({ known, busy, begin }) {
  const [opponent, setOpponent] = useState(known.opponent);
  const [seat, setSeat] = useState(0);
  const [rated, setRated] = useState(false);
  const start = (event) => {
    event.preventDefault();
    begin({ opponent, seat, rated, name: known.name });
  };
  return html`
    <form class="controls" onSubmit=${start}>
      <label>Against <select onChange=${(event) => setOpponent(event.target.value)}>
        ${[...new Set([known.opponent, ...known.players])].map((name) => html`<option value=${name} selected=${name === opponent}>${name}</option>`)}
      </select></label>
      <label>You move <select disabled=${rated} onChange=${(event) => setSeat(Number(event.target.value))}>
        <option value="0">first</option><option value="1">second</option>
      </select></label>
      <label><input type="checkbox" checked=${rated} onChange=${(event) => setRated(event.target.checked)} /> for a rating, as ${known.name}</label>
      <button disabled=${busy}>New game</button>
    </form>`;
}

function Game({ game, shown, busy, move, undo, considered }) {
  const chances = shown?.chances ?? {};
  const mine = game.legal.length > 0 && !busy;
  return html`
    ${game.problem && html`<${Notice} kind="problem">${game.problem}<//>`}
    ${game.note && html`<${Notice}>${game.note}<//>`}
    <p role="status" class="turn">${game.outcome || (mine ? `Your move: you are ${game.agent}.` : "")}</p>
    <div class="two">
      <div>
        ${game.board
          ? html`<${Board} cells=${game.board} legal=${mine ? game.legal : []} actions=${game.actions} play=${mine ? move : null} chances=${chances} />`
          : html`<pre>${game.text}</pre>`}
        <${MoveList} game=${game} mine=${mine} move=${move} chances=${chances} />
      </div>
      <div>
        <p class="controls">
          <button disabled=${!game.undo || busy} onClick=${undo}>Undo</button>
          <button disabled=${!mine} onClick=${considered}>What would it play?</button>
        </p>
        ${shown && html`<p>${Object.keys(chances).length ? "In per cent beside the moves." : "It is a script, or remembers the game: it has no probabilities here."} ${shown.value === null ? "" : `It expects ${significant(shown.value)} in your place.`}</p>`}
        <h2>Moves</h2>
        <ol>${game.log.map((line) => html`<li>${line}</li>`)}</ol>
      </div>
    </div>`;
}

// All legal moves by number: for games without a board, and for those who prefer keys.
function MoveList({ game, mine, move, chances }) {
  if (!mine) return null;
  return html`
    <p class="controls" role="group" aria-label="Legal moves">
      ${game.legal.map((action) => html`<button onClick=${() => move(action)}>${action}${chances[action] === undefined ? "" : ` (${percent(chances[action])})`}</button>`)}
    </p>`;
}

applyTheme();
render(html`<${App} />`, document.getElementById("app"));
