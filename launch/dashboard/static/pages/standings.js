// All players, the strongest first. Every number leads to the games behind it.

import { link } from "../address.js";
import { apiPath, getJson } from "../api.js";
import { useCurves } from "../curves.js";
import { DASH, count, percent, rating, reach, short, significant } from "../format.js";
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { Notice, Past, Rows, Sparkline } from "../parts.js";

const FIRST = 100; // rows that are shown at once
const CURVES = 40; // rows with a curve

export function Standings({ run, league, status, query }) {
  const { rows, notes, problem } = useStandings(run, status.standings);
  const [filter, setFilter] = useState(query.player ?? "");
  const [all, setAll] = useState(false);
  const found = useMemo(() => matching(rows, filter), [rows, filter]);
  const shown = all ? found : found.slice(0, FIRST);
  const anchors = league.together ? [] : Object.keys(league.anchors);
  const returns = rows.some((row) => row.returns); // where the game is not zero-sum
  const { sparks, complete, reading } = useSparks(run, league, shown, status.seq);
  if (problem) return html`<${Notice} kind="problem">${problem.message}<//>`;
  return html`
    <p>
      <label>Only players with <input type="search" value=${filter} onInput=${(event) => setFilter(event.target.value)} /></label>
      <span class="dim"> in their name, kind or parent</span>
    </p>
    <div class="scroll" tabindex="0" role="region" aria-label="Standings">
      <table class="standings">
        <caption>${caption(league)}</caption>
        <thead><tr>${heads(league, anchors, returns).map(([name, title]) => html`<th scope="col" title=${title}>${name}</th>`)}</tr></thead>
        <tbody>
          ${shown.map((row) => html`<${Row} key=${row.player} row=${row} run=${run} league=${league} anchors=${anchors} returns=${returns} spark=${sparks[row.player]} />`)}
        </tbody>
      </table>
    </div>
    ${!complete && reading && html`<${Past} reading=${reading} />`}
    <${Rows} shown=${shown.length} all=${found.length} onMore=${() => setAll(true)} />
    ${notes.length > 0 && html`<h2>Notes</h2><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`}`;
}

// All rows once, then those that have changed.
function useStandings(run, version) {
  const [found, setFound] = useState({ rows: [], notes: [], problem: null });
  const known = useRef({ version: 0, rows: new Map() });
  useEffect(() => {
    const control = new AbortController();
    const since = known.current.version;
    getJson(apiPath(run, "standings", { since }), control.signal)
      .then((news) => {
        const rows = news.version < since ? new Map() : known.current.rows;
        for (const row of news.rows) rows.set(row.player, row);
        known.current = { version: news.version, rows };
        setFound({ rows: [...rows.values()].sort((a, b) => a.place - b.place), notes: news.notes, problem: null });
      })
      .catch((problem) => problem.name !== "AbortError" && setFound((before) => ({ ...before, problem })));
    return () => control.abort();
  }, [run, version]);
  return found;
}

function useSparks(run, league, rows, version) {
  const scale = league.by === "outcome" ? "elo/" : "margin/";
  const names = rows.slice(0, CURVES).map((row) => `${scale}${row.player}`);
  const { series, complete, reading } = useCurves(run, league.together ? [] : names, version);
  const sparks = useMemo(
    () => Object.fromEntries(Object.entries(series).map(([name, one]) => [name.slice(scale.length), one.values.slice(-60)])),
    [series],
  );
  return { sparks, complete: complete || league.together, reading };
}

function matching(rows, filter) {
  const text = filter.trim().toLowerCase();
  if (!text) return rows;
  return rows.filter((row) => [row.player, row.kind, row.parent ?? ""].some((part) => part.toLowerCase().includes(text)));
}

function caption(league) {
  if (league.together) return "Mean return with itself and with others, with 95 % intervals.";
  const unit = league.by === "outcome" ? "points of Elo" : "units of return a game";
  return `Ratings in ${unit} with 95 % intervals, fitted to evaluation games: snapshots only.`;
}

function heads(league, anchors, returns) {
  const strength = league.together
    ? [["With itself", "mean return"], ["With others", "mean return"]]
    : [
        [league.by === "outcome" ? "Elo" : "Margin", "rating with its 95 % interval"],
        ["Course", "the rating over time"],
        ["W / D / L", "evaluation games won, drawn and lost"],
        ["Score", "share of points against all"],
        ...anchors.map((anchor) => [`v ${anchor}`, `score against ${anchor}; of a learning player, its newest candidate`]),
        ["Nash", "share of the Nash mixture"],
      ];
  return [["#", "place"], ["Player", "its name"], ["Kind", ""], ...strength, ...(returns ? [["Return", "mean return in each role"]] : []), ["Games", "evaluation games that still count"], ["Frozen from", "its parent"]];
}

function Row({ row, run, league, anchors, returns, spark }) {
  const games = (against) => link(run, "matches", { player: row.player, against, purpose: "evaluate" });
  return html`
    <tr class=${row.status}>
      <td class="number">${row.place}</td>
      <th scope="row"><a href=${link(run, "matches", { player: row.player })}>${row.player}</a></th>
      <td>${row.kind}</td>
      ${league.together ? html`<${Returned} row=${row} />` : html`<${Strength} row=${row} run=${run} games=${games} anchors=${anchors} spark=${spark} />`}
      ${returns && html`<td class="number">${roles(row)}</td>`}
      <td class="number"><a href=${games()}>${short(row.games)}</a></td>
      <td>${row.parent ? html`<a href=${link(run, "standings", { player: row.parent })}>${row.parent}</a>` : DASH}</td>
    </tr>`;
}

function Strength({ row, run, games, anchors, spark }) {
  return html`
    <td class="number rating"><a href=${games()}>${rating(row)}</a> <span class="dim">${reach(row)}</span></td>
    <td><${Sparkline} values=${spark} /></td>
    <td class="number"><a href=${games()}>${count(row.wins)} / ${count(row.draws)} / ${count(row.losses)}</a></td>
    <td class="number">${percent(row.win_share)}</td>
    ${anchors.map((anchor) => html`<td class="number">${anchor === row.player ? DASH : html`<a href=${games(anchor)}>${anchorScore(row, anchor)}</a>`}</td>`)}
    <td class="number">${row.nash === null || row.nash < 0.005 ? DASH : percent(row.nash)}</td>`;
}

function anchorScore(row, anchor) {
  const newest = row.candidate[anchor];
  if (!newest) return percent(row.anchors[anchor]);
  const spread = 100 * Math.max(newest.high - newest.score, newest.score - newest.low);
  return `${percent(newest.score)} ±${spread.toFixed(0)}`;
}

function Returned({ row }) {
  const cell = (mean) => (mean ? `${significant(mean.mean, 4)}${mean.high === null ? "" : ` ±${significant(mean.high - mean.mean, 2)}`}` : DASH);
  return html`<td class="number">${cell(row.own)}</td><td class="number">${cell(row.cross)}</td>`;
}

function roles(row) {
  const found = Object.entries(row.returns ?? {}).filter(([, kept]) => kept.mean);
  if (!found.length) return DASH;
  return found.map(([role, kept]) => `${found.length > 1 ? `${role} ` : ""}${significant(kept.mean.mean)}`).join(", ");
}
