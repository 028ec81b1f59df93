// A board of a game: cells with pieces, and moves where they are legal.

import { html } from "./html.js";

const EMPTY = ".-_+ ";

// cells: rows of single characters. `legal` are actions that may be clicked: a cell, or a column of the board.
export function Board({ cells, legal = [], actions = 0, play = null, chances = {} }) {
  const [height, width] = [cells.length, cells[0].length];
  const byColumn = actions === width;
  const byCell = actions === width * height;
  const pieces = [...new Set(cells.flat().filter((cell) => !EMPTY.includes(cell)))].sort().reverse();
  const action = (row, column) => (byColumn ? column : byCell ? row * width + column : null);
  const rows = cells.map(
    (line, row) => html`<tr>${line.map((cell, column) => html`<${Cell} ...${{ cell, row, column, pieces, play, chances }} action=${action(row, column)} legal=${legal} />`)}</tr>`,
  );
  return html`<table class="board" aria-label=${`Board of ${height} rows and ${width} columns`}><tbody>${rows}</tbody></table>`;
}

function Cell({ cell, row, column, pieces, play, chances, action, legal }) {
  const empty = EMPTY.includes(cell);
  const name = empty ? "empty" : cell;
  const piece = empty ? "" : html`<span class="piece piece-${pieces.indexOf(cell) % 2}">${cell}</span>`;
  const chance = empty && chances[action] !== undefined ? html`<span class="chance">${Math.round(100 * chances[action])}%</span>` : "";
  if (!play || !legal.includes(action)) return html`<td>${piece}${chance}</td>`;
  const label = `Play ${action}: row ${row + 1}, column ${column + 1}, ${name}`;
  return html`<td><button class="move" aria-label=${label} data-action=${action} onClick=${() => play(action)}>${piece}${chance}</button></td>`;
}
