"""Batches: segments of one player, collected until there are enough decisions for an update.

Legend of shapes: see league.segment.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from league.fitness import Fitness, join_fitness
from league.segment import STEPS, Segments

Training = Segments | Fitness
LIMIT = 4  # batches that may wait, at least: credits keep it at 2, and what many slots have begun comes on top
ROOM = 16_384  # decisions that may wait if batches are small: lanes of a collector hold 8,192 and arrive all at once


@dataclass(frozen=True, slots=True)
class Batch:
    """What one update learns from: whole lanes, joined."""

    data: Training
    lag: npt.NDArray[np.int64]  # [decisions] versions between the weights that decided and those that learn
    sessions: dict[str, int]  # decisions from each collector session

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return len(self.lag)

    @property
    def segments(self) -> Segments:
        """The decisions that a player learns from."""
        assert isinstance(self.data, Segments)
        return self.data

    @property
    def fitness(self) -> Fitness:
        """What an evolving player learns from instead."""
        assert isinstance(self.data, Fitness)
        return self.data


@dataclass(slots=True)
class Batcher:
    """Collects the segments of one player in one incarnation.

    batcher = Batcher(incarnation=0, batch=4096, max_lag=2)
    batcher.add(segments, session="c0", version=7)      # whether it was kept
    if batcher.full:
        batch = batcher.take(version=7)
    """

    incarnation: int
    batch: int
    max_lag: int
    limit: int = 0  # decisions that may wait, if that is more than LIMIT batches
    dropped_incarnation: int = 0
    dropped_stale: int = 0
    dropped_full: int = 0
    _waiting: deque[tuple[Training, str]] = field(default_factory=deque)
    _decisions: int = 0

    @property
    def decisions(self) -> int:
        """The number of decisions that wait."""
        return self._decisions

    def waiting(self, session: str) -> int:
        """Return how many decisions of one collector session wait."""
        return sum(segments.units for segments, giver in self._waiting if giver == session)

    def add(self, segments: Training, session: str, version: int) -> bool:
        """Keep segments for the next batch; False: they are of no use, and counted as dropped."""
        if segments.incarnation != self.incarnation:
            self.dropped_incarnation += segments.units
        elif self._stale(segments, version):
            self.dropped_stale += segments.units
        elif self._decisions + segments.units > max(LIMIT * self.batch, ROOM, self.limit, segments.units):
            self.dropped_full += segments.units
        else:
            self._waiting.append((segments, session))
            self._decisions += segments.units
            return True
        return False

    def expire(self, version: int) -> None:
        """Drop and count segments that have become too old."""
        stale = [entry for entry in self._waiting if self._stale(entry[0], version)]
        if stale:
            dropped = sum(segments.units for segments, _ in stale)
            self._waiting = deque(entry for entry in self._waiting if not self._stale(entry[0], version))
            self._decisions -= dropped
            self.dropped_stale += dropped

    @property
    def full(self) -> bool:
        """Whether a batch is complete."""
        return self._decisions >= self.batch

    def take(self, version: int) -> Batch:
        """Return the oldest lanes that make up a batch; surplus lanes of the last message stay for the next one."""
        taken: list[Training] = []
        sessions: dict[str, int] = {}
        count = 0
        while count < self.batch:
            segments, session = self._waiting.popleft()
            lanes = _lanes_with(segments, self.batch - count)
            if lanes < len(segments.version):
                self._waiting.appendleft((segments.lanes(lanes, len(segments.version)), session))
                segments = segments.lanes(0, lanes)
            taken.append(segments)
            count += segments.units
            sessions[session] = sessions.get(session, 0) + segments.units
        self._decisions -= count
        segments_taken = [one for one in taken if isinstance(one, Segments)]  # all, or none
        joined = join(segments_taken) if segments_taken else join_fitness([o for o in taken if isinstance(o, Fitness)])
        lag = np.repeat(version - joined.version.astype(np.int64), joined.lane_decisions)
        return Batch(joined, lag, sessions)

    def _stale(self, segments: Training, version: int) -> bool:
        return bool(version - segments.version.min(initial=version) > self.max_lag)


def _lanes_with(segments: Training, units: int) -> int:
    """Return how many of the first lanes hold this many units; all of them if they hold fewer."""
    held = segments.lane_units.cumsum()
    return min(len(held), int(held.searchsorted(units)) + 1)


def join(parts: Sequence[Segments]) -> Segments:
    """Return one Segments with the lanes of all; shorter ones are padded with absent decisions."""
    ticks, agents = (max(part.present.shape[axis] for part in parts) for axis in (1, 2))
    arrays = [_padded(part, ticks, agents) for part in parts]
    first = np.cumsum([0, *(len(part.length) for part in parts[:-1])], dtype=np.int32)
    for lane, part in zip(first, arrays, strict=True):
        part["tail_lane"] = part["tail_lane"] + lane
    joined = {name: np.concatenate([part[name] for part in arrays]) for name in arrays[0]}
    return Segments(parts[0].player, parts[0].incarnation, **joined)


def _padded(part: Segments, ticks: int, agents: int) -> dict[str, npt.NDArray[Any]]:
    arrays = part.arrays()
    lanes, own_ticks, own_agents = part.present.shape
    if (own_ticks, own_agents) == (ticks, agents):
        return arrays
    for name in STEPS:
        wide = np.zeros((lanes, ticks, agents, *arrays[name].shape[3:]), dtype=arrays[name].dtype)
        wide[:, :own_ticks, :own_agents] = arrays[name]
        arrays[name] = wide
    if part.state is not None:
        arrays["state"] = np.pad(part.state, ((0, 0), (0, ticks - own_ticks), *((0, 0),) * (part.state.ndim - 2)))
    if part.memory is not None:
        arrays["memory"] = np.pad(part.memory, ((0, 0), (0, agents - own_agents), (0, 0)))
    return arrays
