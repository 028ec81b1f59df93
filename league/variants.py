"""Variants: the maps, sizes or openings that one league plays, each in its share of the episodes.

    variants = spin({"small": 3.0, "large": 1.0})
    variant_number(seed, variants)              # an episode's variant follows from its seed alone
    seed_in(seed, variants[1])                  # a seed of that variant

So a replay needs nothing but the seed, both episodes of a pair have the same variant, and whatever starts an episode
with a random seed plays each variant with its weight.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from league import limits

WHEEL = 1 << 16  # numbers that variants divide among themselves; an episode's is its seed modulo this
MOST_VARIANTS = 64


class Variant(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A variant, and its numbers on the wheel: those from `begin` on that are less than `end`."""

    name: limits.Process
    begin: limits.OnWheel
    end: limits.OnWheel

    @property
    def share(self) -> float:
        """The share of episodes that it has where nothing else chooses."""
        return (self.end - self.begin) / WHEEL


def spin(weights: Mapping[str, float]) -> tuple[Variant, ...]:
    """Return variants whose shares follow their weights; each has at least one number of the wheel.

    >>> [(variant.name, round(variant.share, 3)) for variant in spin({"small": 3.0, "large": 1.0})]
    [('small', 0.75), ('large', 0.25)]
    """
    total, rest = sum(weights.values()), WHEEL - len(weights)
    ends = np.cumsum([weight / total for weight in weights.values()]) * rest
    marks = [0, *(round(end) + number for number, end in enumerate(ends, start=1))]
    return tuple(Variant(name, begin, end) for name, begin, end in zip(weights, marks, marks[1:], strict=False))


def variant_number(seed: int, variants: Sequence[Variant]) -> int:
    """Return the number of the variant that an episode with this seed plays; 0 if there are none."""
    return int(variant_numbers(np.array([seed]), variants)[0]) if variants else 0


def variant_numbers(seeds: npt.NDArray[np.int64], variants: Sequence[Variant]) -> npt.NDArray[np.intp]:
    """Return the number of the variant of each seed."""
    return np.searchsorted([variant.end for variant in variants], seeds % WHEEL, side="right")


def seeds_in_turn(numbers: Sequence[int], variants: Sequence[Variant]) -> list[int]:
    """Return a seed for each episode, by its number, so that episodes have all variants in turn.

    Without variants they are the numbers themselves.

    >>> variants = spin({"small": 3.0, "large": 1.0})
    >>> variant_numbers(np.array(seeds_in_turn(range(1, 5), variants)), variants).tolist()
    [1, 0, 1, 0]
    >>> seeds_in_turn(range(1, 5), ())
    [1, 2, 3, 4]
    """
    if not variants:
        return list(numbers)
    around = [(number, *divmod(number, len(variants))) for number in numbers]  # turns of the wheel keep seeds apart
    return [seed_in(number + turn * WHEEL, variants[place]) for number, turn, place in around]


def seed_in(seed: int, variant: Variant) -> int:
    """Return a seed of a variant that is made from another seed.

    >>> small, large = spin({"small": 3.0, "large": 1.0})
    >>> variant_number(seed_in(12345, large), (small, large)), variant_number(seed_in(54321, small), (small, large))
    (1, 0)
    """
    return seed - seed % WHEEL + variant.begin + seed % (variant.end - variant.begin)
