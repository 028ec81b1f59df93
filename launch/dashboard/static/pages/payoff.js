// Who scores what against whom, as a heat map; a click opens the games of a pair.

import { go } from "../address.js";
import { apiPath, getBytes, getJson } from "../api.js";
import { percent, short, significant } from "../format.js";
import { HeatMap } from "../heatmap.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Notice } from "../parts.js";

const ORDERS = { rating: "rating", kind: "kind", cluster: "similarity" };
const TABLES = { evaluate: "Evaluation (snapshots only)", train: "Training (older games count less)" };
const POINT_MS = 60; // for which the pointer rests before the numbers of a cell are asked for

export function Payoff({ run, status, query }) {
  const [order, setOrder] = useState(query.order ?? "rating");
  const [of, setOf] = useState(query.of ?? "evaluate");
  const [pair, setPair] = useState(null);
  const canvas = useRef(null);
  const map = useRef(null);
  const { matrix, problem } = useMatrix(run, of, order, of === "train" ? status.seq : status.standings);
  const newest = useRef(null);
  newest.current = { matrix, of };
  useEffect(() => {
    const named = (cell) => cell && cell.map((place) => newest.current.matrix.players[place]);
    map.current = new HeatMap(canvas.current, {
      point: (cell) => setPair(named(cell)),
      choose: (cell) => {
        const [player, against] = named(cell);
        go(run, "matches", { player, against, purpose: newest.current.of });
      },
    });
    return () => map.current.close();
  }, [run]);
  useEffect(() => matrix && map.current.show(matrix), [matrix]);
  return html`
    <p class="controls">
      <${Choice} name="Order by" known=${ORDERS} chosen=${order} choose=${setOrder} />
      <${Choice} name="Games of" known=${TABLES} chosen=${of} choose=${setOf} />
      <button onClick=${() => map.current.zoom(1.3)}>Zoom in</button>
      <button onClick=${() => map.current.zoom(1 / 1.3)}>Zoom out</button>
      <button onClick=${() => map.current.fit()}>All</button>
    </p>
    ${problem && html`<${Notice} kind="problem">${problem.message}<//>`}
    <${PairLine} run=${run} of=${of} pair=${pair} together=${matrix?.together} version=${status.standings} />
    <canvas class="heatmap" ref=${canvas} tabindex="0" role="application" aria-label=${label(matrix)} data-players=${matrix?.players.length ?? 0}></canvas>
    <${Legend} together=${matrix?.together} />
    <p class="dim">
      Wheel or + and - zoom, drag moves, arrows go from cell to cell (Shift: ten), Enter opens the games of the pair, 0 shows all.
    </p>`;
}

function useMatrix(run, of, order, version) {
  const [found, setFound] = useState({ matrix: null, problem: null });
  const tag = useRef(["", ""]);
  useEffect(() => {
    const control = new AbortController();
    const path = apiPath(run, "payoff", { of, order });
    getBytes(path, tag.current[0] === path ? tag.current[1] : "", control.signal)
      .then((news) => {
        if (!news) return;
        tag.current = [path, news.tag];
        setFound({ matrix: unpacked(news.body), problem: null });
      })
      .catch((problem) => problem.name !== "AbortError" && setFound((before) => ({ ...before, problem })));
    return () => control.abort();
  }, [run, of, order, version]);
  return found;
}

// Four bytes with the length of the header, the header, a byte for each cell.
function unpacked(body) {
  const length = new DataView(body).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 4, length)));
  return { ...header, cells: new Uint8Array(body, 4 + length) };
}

function Choice({ name, known, chosen, choose }) {
  const options = Object.entries(known).map(([key, title]) => html`<option value=${key} selected=${key === chosen}>${title}</option>`);
  return html`<label>${name} <select onChange=${(event) => choose(event.target.value)}>${options}</select></label>`;
}

function label(matrix) {
  return matrix ? `Heat map of ${matrix.players.length} players: rows against columns. Arrow keys move from cell to cell.` : "Heat map, being read";
}

// The numbers of the cell that is pointed at; read aloud when they change.
function PairLine({ run, of, pair, together, version }) {
  const [text, setText] = useState("");
  const key = pair?.join("\n");
  useEffect(() => {
    if (!pair) return setText("");
    const control = new AbortController();
    const [player, opponent] = pair;
    const timer = setTimeout(() => {
      getJson(apiPath(run, "cell", { of, player, opponent }), control.signal)
        .then((found) => setText(described(found, together)))
        .catch((problem) => problem.name !== "AbortError" && setText(problem.message));
    }, POINT_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [run, of, key, version]);
  return html`<p class="pair" role="status">${text || "Point at a cell to see its numbers."}</p>`;
}

function described({ player, opponent, cell, filled }, together) {
  if (player === opponent && !together) return `${player}: a player does not meet itself here`;
  if (!cell) return `${player} v ${opponent}: they have not met${filled === null ? "" : `; their ratings predict ${significant(filled, 2)}`}`;
  if (together) return `${player} with ${opponent}: returns ${significant(cell.mean)} over ${short(cell.games)} games`;
  const margin = cell.margin ? `; ${significant(cell.margin.mean)} a game` : "";
  const record = `${cell.wins} won, ${cell.draws} drawn, ${cell.losses} lost`;
  return `${player} scores ${percent(cell.score)} (${percent(cell.low)} to ${percent(cell.high)}) against ${opponent} over ${short(cell.games)} games${margin}; ever: ${record}`;
}

function Legend({ together }) {
  const ends = together ? ["least return", "most return"] : ["the row loses", "the row wins"];
  return html`<p class="legend"><span>${ends[0]}</span><span class="ramp" role="img" aria-label=${`from orange, ${ends[0]}, to blue, ${ends[1]}`}></span><span>${ends[1]}</span><span class="dim">pale: predicted by ratings; grey: nothing known</span></p>`;
}
