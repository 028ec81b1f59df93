// Who was frozen from whom: a tree, laid out by d3-hierarchy, with resets and with who broke whom.

import { link } from "../address.js";
import { apiPath, useJson, useTicks } from "../api.js";
import { count, percent } from "../format.js";
import { html, useMemo } from "../html.js";
import { Notice } from "../parts.js";

const [ROW, COLUMN, NAME] = [20, 150, 140]; // pixels
const MOST = 400; // players in the picture; the table below has all of them

export function Family({ run, status }) {
  const { data, problem } = useJson(apiPath(run, "tree"), `${status.players}-${useTicks(10)}`);
  if (problem) return html`<${Notice} kind="problem">${problem.message}<//>`;
  if (!data) return html`<${Notice}>Reading the past ...<//>`;
  return html`
    ${!data.complete && html`<p class="dim">The past is still being read: some times are missing.</p>`}
    <${Tree} run=${run} players=${data.players} />
    <${Broken} run=${run} players=${data.players} />
    <${Resets} resets=${data.resets} />`;
}

function Tree({ run, players }) {
  const layout = useMemo(() => laidOut(players.slice(0, MOST)), [players]);
  const text = `Family tree of ${players.length} players: ${players.filter((one) => one.parent).length} were frozen from a learning one.`;
  return html`
    <p>${text}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Family tree">
      <svg class="tree" width=${layout.width} height=${layout.height} role="group" aria-label=${text}>
        ${layout.links.map((path) => html`<path d=${path} />`)}
        ${layout.nodes.map(({ x, y, one }) => html`<${Node} run=${run} x=${x} y=${y} one=${one} />`)}
      </svg>
    </div>`;
}

// Each learning, scripted or mixed player is a child of an invisible root, and each frozen one a child of its parent.
function laidOut(players) {
  const names = new Set(players.map((one) => one.player));
  const rows = [{ player: "", parent: null }, ...players.map((one) => ({ ...one, parent: names.has(one.parent) ? one.parent : "" }))];
  const root = window.d3.stratify().id((one) => one.player || "\u0000").parentId((one) => (one.player === "" ? "" : one.parent || "\u0000"))(rows);
  const tree = window.d3.cluster().nodeSize([ROW, COLUMN]).separation(() => 1)(root);
  let least = 0;
  let most = 0;
  tree.each((node) => {
    node.y = (node.depth - 1) * COLUMN + 12;
    least = Math.min(least, node.x);
    most = Math.max(most, node.x);
  });
  const shown = tree.descendants().filter((node) => node.depth);
  const at = (node) => [node.y, node.x - least + ROW];
  const links = shown.filter((node) => node.depth > 1).map((node) => curve(after(at(node.parent), node.parent.data.player), at(node)));
  const depth = Math.max(1, ...shown.map((node) => node.depth));
  return { width: depth * COLUMN + NAME, height: most - least + 2 * ROW, links, nodes: shown.map((node) => ({ x: at(node)[0], y: at(node)[1], one: node.data })) };
}

// Where a link leaves a player: behind its name.
function after([x, y], name) {
  return [Math.min(x + 14 + 7 * name.length, x + COLUMN - 20), y];
}

function curve([x0, y0], [x1, y1]) {
  const middle = (x0 + x1) / 2;
  return `M${x0},${y0}C${middle},${y0} ${middle},${y1} ${x1},${y1}`;
}

function Node({ run, x, y, one }) {
  const broke = Object.keys(one.broke).length > 0;
  const title = [one.kind, one.match === null ? "" : `since match ${count(one.match)}`, one.why, broke ? `broke ${Object.keys(one.broke).join(", ")}` : ""].filter(Boolean).join("; ");
  return html`
    <a href=${link(run, "matches", { player: one.player })} aria-label=${`${one.player}: ${title}`}>
      <title>${title}</title>
      <circle cx=${x} cy=${y} r="4" class=${broke ? "broke" : one.status} />
      <text x=${x + 8} y=${y + 4}>${one.player}</text>
    </a>`;
}

function Broken({ run, players }) {
  const rows = players.flatMap((one) => Object.entries(one.broke).filter(([, score]) => score > 0.5).map(([target, score]) => ({ one, target, score })));
  return html`
    <h2>Which exploiter broke whom</h2>
    ${rows.length === 0
      ? html`<p class="dim">No exploiter was frozen that won against its target.</p>`
      : html`<ul>${rows.reverse().map(({ one, target, score }) => html`<li><a href=${link(run, "matches", { player: one.player, against: target })}>${one.player}</a> scored ${percent(score)} against ${target} when it was frozen${one.match === null ? "" : `, after ${count(one.match)} matches`}</li>`)}</ul>`}`;
}

function Resets({ resets }) {
  return html`
    <h2>Resets</h2>
    ${resets.length === 0
      ? html`<p class="dim">Nobody was reset.</p>`
      : html`<ul>${[...resets].reverse().map((one) => html`<li>${one.player} began again as incarnation ${one.incarnation}, after ${count(one.match)} matches, from ${one.start ? `snapshot ${one.start.slice(0, 12)}` : "its initial weights"}</li>`)}</ul>`}`;
}
