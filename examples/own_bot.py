"""A scripted player of your own: `python examples/own_bot.py`.

Nim is solved, so here is the perfect player. It has no anchor, so its rating is measured like any other's.
"""

import sys

import numpy as np

import ludus


class Perfect:
    """Leaves a multiple of four sticks if it can, else takes any number."""

    def __init__(self, spec):
        if spec.actions != 3:
            raise ValueError(f"this bot plays Nim only, not {spec.name}")

    def act(self, observation, mask, rng):
        """Return an action for each row, and its log-probability: 0, as nobody learns from a bot."""
        sticks = observation.argmax(axis=1)
        anything = np.where(mask, rng.random(mask.shape), -1.0).argmax(axis=1)
        actions = np.where(sticks % 4 > 0, sticks % 4 - 1, anything)
        return actions.astype(np.int32), np.zeros(len(actions), np.float32)


LEAGUE = [
    "name=nim_with_bot",
    "env.name=native_environment:Nim",
    "experiment=null",
    "league=pfsp",
    "+league.players.perfect={kind: scripted, bot: 'own_bot:Perfect'}",
    "launch=inline",
    "policy.hidden=[64]",
    "algo.batch=2048",
    "algo.lr=2e-3",
    "collector.slots=64",
    "learner.candidate_decisions=8192",
    "league.budget.env_steps=100_000",
    "league.promotion.min_decisions=20_000",
    "league.promotion.max_decisions=20_000",
]


def main(overrides):
    """Train, and see how near to perfect play it came."""
    league = ludus.run([*LEAGUE, *overrides], allow=["own_bot", "native_environment"])
    for row in league.standings():
        print(row.place, row.player, row.rating)
    print(league.play("main", "perfect", episodes=200))


if __name__ == "__main__":
    main(sys.argv[1:])
