"""Does a league help? Recipes on the same game with the same learner, at equal env steps, over seeds.

    python -m benchmarks.study --games disc,kuhn --recipes selfplay,fsp,pfsp,alphastar --seeds 3 --out runs/study

Each league plays inline, so the same seed gives the same league. Where the game can be enumerated the figure is the
exact NashConv of the last main and of the pool; else it is the score of a probe from the main's own weights. A recipe
that gives others a share of the play trains its main less: the second figure compares mains at equal decisions of the
main. A league that is there already is measured again, not played again.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import ludus
from benchmarks.measure import emit
from launch.sweeps.comparing import t_interval
from league.events import CandidateWritten
from league.ids import PlayerId
from league.metrics import NASH_CONV, player_metric
from league.store.ledger import open_copy

RECIPES = ("selfplay", "fsp", "pfsp", "alphastar")
AT_ONCE = 2  # leagues that play beside each other
PROBE_STEPS = 200_000
MAIN = PlayerId("main")


@dataclass(frozen=True, slots=True)
class Game:
    """A game of the study: what a league on it is made of, and how its mains are measured."""

    env_steps: int
    overrides: tuple[str, ...]
    exact: bool = True


SMALL = (
    "policy=mlp",
    "policy.hidden=[32]",
    "algo.batch=2048",
    "algo.minibatch=512",
    "learner.candidate_decisions=16384",
)
FREEZES = ("league.promotion.min_decisions=16_384", "league.promotion.max_decisions=49_152")
GAMES = {
    "rps": Game(600_000, ("env=openspiel", "env.id=matrix_rps", "league.episodes=64", *SMALL, *FREEZES)),
    "disc": Game(600_000, ("env=disc", "league.episodes=64", *SMALL, *FREEZES)),
    "kuhn": Game(1_000_000, ("env=openspiel", "env.id=kuhn_poker", "league.episodes=32", *SMALL, *FREEZES)),
    "leduc": Game(1_000_000, ("env=openspiel", "env.id=leduc_poker", "league.payoff.scale=3", *SMALL, *FREEZES)),
    "tic_tac_toe": Game(1_000_000, ("experiment=tic_tac_toe",)),
    "connect_four": Game(1_200_000, ("experiment=connect_four", "league.probe.enabled=false"), exact=False),
}


@dataclass(frozen=True, slots=True)
class Trial:
    """One league of the study."""

    game: str
    recipe: str
    seed: int

    @property
    def name(self) -> str:
        """The name of its run."""
        return f"{self.game}-{self.recipe}-{self.seed}"

    def command(self, out: Path, env_steps: int | None) -> list[str]:
        """Return the command that plays it."""
        game = GAMES[self.game]
        experiment = () if any(word.startswith("experiment=") for word in game.overrides) else ("experiment=null",)
        measured = ("league.exploit_every=1",) if game.exact else ()
        steps = env_steps or game.env_steps
        words = (
            *experiment,
            *game.overrides,
            f"league={self.recipe}",
            *measured,
            f"seed={self.seed}",
            f"name={self.name}",
        )
        budget = ("league.budget.minutes=null", f"league.budget.env_steps={steps}", "league.evaluation.final_games=0")
        run = ("launch=inline", "launch.collectors=1", f"runs={out}")
        return [sys.executable, "-m", "launch", "run", *words, *budget, *run, "--quiet"]


def nash_convs(path: Path) -> list[tuple[int, float]]:
    """Return (decisions, NashConv) of the candidates of the main that were measured, in order."""
    name, written, found = player_metric(MAIN, NASH_CONV), [], []
    with open_copy(path / "ledger.sqlite") as ledger:
        for seq, event in ledger.events():
            if isinstance(event, CandidateWritten) and event.player == MAIN:
                written.append((seq, event.decisions))
        for row in ledger.metrics(0, ledger.head):
            if name in row.values:
                found.append((max(decisions for seq, decisions in written if seq <= row.seq), row.values[name]))
    return found


def measure(trial: Trial, out: Path, probe_steps: int) -> dict[str, float]:
    """Return the figures of a league that is over."""
    league = ludus.open(str(out / trial.name))
    candidate = league.state.candidate(MAIN)
    figures = {"decisions": float(candidate.decisions if candidate is not None else 0)}
    if GAMES[trial.game].exact:
        figures["main"] = league.exploit("main").figures.nash_conv
        figures["pool"] = league.exploit("pool").figures.nash_conv
        return figures
    report = league.probe("main", probe_steps)
    return figures | {"main": report.score.score}


def at_equal_decisions(trials: Sequence[Trial], out: Path, figures: dict[Trial, dict[str, float]]) -> None:
    """Add the NashConv that each main had when it was as old as the youngest main of its game and seed."""
    for trial in trials:
        same = [other for other in trials if (other.game, other.seed) == (trial.game, trial.seed)]
        common = min(figures[other]["decisions"] for other in same)
        if GAMES[trial.game].exact:
            curve = nash_convs(out / trial.name)
            figures[trial]["main_at_equal_decisions"] = min(curve, key=lambda point: abs(point[0] - common))[1]


def summarise(trials: Sequence[Trial], figures: dict[Trial, dict[str, float]]) -> None:
    """Emit the mean over seeds with its interval, for each game and recipe."""
    for (game, recipe), group in itertools.groupby(trials, key=lambda trial: (trial.game, trial.recipe)):
        members = list(group)
        for name in figures[members[0]]:
            values = [figures[trial][name] for trial in members]
            reach = t_interval(values)[1] if len(values) > 1 else None
            emit(
                "study", game=game, recipe=recipe, figure=name, mean=statistics.mean(values), reach=reach, seeds=values
            )


def main() -> None:
    """Play what is missing, measure all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__.splitlines()[0])
    parser.add_argument("--games", default=",".join(GAMES))
    parser.add_argument("--recipes", default=",".join(RECIPES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--env-steps", type=int, help="of each league, instead of those of the game")
    parser.add_argument("--probe-steps", type=int, default=PROBE_STEPS)
    parser.add_argument("--out", type=Path, default=Path("runs/study"))
    arguments = parser.parse_args()
    games, recipes = arguments.games.split(","), arguments.recipes.split(",")
    trials = [Trial(g, r, seed) for g in games for r in recipes for seed in range(arguments.seeds)]
    commands = [trial.command(arguments.out, arguments.env_steps) for trial in trials]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for trial, done in zip(trials, pool.map(subprocess.run, commands), strict=True):
            emit("played", run=trial.name, code=done.returncode)
    figures = {trial: measure(trial, arguments.out, arguments.probe_steps) for trial in trials}
    at_equal_decisions(trials, arguments.out, figures)
    (arguments.out / "study.json").write_text(json.dumps({t.name: f for t, f in figures.items()}, indent=1))
    summarise(trials, figures)


if __name__ == "__main__":
    main()
