// What is being trained, how far it is, how strong the mains are, and whether anything needs attention.

import { link } from "../address.js";
import { Chart } from "../chart.js";
import { useCurves } from "../curves.js";
import { clock, count, percent, short, significant } from "../format.js";
import { html, useMemo } from "../html.js";
import { Alarms, Bar, Fact, Facts, Past } from "../parts.js";

const WAITING = 1 / 3; // of its time: more is worth a look

export function Overview({ run, league, status }) {
  return html`
    <p class="lead">${story(league)}</p>
    <${Progress} league=${league} status=${status} />
    <h2>Alarms</h2>
    <${Alarms} alarms=${status.alarms} />
    <h2>Strength</h2>
    <${Ratings} run=${run} league=${league} status=${status} />
    <h2>Work</h2>
    <${Work} run=${run} status=${status} />`;
}

function story(league) {
  const who = league.learning.map((one) => one.player).join(", ");
  const game = league.game ?? "a game that is not known yet";
  return who
    ? `${who} ${league.learning.length > 1 ? "learn" : "learns"} ${game} with ${league.algorithm} (${league.network}); seed ${league.seed}.`
    : `Nobody learns here: ${game} is played for ratings only.`;
}

function Progress({ league, status }) {
  const [share, left] = progress(league, status);
  const state = status.phase === "over" ? `over: ${status.why}` : status.live ? status.phase : `${status.phase}, stopped`;
  return html`
    <${Facts}>
      <${Fact} name="State">${status.paused ? `${state} (paused)` : state}<//>
      <${Fact} name="Played">${clock(status.elapsed)}<//>
      <${Fact} name="Left">${left}<//>
      <${Fact} name="Matches">${count(status.matches)}${status.void ? ` (${count(status.void)} void)` : ""}<//>
      <${Fact} name="Env steps">${count(status.env_steps)}<//>
      <${Fact} name="Players">${count(status.players)} (${count(status.frozen)} frozen)<//>
    <//>
    ${share !== null && html`<p class="budget"><${Bar} share=${share} label=${`${percent(share)} of the budget`} /> ${percent(share)} of the budget</p>`}`;
}

// How much of the budget is spent, and what is left of it, as far as it has one.
function progress(league, status) {
  if (status.phase === "over") return [null, "nothing"];
  if (status.final_wanted !== null && status.final_wanted !== undefined) {
    return [status.final_done / status.final_wanted, `${count(status.final_wanted - status.final_done)} final games`];
  }
  const { minutes, env_steps: steps } = league.budget;
  const shares = [minutes && status.elapsed / (60 * minutes), steps && status.env_steps / steps].filter(Boolean);
  const share = shares.length ? Math.min(1, Math.max(...shares)) : null;
  const left = minutes ? clock(status.seconds_left) : steps ? `${short(steps - status.env_steps)} env steps` : "no limit";
  return [share, left];
}

function Ratings({ run, league, status }) {
  const scale = league.by === "outcome" ? "elo/" : "margin/";
  const names = league.mains.flatMap((main) => ["", "_low", "_high"].map((end) => `${scale}${main}${end}`));
  const own = league.mains.map((main) => `return/${main}_own`);
  const { series, complete, reading } = useCurves(run, league.together ? own : names, status.seq);
  const lines = useMemo(
    () =>
      league.mains.map((main) => {
        const [mid, low, high] = ["", "_low", "_high"].map((end) => series[`${scale}${main}${end}`]);
        const shown = league.together ? series[`return/${main}_own`] : mid;
        const banded = low && high && mid && low.values.length === mid.values.length;
        return { label: main, x: shown?.matches ?? [], y: shown?.values ?? [], ...(banded ? { low: low.values, high: high.values } : {}) };
      }),
    [series, league],
  );
  const what = league.together ? "return with itself" : league.by === "outcome" ? "Elo" : "margin a game";
  return html`
    <${Chart} title=${`Rating of ${league.mains.join(", ")}, with the 95 % interval`} lines=${lines} xLabel="matches" yLabel=${what} />
    ${!complete && html`<${Past} reading=${reading} />`}
    <p><a href=${link(run, "standings")}>Standings</a> · <a href=${link(run, "curves")}>All curves</a></p>`;
}

function Work({ run, status }) {
  const { series } = useCurves(run, ["charts/SPS"], status.seq);
  const speed = series["charts/SPS"];
  const lines = useMemo(() => [{ label: "all collectors", x: speed?.env_steps ?? [], y: speed?.values ?? [] }], [speed]);
  const waits = [["collectors", status.collector_wait], ["learners", status.learner_wait]];
  return html`
    <${Facts}>
      <${Fact} name="Env steps per second">${short(status.env_steps_per_second)}<//>
      ${waits.map(
        ([name, share]) => html`
          <${Fact} name=${`${name} wait`}>
            ${percent(share)} ${share !== null && html`<${Bar} share=${share} warn=${share > WAITING} label=${`${name} wait ${percent(share)} of their time`} />`}
          <//>`,
      )}
      <${Fact} name="Lag in versions, mean and p95">${significant(status.lag_mean, 2)}, ${significant(status.lag_p95, 2)}<//>
    <//>
    <${Chart} title="Throughput" lines=${lines} xLabel="env steps" yLabel="per second" height=${200} />`;
}
