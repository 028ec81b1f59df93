"""Does a league help? Recipes on the same game with the same learner, at equal env steps, over seeds.

    python -m benchmarks.study --games disc,kuhn --recipes selfplay,fsp,pfsp,alphastar --seeds 3 --out runs/study

Each league plays inline, so the same seed gives the same league. Where the game can be enumerated the figure is the
exact NashConv of the main and of mixtures of the pool; else it is the score of a probe from the main's own weights. A
recipe that gives others a share of the play trains its main less: the second figure compares mains at equal decisions
of the main. What is there already is read, not played or trained again. The output is study.json, study.md and
study.png in the folder of the runs: bold is surely harder to exploit than self-play, italic surely easier.
"""

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from benchmarks.measure import emit
from benchmarks.study_measures import duels_of, measure_all, probed_player, run_of
from benchmarks.study_plot import draw
from benchmarks.study_tables import Duel, Figures, Row, common_decisions, harder, markdown, summarise
from benchmarks.study_trials import GAMES, LEARNERS, PLAIN, RECIPES, Trial, plan
from launch.comparisons.milestones import read_milestones
from launch.processes.ending import finished

PROBE_STEPS = 200_000
GAMES_PER_DUEL = 400


class Runner:
    """Runs commands, some at once, each behind a prefix such as `nice`; stops at the first one that fails."""

    def __init__(self, at_once: int, prefix: Sequence[str]) -> None:
        self._at_once, self._prefix = at_once, prefix

    def run(self, commands: dict[str, list[str]]) -> None:
        """Run all these commands, by name."""
        with ThreadPoolExecutor(self._at_once) as pool:
            for name, code in zip(commands, pool.map(self._call, commands.values()), strict=True):
                emit("done", run=name, code=code)
                if code:
                    pool.shutdown(cancel_futures=True)
                    raise SystemExit(f"{name} failed with code {code}: {shlex.join(commands[name])}")

    def _call(self, command: list[str]) -> int:
        return subprocess.run([*self._prefix, *command], stdout=subprocess.DEVNULL, check=False).returncode


def play(trials: Sequence[Trial], out: Path, env_steps: int | None, runner: Runner) -> None:
    """Play the leagues that are not over yet."""
    missing = [trial for trial in trials if finished(run_of(trial, out)) is None]
    runner.run({trial.name: trial.command(out, env_steps) for trial in missing})


def probe(trials: Sequence[Trial], out: Path, steps: int, runner: Runner) -> None:
    """Train the probes that will be read: against the last main, and against the one at equal decisions."""
    chosen = [trial for trial in trials if not GAMES[trial.game].exact]
    known = {trial: {"decisions": read_milestones(run_of(trial, out))[1][-1].decisions} for trial in chosen}
    commands = {}
    for trial in chosen:
        equal = probed_player(trial, out, common_decisions(trial, known)).label
        for player in dict.fromkeys(("main", equal)):
            words = ["probe", str(out / trial.name), player, "--steps", str(steps), "--inline"]
            commands[f"probe of {trial.name} {player}"] = [sys.executable, "-m", "launch", *words]
    runner.run(commands)


def write(stem: Path, figures: Figures, rows: Sequence[Row], duels: Sequence[Duel]) -> None:
    """Write everything as JSON, the tables as Markdown, and the plot: files with this stem."""
    plain = {
        "figures": {trial.name: dict(values) for trial, values in figures.items()},
        "rows": [asdict(row) | {"verdict": row.verdict} for row in rows],
        "duels": [asdict(duel) for duel in duels],
        "surely_harder": {f"{recipe}, {who}": games for (who, recipe), games in harder(rows).items()},
    }
    stem.with_suffix(".json").write_text(json.dumps(plain, indent=1))
    stem.with_suffix(".md").write_text(markdown(rows, duels))
    draw(rows, stem.with_suffix(".png"))


def main() -> None:
    """Play and train what is missing, measure all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__.splitlines()[0])
    parser.add_argument("--games", default=",".join(GAMES))
    parser.add_argument("--recipes", default=",".join(RECIPES))
    parser.add_argument("--learners", default=PLAIN, help=f"of {', '.join(LEARNERS)}")
    parser.add_argument("--seeds", type=int, help="of each game, instead of its own number: 3 or more")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--env-steps", type=int, help="of each league, instead of those of the game")
    parser.add_argument("--probe-steps", type=int, default=PROBE_STEPS)
    parser.add_argument("--duel-games", type=int, default=GAMES_PER_DUEL)
    parser.add_argument("--at-once", type=int, default=2, help="leagues and probes beside each other")
    parser.add_argument("--prefix", default="", metavar="'nice -n 5'", help="what starts each of them")
    parser.add_argument("--only-play", action="store_true", help="measure nothing yet")
    parser.add_argument("--out", type=Path, default=Path("runs/study"), help="where the runs are")
    parser.add_argument("--report", default="study", help="the name of the files with the results, there")
    told = parser.parse_args()
    named = (told.games.split(","), told.recipes.split(","), told.learners.split(","))
    trials = plan(*named, told.seeds, told.first)
    runner = Runner(told.at_once, shlex.split(told.prefix))
    play(trials, told.out, told.env_steps, runner)
    if told.only_play:
        return
    probe(trials, told.out, told.probe_steps, runner)
    figures = measure_all(trials, told.out, told.probe_steps)
    rows, duels = summarise(figures), duels_of(trials, told.out, told.duel_games)
    write(told.out / told.report, figures, rows, duels)
    print(markdown(rows, duels))


if __name__ == "__main__":
    main()
