"""Perturbations: weights plus noise from a table that every process makes for itself, so that only offsets travel.

    table = NoiseTable(perturbed_part(policy, spec))
    weights = table.perturbed(flat, offset=table.offset_of(seed), sign=-1, sigma=0.1)

Salimans et al. 2017: the table is the same in all processes, as its seed is fixed, and rows of it may overlap.
"""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt

from league.policies.layout import FloatArray, PolicyConfig, describe
from league.spec import EnvSpec

SEED = 0x11D05  # of the table: processes that differ in it would learn from noise that nobody played
LEAST = 1 << 22  # numbers in the table, at least,
TIMES = 4  # and times the weights
CRITIC = ("value.", "critic_")  # built-in layers that do not act


def fixed_part(policy: PolicyConfig, spec: EnvSpec) -> npt.NDArray[np.bool_]:
    """Return which of the weights no gradient changes: statistics, and what the learner sets."""
    layout = describe(policy, spec)
    return np.repeat([name in layout.untrained for name in layout.shapes], layout.sizes)


def perturbed_part(policy: PolicyConfig, spec: EnvSpec) -> npt.NDArray[np.bool_]:
    """Return which of the weights are perturbed: those that training may change and that play depends on."""
    layout = describe(policy, spec)
    acts = [name not in layout.untrained and not (policy.ours and name.startswith(CRITIC)) for name in layout.shapes]
    return np.repeat(acts, layout.sizes)


@cache
def _table(size: int) -> FloatArray:
    return np.random.Generator(np.random.PCG64(SEED)).standard_normal(size, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class NoiseTable:
    """Standard normal numbers for the perturbed ones of W weights."""

    part: npt.NDArray[np.bool_]  # [W]
    _count: int = field(init=False)  # of perturbed weights

    def __post_init__(self) -> None:
        """Count the perturbed weights."""
        object.__setattr__(self, "_count", int(self.part.sum()))

    @property
    def offsets(self) -> int:
        """The number of offsets: those from 0 to this minus 1 are valid."""
        return max(LEAST, TIMES * self._count) - self._count + 1

    def offset_of(self, seed: int) -> int:
        """Return an offset that depends on the seed only."""
        return seed % self.offsets

    def noise(self, offset: int) -> FloatArray:
        """Return the noise at an offset, one number for each perturbed weight."""
        return _table(max(LEAST, TIMES * self._count))[offset : offset + self._count]

    def perturbed(self, flat: FloatArray, offset: int, sign: int, sigma: float) -> FloatArray:
        """Return flat + sign * sigma * noise."""
        found = np.array(flat)
        found[self.part] += np.float32(sign * sigma) * self.noise(offset)
        return found
