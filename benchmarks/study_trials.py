"""What the study of recipes plays: games, recipes, learners, and the command of each league. Nothing here acts.

    Trial("kuhn", "pfsp", seed=0).command(Path("runs/study"), env_steps=None)

Within a game and a learner all recipes have the same network, algorithm, batches and rules of freezing; only the
recipe differs. Learning rates and entropy bonuses are constant, so that a snapshot on the way is as good as a league
that was stopped there.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BASE = "selfplay"  # the recipe that all others are compared with
PLAIN = "plain"  # the learner without regularisation
RECIPES = {
    BASE: ("league=selfplay",),
    "fsp": ("league=fsp",),
    "pfsp": ("league=pfsp",),
    "alphastar": ("league=alphastar",),
}
LEARNERS = {PLAIN: (), "regularised": ("algo.entropy=0.1", "learner.ema=0.99")}


@dataclass(frozen=True, slots=True)
class Game:
    """A game of the study: what a league on it is made of, and how its mains are measured."""

    env_steps: int
    overrides: tuple[str, ...]
    exact: bool = True  # NashConv of players; else probes
    mixtures: bool = True  # NashConv of mixtures, too: positions must not be merged
    seeds: int = 3

    @property
    def figure(self) -> str:
        """What its mains are compared by: the less, the harder to exploit."""
        return "late" if self.exact else "probe"


SMALL = (
    "policy=mlp",
    "policy.hidden=[32]",
    "algo.batch=2048",
    "algo.minibatch=512",
    "algo.lr=1e-3",
    "learner.candidate_decisions=8192",
    "league.evaluation.share=0.02",
    "collector.slots=128",
    "collector.ticks=16",  # 128 x 16 is one batch: of more under way at once, half would be too old to learn from
)
FREEZES = ("league.promotion.min_decisions=16_384", "league.promotion.max_decisions=32_768")
BOARD = (
    "experiment=connect_four",
    "league.probe.enabled=false",
    "league.matchmaking.self_play=0.5",
    "league.matchmaking.pfsp=0.35",
    "policy.kernel=[4,4]",
    "policy.channels=64",
    "algo.lr=1.5e-3",
    "algo.lr_schedule=constant",
    "algo.entropy_final=null",
)
GAMES = {
    "rps": Game(
        300_000, ("env=rock_paper_scissors", "env.kwargs.max_cycles=1", "league.episodes=64", *SMALL, *FREEZES)
    ),
    "disc": Game(300_000, ("env=disc", "league.episodes=64", *SMALL, *FREEZES), seeds=6),
    "kuhn": Game(
        300_000,
        ("env=openspiel", "env.id=kuhn_poker", "league.payoff.scale=1", "league.episodes=32", *SMALL, *FREEZES),
    ),
    "leduc": Game(
        600_000,
        ("env=openspiel", "env.id=leduc_poker", "league.payoff.scale=3", "league.episodes=16", *SMALL, *FREEZES),
    ),
    "tic_tac_toe": Game(400_000, ("env=tic_tac_toe", "league.episodes=16", *SMALL, *FREEZES), mixtures=False),
    "connect_four": Game(700_000, BOARD, exact=False, mixtures=False),
}


@dataclass(frozen=True, slots=True)
class Trial:
    """One league of the study."""

    game: str
    recipe: str
    seed: int
    learner: str = PLAIN

    @property
    def name(self) -> str:
        """The name of its run."""
        return f"{self.game}-{self.learner}-{self.recipe}-{self.seed}"

    @property
    def group(self) -> tuple[str, str]:
        """What it has in common with the leagues that it is compared with."""
        return self.game, self.learner

    def command(self, out: Path, env_steps: int | None = None) -> list[str]:
        """Return the command that plays it."""
        return [sys.executable, "-m", "launch", "run", *self.overrides(out, env_steps), "--quiet"]

    def overrides(self, out: Path, env_steps: int | None = None) -> tuple[str, ...]:
        """Return the overrides of its league."""
        game = GAMES[self.game]
        experiment = () if any(word.startswith("experiment=") for word in game.overrides) else ("experiment=null",)
        return (
            *experiment,
            *game.overrides,
            *RECIPES[self.recipe],
            *LEARNERS[self.learner],
            *(("league.exploit_every=1",) if game.exact else ()),
            f"seed={self.seed}",
            f"name={self.name}",
            "league.budget.minutes=null",
            f"league.budget.env_steps={env_steps or game.env_steps}",
            "league.evaluation.final_games=0",
            "launch=inline",
            "launch.collectors=1",
            f"runs={out}",
        )


def plan(
    games: Sequence[str], recipes: Sequence[str], learners: Sequence[str], seeds: int | None, first: int = 0
) -> list[Trial]:
    """Return all leagues, those of one game and learner together, and of these all recipes of one seed.

    Each game has as many seeds as given, or as it says itself.

    >>> [trial.name for trial in plan(["rps"], ["selfplay", "pfsp"], ["plain"], 2)][:3]
    ['rps-plain-selfplay-0', 'rps-plain-pfsp-0', 'rps-plain-selfplay-1']
    """
    return [
        Trial(game, recipe, seed, learner)
        for game in games
        for learner in learners
        for seed in range(first, first + (seeds or GAMES[game].seeds))
        for recipe in recipes
    ]
