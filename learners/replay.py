"""Replay: a ring buffer of decisions, each to be learned from more than once. Numpy only.

    replay = Replay(capacity=100_000, priority=0.6)
    replay.insert(decisions_of(segments, steps=3, gamma=0.99))
    sample = replay.sample(256, rng)                       # with what came `steps` decisions later
    replay.prioritise(sample.index, np.abs(errors))

A decision has an *index*: the number of cells that came before its own. An index is never used twice, so it shows
whether a decision has been overwritten since it was sampled.

A ring has *cells*. Most are decisions; some are tails, which are never sampled: they hold the observation after a
decision that was cut. The cell that follows a decision is a few cells ahead, so nothing is stored twice; and as the
oldest cells are overwritten first, it is there as long as the decision is. For networks with a memory whole lanes are
sampled: runs of cells (learners.steps.lanes_of), which are there as long as their first cell is.

Legend of shapes: see league.segment; C cells, B decisions of a sample.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from learners.steps import Arrays, Index, Steps

FIELDS = ("index", "action", "reward", "discount", "odds")  # of a sample, beside the inputs of the network
CELLS = "cell."  # the beginning of the names of arrays of cells
SMALLEST = 1e-6  # added to each error, so that a decision without error can still be sampled


@dataclass(frozen=True, slots=True)
class Sample:
    """Decisions, or whole lanes of them, sampled from a ring."""

    index: Index  # [B]
    seen: Arrays  # [B, ...], or of lanes [B, T, ...]
    action: npt.NDArray[Any]
    reward: npt.NDArray[np.float32]
    discount: npt.NDArray[np.float32]
    after: Arrays  # [B, ...] inputs after the n rewards; those of lanes are in `seen`
    odds: npt.NDArray[np.float64]  # [B] how much likelier than under uniform sampling each was

    @property
    def decisions(self) -> int:
        """The number of decisions to learn from."""
        return int(np.count_nonzero(self.seen["learn"])) if "learn" in self.seen else len(self.index)

    def arrays(self) -> Arrays:
        """Return the arrays by name, as they are sent."""
        parts = {"seen": self.seen, "after": self.after}
        named = {f"{part}.{name}": array for part, arrays in parts.items() for name, array in arrays.items()}
        return {name: getattr(self, name) for name in FIELDS} | named

    @classmethod
    def of(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> "Sample":
        """Return the sample with these `arrays`; raise ValueError if they are no sample."""
        own = {name: np.array(array) for name, array in arrays.items()}  # arrays from the wire are read-only
        parts = {
            part: {n.removeprefix(part): own[n] for n in own if n.startswith(part)} for part in ("seen.", "after.")
        }
        lengths = {len(array) if array.ndim else -1 for array in own.values()}
        if not {*FIELDS} < own.keys() or not parts["after."].keys() <= parts["seen."].keys() or len(lengths) != 1:
            raise ValueError(f"these arrays are no minibatch: {sorted(own)}, with {sorted(lengths)} decisions")
        return cls(**{name: own[name] for name in FIELDS}, seen=parts["seen."], after=parts["after."])

    def weights(self, beta: float) -> npt.NDArray[np.float32]:
        """Return importance weights, at most 1; with beta 1 they correct the odds fully (Schaul et al. 2016)."""
        weights = self.odds**-beta
        scaled: npt.NDArray[np.float32] = (weights / weights.max()).astype(np.float32)
        return scaled


class Replay:
    """A ring of cells, from which decisions are sampled by priority.

    A decision with error e is sampled in proportion to (|e| + small) ** `priority`; with 0 all are equal. New ones
    get the highest priority so far.
    """

    def __init__(self, capacity: int, priority: float = 0.0) -> None:
        self.capacity, self._exponent = capacity, priority
        self._arrays: Arrays = {}
        self._tree = SumTree(capacity)
        self._count = 0  # cells so far
        self.highest = 1.0  # priority so far
        self.size = 0  # decisions to sample from

    def insert(self, steps: Steps) -> Index:
        """Write new cells over the oldest ones; return their indices."""
        fields = {"action": steps.action, "reward": steps.reward, "discount": steps.discount, "ahead": steps.ahead}
        arrays = {**{f"seen.{name}": array for name, array in steps.seen.items()}, **fields}
        if not self._arrays:
            self._arrays = {name: np.zeros((self.capacity, *a.shape[1:]), a.dtype) for name, a in arrays.items()}
        kept = slice(max(0, len(steps) - self.capacity), None)
        index = self._count + np.arange(len(steps))[kept]
        cell = index % self.capacity
        for name, array in arrays.items():
            self._arrays[name][cell] = array[kept]
        self._count += len(steps)
        self.size -= int(np.count_nonzero(self._tree[cell]))
        self._tree.set(cell, np.where(steps.decides[kept], self.highest, 0.0))
        self.size += int(np.count_nonzero(steps.decides[kept]))
        return index

    def sample(self, count: int, rng: np.random.Generator) -> Sample:
        """Sample decisions: one from each of `count` equal parts of the priorities."""
        parts = (np.arange(count) + rng.random(count)) / count
        cell = self._tree.find(parts * self._tree.total)
        after = (cell + self._arrays["ahead"][cell]) % self.capacity
        seen = {name.removeprefix("seen."): array for name, array in self._arrays.items() if name.startswith("seen.")}
        if "length" in seen:
            return self._lanes(cell, seen)
        return Sample(
            index=self._count - 1 - (self._count - 1 - cell) % self.capacity,
            seen={name: array[cell] for name, array in seen.items()},
            action=self._arrays["action"][cell],
            reward=self._arrays["reward"][cell],
            discount=self._arrays["discount"][cell],
            after={name: array[after] for name, array in seen.items()},
            odds=self._tree[cell] / self._tree.total * self.size,
        )

    def _lanes(self, head: Index, arrays: Arrays) -> Sample:
        """Return the lanes that begin in these cells, padded to the longest; `present` is False in the padding."""
        length = arrays["length"][head]
        ticks = np.arange(length.max())
        cell, present = (head[:, None] + ticks) % self.capacity, ticks < length[:, None]
        seen = {name: array[cell] for name, array in arrays.items() if name not in ("length", "memory")}
        seen["learn"] &= present
        return Sample(
            index=self._count - 1 - (self._count - 1 - head) % self.capacity,
            seen=seen | {"present": present, "memory": arrays["memory"][head], "ahead": self._arrays["ahead"][cell]},
            action=self._arrays["action"][cell],
            reward=self._arrays["reward"][cell],
            discount=self._arrays["discount"][cell],
            after={},
            odds=self._tree[head] / self._tree.total * self.size,
        )

    def prioritise(self, index: Index, error: npt.NDArray[np.floating[Any]]) -> None:
        """Set priorities from the errors of the network; decisions that have been overwritten are skipped."""
        if not self._exponent:
            return
        priority = (np.abs(error.astype(np.float64)) + SMALLEST) ** self._exponent
        self.highest = max(self.highest, float(priority.max(initial=0)))
        alive = self._held(index)
        self._tree.set(index[alive] % self.capacity, priority[alive])

    def drop(self, index: Index) -> None:
        """Exclude decisions from sampling: their error is not finite."""
        index = np.unique(index)
        index = index[self._held(index)]
        self.size -= len(index)
        self._tree.set(index % self.capacity, np.zeros(len(index)))

    @property
    def used(self) -> int:
        """The number of cells that hold something."""
        return min(self._count, self.capacity)

    def arrays(self) -> Arrays:
        """Return all that is needed to go on: views of the cells in use, their priorities, and counters."""
        used = self.used
        cells = {f"{CELLS}{name}": array[:used] for name, array in self._arrays.items()}
        priority = self._tree[np.arange(used)]
        return {**cells, "priority": priority, "count": np.array([self._count]), "highest": np.array([self.highest])}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from these arrays; raise ValueError if they are no replay of this capacity."""
        cells = {n.removeprefix(CELLS): array for n, array in arrays.items() if n.startswith(CELLS)}
        priority, count = arrays["priority"], int(arrays["count"][0])
        used = min(count, self.capacity)
        if any(len(array) != used for array in (priority, *cells.values())) or not (priority >= 0).all():
            raise ValueError(f"{len(priority)} cells of {count} are not the cells of a ring of {self.capacity}")
        self._arrays = {name: np.zeros((self.capacity, *a.shape[1:]), a.dtype) for name, a in cells.items()}
        for name, array in cells.items():
            self._arrays[name][:used] = array
        self._tree = SumTree(self.capacity)
        self._tree.set(np.arange(used), priority)
        self._count, self.highest = count, float(arrays["highest"][0])
        self.size = int(np.count_nonzero(priority))

    def _held(self, index: Index) -> npt.NDArray[np.bool_]:
        """Return which of the decisions can still be sampled."""
        there = (index < self._count) & (index >= max(0, self._count - self.capacity))
        return there & (self._tree[index % self.capacity] > 0)


