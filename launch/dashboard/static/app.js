// The frame of all pages: which run, which page, which theme, and whether anything is wrong.

import { link, parse } from "./address.js";
import { useJson, useStatus } from "./api.js";
import { html, render, useEffect, useMemo, useRef, useState } from "./html.js";
import { Compare } from "./pages/compare.js";
import { Curves } from "./pages/curves.js";
import { Family } from "./pages/family.js";
import { Machines } from "./pages/machines.js";
import { Matches } from "./pages/matches.js";
import { Overview } from "./pages/overview.js";
import { Payoff } from "./pages/payoff.js";
import { Runs } from "./pages/runs.js";
import { Standings } from "./pages/standings.js";
import { Why } from "./pages/why.js";
import { Notice } from "./parts.js";
import { applyTheme, chooseTheme, chosenTheme } from "./theme.js";

const PAGES = {
  overview: ["Overview", Overview],
  standings: ["Standings", Standings],
  payoff: ["Payoff", Payoff],
  curves: ["Curves", Curves],
  family: ["Family tree", Family],
  why: ["Why", Why],
  machines: ["Machines", Machines],
  matches: ["Matches", Matches],
};
const THEMES = { system: "As the system", light: "Light", dark: "Dark" };

function useAddress() {
  const [hash, setHash] = useState(window.location.hash);
  useEffect(() => {
    const turn = () => setHash(window.location.hash);
    window.addEventListener("hashchange", turn);
    turn(); // effects run after the first paint: the address may have changed before anybody listened
    return () => window.removeEventListener("hashchange", turn);
  }, []);
  return useMemo(() => parse(hash), [hash]);
}

function App() {
  const { run, page, query } = useAddress();
  const main = useRef(null);
  const comparing = run === "-"; // no run has this name
  const title = comparing ? "Compare" : run ? `${PAGES[page]?.[0] ?? "?"} of ${run}` : "Runs";
  useEffect(() => {
    document.title = `${title} - Ludus`;
    main.current?.focus({ preventScroll: true });
  }, [title]);
  return html`
    <a class="skip" href="#main" onClick=${(event) => skip(event, main)}>Skip to the content</a>
    <header>
      <a class="brand" href="#/">Ludus</a>
      ${run && !comparing && html`<${Tabs} run=${run} page=${page} />`}
      <${ThemeChoice} />
    </header>
    <main id="main" tabindex="-1" ref=${main}>
      ${comparing ? html`<${Compare} query=${query} />` : run ? html`<${RunPage} key=${run} run=${run} page=${page} query=${query} />` : html`<${Runs} />`}
    </main>`;
}

function skip(event, main) {
  event.preventDefault();
  main.current.focus();
}

function Tabs({ run, page }) {
  const tabs = Object.entries(PAGES).map(
    ([name, [title]]) => html`<a href=${link(run, name)} aria-current=${name === page ? "page" : null}>${title}</a>`,
  );
  return html`<nav aria-label="Pages of ${run}"><span class="run">${run}</span>${tabs}</nav>`;
}

function ThemeChoice() {
  const [theme, setTheme] = useState(chosenTheme());
  const choose = (event) => {
    chooseTheme(event.target.value);
    setTheme(event.target.value);
  };
  const options = Object.entries(THEMES).map(
    ([name, title]) => html`<option value=${name} selected=${name === theme}>${title}</option>`,
  );
  return html`<label class="theme">Colours <select onChange=${choose}>${options}</select></label>`;
}

function RunPage({ run, page, query }) {
  const status = useStatus(run);
  const found = useJson(`/api/runs/${encodeURIComponent(run)}/league`, status.data?.phase);
  const [title, Page] = PAGES[page] ?? ["There is no such page", null];
  if (!Page) return html`<h1>${title}</h1><p><a href=${link(run)}>Overview of ${run}</a></p>`;
  const problem = status.data?.problem || (!found.data && found.problem?.message);
  const ready = found.data && status.data?.phase;
  const shared = { run, query, league: found.data?.league, status: status.data, connected: status.connected };
  return html`
    <h1>${title}</h1>
    ${problem && html`<${Notice} kind="problem">${problem}<//>`}
    ${!status.connected && status.data && html`<${Notice}>The dashboard does not answer; these are the last numbers.<//>`}
    ${ready && !status.data.live && status.data.phase !== "over" && html`<${Notice}>No coordinator answers: these are the numbers of the ledger. The page goes on when the league does (ludus resume ${run}).<//>`}
    ${ready ? html`<${Page} ...${shared} />` : !problem && html`<${Notice}>${reading(status.data)}<//>`}`;
}

function reading(status) {
  const [read, all] = status?.reading ?? [0, 0];
  return all ? `Reading event ${read.toLocaleString("en")} of ${all.toLocaleString("en")} ...` : "Reading the run ...";
}

applyTheme();
render(html`<${App} />`, document.getElementById("app"));
