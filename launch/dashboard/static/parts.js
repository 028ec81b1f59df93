// Small parts that several pages use.

import { link } from "./address.js";
import { count } from "./format.js";
import { html } from "./html.js";

export function Notice({ kind = "note", children }) {
  return html`<p class="notice ${kind}" role=${kind === "problem" ? "alert" : "status"}>${children}</p>`;
}

export function Fact({ name, children }) {
  return html`<div class="fact"><dt>${name}</dt><dd>${children}</dd></div>`;
}

export function Facts({ children }) {
  return html`<dl class="facts">${children}</dl>`;
}

// A share from 0 to 1 as a bar, with its number beside it.
export function Bar({ share, label, warn = false }) {
  const width = `${Math.min(100, Math.max(0, 100 * share)).toFixed(1)}%`;
  return html`
    <span class="bar" role="img" aria-label=${label}>
      <span class=${warn ? "fill warn" : "fill"} style=${{ width }}></span>
    </span>`;
}

export function PlayerLink({ run, player }) {
  return html`<a href=${link(run, "matches", { player })}>${player}</a>`;
}

// A curve in one line of a table; the numbers are beside it, so it needs no text of its own.
export function Sparkline({ values }) {
  if (!values || values.length < 2) return null;
  const [width, height] = [84, 20];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const x = (i) => ((width - 2) * i) / (values.length - 1) + 1;
  const y = (value) => height - 2 - ((height - 4) * (value - least)) / (most - least || 1);
  const path = values.map((value, i) => `${i ? "L" : "M"}${x(i).toFixed(1)},${y(value).toFixed(1)}`).join("");
  return html`<svg class="spark" width=${width} height=${height} aria-hidden="true"><path d=${path} /></svg>`;
}

export function Alarms({ alarms }) {
  if (!alarms?.length) return html`<p class="dim">No alarms.</p>`;
  return html`
    <ul class="alarms">
      ${alarms.map(
        (alarm) => html`
          <li key=${alarm.name}>
            <strong>${alarm.what}</strong>
            <p>${alarm.meaning}</p>
            <p class="advice">${alarm.advice}</p>
          </li>`,
      )}
    </ul>`;
}

// How far the events of a run are read; what needs only its newest state is there already.
export function Past({ reading }) {
  const [read, all] = reading ?? [0, 0];
  const far = all ? `: event ${count(read)} of ${count(all)}` : "";
  return html`<p class="dim unread">The past is still being read${far}; curves grow meanwhile.</p>`;
}

export function Rows({ shown, all, onMore }) {
  if (shown >= all) return null;
  return html`<p class="dim">${count(shown)} of ${count(all)} rows. <button onClick=${onMore}>Show all</button></p>`;
}