class SumTree:
    """Numbers in a binary tree of their sums: finds the number at any part of the total.

    >>> tree = SumTree(4)
    >>> tree.set(np.array([0, 2]), np.array([1.0, 3.0]))
    >>> tree.total, tree.find(np.array([0.5, 1.5, 3.9])).tolist()
    (4.0, [0, 2, 2])
    """

    def __init__(self, capacity: int) -> None:
        self._depth = max(1, capacity - 1).bit_length()
        self._nodes = np.zeros(2 << self._depth)  # the root is 1, the children of i are 2 i and 2 i + 1

    def __getitem__(self, index: Index) -> npt.NDArray[np.float64]:
        return self._nodes[(1 << self._depth) + index]

    @property
    def total(self) -> float:
        """The sum of all numbers."""
        return float(self._nodes[1])

    def set(self, index: Index, numbers: npt.NDArray[np.float64]) -> None:
        """Set some numbers; of repeated indices the last one counts."""
        node = (1 << self._depth) + index
        self._nodes[node] = numbers
        for _ in range(self._depth):
            node = np.unique(node >> 1)
            self._nodes[node] = self._nodes[2 * node] + self._nodes[2 * node + 1]

    def find(self, part: npt.NDArray[np.float64]) -> Index:
        """Return the number in which each part of the cumulative sum lies; never one that is 0."""
        node = np.ones(len(part), np.intp)
        for _ in range(self._depth):
            left, right = self._nodes[2 * node], self._nodes[2 * node + 1]
            beyond = (part >= left) & (right > 0)
            part = np.where(beyond, part - left, part)
            node = 2 * node + beyond
        found: Index = node - (1 << self._depth)
        return found


