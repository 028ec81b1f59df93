"""The recorder: writes decisions into lanes and cuts lanes into segments. Arrays only, no loop over rows.

A lane is (slot, entry of the ticket): the stream of decisions of one player in one slot. It may run on over
several episodes and tickets, as long as the same player (and incarnation) owns it. A full lane is cut when its
next decision arrives, so that decision's observation is the one to bootstrap from.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, IntArray, Rows
from league.ids import PlayerId
from league.segment import CONTINUES, CUT, FIELDS, TERMINATED, Segments
from league.spec import EnvSpec

Owner = tuple[PlayerId, int]  # a player and its incarnation
Chunk = dict[str, npt.NDArray[Any]]
NOBODY = -1


@dataclass(slots=True)
class _Outgoing:
    """Cut segments of one owner that wait to be sent."""

    chunks: list[Chunk]
    decisions: int
    since: float


class Recorder:
    """Lane buffers for all slots, and the segments cut from them."""

    def __init__(self, spec: EnvSpec, slots: int, ticks: int) -> None:
        self._entries = len(spec.seats)
        self._ticks = ticks
        lanes, agents = slots * self._entries, max(len(seat.agents) for seat in spec.seats)
        place = [0] * len(spec.agents)
        for seat in spec.seats:
            for i, agent in enumerate(seat.agents):
                place[agent] = i
        self._place = np.array(place, np.int32)
        self._solo = agents == 1
        steps, seen = (lanes, ticks, agents), spec.observation
        self._buffer: Chunk = {
            "observation": np.zeros((*steps, *seen.shape), seen.dtype),
            "mask": np.zeros((*steps, spec.actions), np.bool_),
            "action": np.zeros(steps, np.int32),
            "log_prob": np.zeros(steps, np.float32),
            "reward": np.zeros(steps, np.float32),
            "end": np.zeros(steps, np.uint8),
            "present": np.zeros(steps, np.bool_),
        }
        self._tail = np.zeros((*steps, *seen.shape), seen.dtype)
        self._version = np.zeros(lanes, np.int32)
        self._length = np.zeros(lanes, np.int32)
        self._owner = np.full(lanes, NOBODY, np.int32)
        self._open = np.full((lanes, agents), -1, np.int32)  # tick of the decision that awaits its reward
        self._owners: list[Owner] = []
        self._numbers: dict[Owner, int] = {}
        self._outgoing: dict[int, _Outgoing] = {}
        self.unsent: dict[Owner, int] = {}  # decisions in lanes and segments that nobody took yet

    # --- who owns a lane -------------------------------------------------------------------------------------

    def assign(self, slots: IntArray, owners: Sequence[Sequence[Owner | None]], now: float) -> None:
        """Say who owns the lanes of each slot from its next episode on; None is not recorded."""
        numbers = np.array([[self._number(owner) for owner in row] for row in owners], np.int32)
        lanes = slots[:, None] * self._entries + np.arange(self._entries, dtype=np.int32)
        changed = self._owner[lanes] != numbers
        lanes, numbers = lanes[changed], numbers[changed]
        full = lanes[self._length[lanes] > 0]
        if len(full):
            self._cut(full, now)
        self._owner[lanes] = numbers

    def rest(self, slots: IntArray, players: Collection[PlayerId], now: float) -> None:
        """Cut what slots without an episode hold of these players: it must not wait until they play again."""
        lanes = (slots[:, None] * self._entries + np.arange(self._entries, dtype=np.int32)).reshape(-1)
        theirs = [number for number, (player, _) in enumerate(self._owners) if player in players]
        lanes = lanes[(self._length[lanes] > 0) & np.isin(self._owner[lanes], theirs)]
        if len(lanes):
            self._cut(lanes, now)

    def forget(self, owner: Owner) -> None:
        """Drop all that was recorded of an owner and not taken: a reset made it worthless."""
        number = self._number(owner)
        lanes = np.flatnonzero(self._owner == number).astype(np.int32)
        self._clear(lanes)
        self._owner[lanes] = NOBODY
        self._outgoing.pop(number, None)
        self.unsent[owner] = 0

    def _number(self, owner: Owner | None) -> int:
        if owner is None:
            return NOBODY
        number = self._numbers.get(owner)
        if number is None:
            number = self._numbers[owner] = len(self._owners)
            self._owners.append(owner)
            self.unsent[owner] = 0
        return number

    # --- writing ---------------------------------------------------------------------------------------------

    def decide(
        self, rows: Rows, entry: IntArray, actions: IntArray, log_probs: npt.NDArray[np.float32],
        version: IntArray, now: float,
    ) -> None:  # fmt: skip
        """Write the decisions of one tick. `entry` and `version` tell, for each row, who decided."""
        lane = rows.slot * self._entries + entry
        mine = np.flatnonzero(self._owner[lane] != NOBODY)
        if not len(mine):
            return
        lane, place = lane[mine], self._place[rows.agent[mine]]
        observation = rows.observation[mine]
        self._reward(lane, place, rows.reward[mine])
        full = self._length[lane] >= self._ticks
        if full.any():
            self._bootstrap(lane[full], place[full], observation[full])
            self._cut(np.unique(lane[full]), now)
        tick = self._length[lane]
        start = tick == 0
        self._version[lane[start]] = version[mine][start]
        at = (lane, tick, place)
        buffer = self._buffer
        buffer["observation"][at] = observation
        buffer["mask"][at] = rows.mask[mine]
        buffer["action"][at] = actions[mine]
        buffer["log_prob"][at] = log_probs[mine]
        buffer["present"][at] = True
        self._open[lane, place] = tick
        self._length[lane if self._solo else np.unique(lane)] += 1
        self._count(self._owner[lane], 1)

    def _count(self, numbers: IntArray, sign: int) -> None:
        for number, decisions in enumerate(np.bincount(numbers).tolist()):
            if decisions:
                self.unsent[self._owners[number]] += sign * decisions

    def _reward(self, lane: IntArray, place: IntArray, reward: npt.NDArray[np.float32]) -> None:
        """Credit each agent's last decision with what it earned since."""
        tick = self._open[lane, place]
        known = tick >= 0
        if known.all():
            self._buffer["reward"][lane, tick, place] += reward
        elif known.any():
            self._buffer["reward"][lane[known], tick[known], place[known]] += reward[known]

    def _bootstrap(self, lane: IntArray, place: IntArray, observation: npt.NDArray[Any]) -> None:
        tick = self._open[lane, place]
        known = tick >= 0
        at = (lane[known], tick[known], place[known])
        self._buffer["end"][at] = CUT
        self._tail[at] = observation[known]
        self._open[lane, place] = -1

    def end(self, ends: Ends, entry: IntArray) -> None:
        """Write the END rows of one tick: the last reward of each agent, and how its episode ended."""
        lane = ends.slot * self._entries + entry
        mine = np.flatnonzero(self._owner[lane] != NOBODY)
        if not len(mine):
            return
        lane, place = lane[mine], self._place[ends.agent[mine]]
        self._reward(lane, place, ends.reward[mine])
        truncated = ends.truncated[mine]
        if truncated.any():
            self._bootstrap(lane[truncated], place[truncated], ends.observation[mine][truncated])
        done = ~truncated & (self._open[lane, place] >= 0)
        lane, place = lane[done], place[done]
        self._buffer["end"][lane, self._open[lane, place], place] = TERMINATED
        self._open[lane, place] = -1

    def drop(self, slot: int) -> None:
        """Throw away what a slot recorded: its episode broke."""
        lanes = np.arange(slot * self._entries, (slot + 1) * self._entries)
        lanes = lanes[self._owner[lanes] != NOBODY]
        present = self._buffer["present"][lanes].sum(axis=(1, 2))
        self._count(np.repeat(self._owner[lanes], present), -1)
        self._clear(lanes)

    # --- cutting ---------------------------------------------------------------------------------------------

    def _cut(self, lanes: IntArray, now: float) -> None:
        """Move lanes out as segments, by owner, and begin them anew."""
        self._orphans(lanes)
        for number in np.unique(self._owner[lanes]):
            chosen = lanes[self._owner[lanes] == number]
            chunk = {name: array[chosen] for name, array in self._buffer.items()}
            chunk["length"], chunk["version"] = self._length[chosen], self._version[chosen]
            chunk |= _tails(chunk["end"], self._tail[chosen])
            decisions = int(chunk["present"].sum())
            waiting = self._outgoing.setdefault(int(number), _Outgoing([], 0, now))
            if not waiting.chunks:
                waiting.since = now
            waiting.chunks.append(chunk)
            waiting.decisions += decisions
        self._clear(lanes)

    def _orphans(self, lanes: IntArray) -> None:
        """Leave out decisions whose agent has not been heard of since: nobody knows what followed them.

        The agent's decision before, if it is of the same episode, is cut instead: what followed that is known.
        """
        row, place = np.nonzero(self._open[lanes] >= 0)
        if not len(row):
            return
        lane = lanes[row]
        tick = self._open[lane, place]
        present, end = self._buffer["present"], self._buffer["end"]
        present[lane, tick, place] = False
        self._count(self._owner[lane], -1)
        before = self._ticks - 1 - present[lane, ::-1, place].argmax(axis=1)
        cut = present[lane, before, place] & (end[lane, before, place] == CONTINUES)
        at = (lane[cut], before[cut], place[cut])
        end[at] = CUT
        self._tail[at] = self._buffer["observation"][lane[cut], tick[cut], place[cut]]

    def _clear(self, lanes: IntArray) -> None:
        self._length[lanes] = 0
        self._open[lanes] = -1
        for name in ("reward", "end", "present"):
            self._buffer[name][lanes] = CONTINUES

    def take(self, now: float, decisions: int, seconds: float) -> list[Segments]:
        """Return the segments of every owner with enough decisions, or that waited long enough."""
        taken = []
        for number, waiting in self._outgoing.items():
            if waiting.chunks and (waiting.decisions >= decisions or now - waiting.since >= seconds):
                player, incarnation = self._owners[number]
                self.unsent[player, incarnation] -= waiting.decisions
                taken.append(Segments(player=player, incarnation=incarnation, **_join(waiting.chunks)))
                waiting.chunks, waiting.decisions = [], 0
        return taken


def _tails(end: npt.NDArray[np.uint8], tail: npt.NDArray[Any]) -> Chunk:
    lane, tick, agent = np.nonzero(end == CUT)
    return {
        "tail_lane": lane.astype(np.int32),
        "tail_tick": tick.astype(np.int32),
        "tail_agent": agent.astype(np.int32),
        "tail_observation": tail[lane, tick, agent],
    }


def _join(chunks: Sequence[Chunk]) -> Chunk:
    lanes = np.cumsum([0] + [len(chunk["length"]) for chunk in chunks[:-1]], dtype=np.int32)
    joined = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in FIELDS}
    shifted = [chunk["tail_lane"] + base for chunk, base in zip(chunks, lanes, strict=True)]
    joined["tail_lane"] = np.concatenate(shifted)
    return joined
