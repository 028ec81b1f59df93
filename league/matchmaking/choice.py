"""Choices: whom a player may meet next, how probably, and why.

choices = matchmaker(config)(player, population, payoff)     # league.matchmaking.asking: what `explain` prints
choice = sample(choices, rng)                                # who is met: sampled from just that
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter

import msgspec
import numpy as np

from league.ids import PlayerId
from league.player import Player


class Choice(msgspec.Struct, frozen=True):
    """An opponent, whether its live weights play, how probable it is, and which rule proposed it."""

    opponent: PlayerId
    live: bool
    probability: float
    why: str


_probability = attrgetter("probability")

Part = tuple[Sequence[Player], Sequence[float], str]
"""Some opponents, the probability of each, and why."""


def mixture(parts: Iterable[Part]) -> list[Choice]:
    """Return the choices of all parts: the same opponent for the same reason once, sum 1, none impossible."""
    found: dict[tuple[PlayerId, bool, str], float] = {}
    for players, probabilities, why in parts:
        for player, probability in zip(players, probabilities, strict=True):
            key = (player.id, player.learning, why)
            found[key] = found.get(key, 0.0) + probability
    total = sum(found.values())
    if not total > 0:
        raise ValueError("a matchmaker proposed nobody")
    return [Choice(who, live, p / total, why) for (who, live, why), p in found.items() if p > 0]


def sample(choices: Sequence[Choice], rng: np.random.Generator) -> Choice:
    """Return one of the choices. If some were left out, the others keep their proportions."""
    if not choices:
        raise ValueError("there is nobody to choose: every choice was left out")
    left = rng.random() * sum(map(_probability, choices))
    for choice in choices:
        left -= choice.probability
        if left < 0:
            return choice
    return choices[-1]  # rounding: the probabilities summed to a little less than their parts