@dataclass(slots=True)
class RateLimit:
    """Limits how often each decision is learned from, on average.

    limit = RateLimit(samples_per_insert=8, warmup=1000)
    limit.insert(512, held=replay.size)
    while limit.due >= 256:
        replay.sample(256, rng)
        limit.sample(256)

    Nothing is due before the ring holds `warmup` decisions, and those are not caught up on. (Reverb calls it
    SampleToInsertRatio; its error buffer is one batch here, as collectors wait while a batch is learned from.)
    """

    samples_per_insert: float
    warmup: int
    inserts: int = 0
    samples: int = 0
    due: float = 0.0  # samples that may be taken now

    def insert(self, count: int, held: int) -> None:
        """Count new decisions; `held` is how many the ring holds now."""
        self.inserts += count
        self.due = self.due + self.samples_per_insert * count if held >= self.warmup else 0.0

    def sample(self, count: int) -> None:
        """Count sampled decisions."""
        self.samples += count
        self.due -= count

    @property
    def reuse(self) -> float:
        """How often a decision was learned from so far, on average."""
        return self.samples / max(1, self.inserts)


class ReplaySource(Protocol):
    """Where minibatches come from: a replay in this process, or one in a buffer process (learners.remote_replay).

    while source.due():
        sample = source.sample(rng)
        source.prioritise(sample.index, np.abs(errors))
    decisions += source.fresh()
    """

    @property
    def size(self) -> int:
        """The number of decisions to sample from."""

    @property
    def reuse(self) -> float:
        """How often a decision was learned from so far, on average."""

    def due(self) -> bool:
        """Whether there is one more minibatch to learn from in this update."""

    def sample(self, rng: np.random.Generator) -> Sample:
        """Return it."""

    def prioritise(self, index: Index, error: npt.NDArray[np.floating[Any]]) -> None:
        """Set priorities from the errors of the network."""

    def drop(self, index: Index) -> None:
        """Exclude decisions from sampling: their error is not finite."""

    def fresh(self) -> int:
        """Return how many decisions came in since the last call."""


class LocalReplay:
    """The replay of one player with its rate limit, in minibatches of `count` decisions.

    Of whole lanes, a minibatch has as many as make up `count` decisions on average.
    """

    def __init__(self, replay: Replay, limit: RateLimit, count: int) -> None:
        self.replay, self.limit, self.count = replay, limit, count
        self.prioritise, self.drop = replay.prioritise, replay.drop
        self._fresh = 0
        self._units = self._decisions = 0  # inserted so far: units to sample, decisions to learn from

    @property
    def size(self) -> int:
        """The number of decisions to sample from; with lanes, an estimate."""
        return self.replay.size * self._decisions // max(1, self._units)

    @property
    def reuse(self) -> float:
        """How often a decision was learned from so far, on average."""
        return self.limit.reuse

    @property
    def left(self) -> int:
        """How many minibatches are due."""
        return max(0, int(self.limit.due // self.count))

    def insert(self, steps: Steps, decisions: int) -> None:
        """Insert steps, which come from `decisions` of agents."""
        self._fresh += decisions
        self.replay.insert(steps)
        self._units += int(np.count_nonzero(steps.decides))
        self._decisions += steps.decisions
        self.limit.insert(steps.decisions, self.size)

    def due(self) -> bool:
        """Whether one more minibatch is due."""
        return self.left > 0

    def sample(self, rng: np.random.Generator) -> Sample:
        """Sample a minibatch."""
        sample = self.replay.sample(max(1, self.count * self._units // self._decisions), rng)
        self.limit.sample(sample.decisions)
        return sample

    def fresh(self) -> int:
        """Return how many decisions came in since the last call."""
        fresh, self._fresh = self._fresh, 0
        return fresh

    def arrays(self) -> Arrays:
        """Return all that is needed to go on, as arrays; those of cells are views."""
        limit = self.limit
        counters = [self._fresh, self._units, self._decisions, limit.inserts, limit.samples]
        return self.replay.arrays() | {"counters": np.array(counters), "due": np.array([limit.due])}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from these arrays; raise ValueError if they are no replay of this capacity."""
        self.replay.restore(arrays)
        counters, self.limit.due = arrays["counters"].tolist(), float(arrays["due"][0])
        self._fresh, self._units, self._decisions, self.limit.inserts, self.limit.samples = counters
