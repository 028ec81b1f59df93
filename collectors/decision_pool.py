"""DecisionPool: the arrays that decisions are written into, one after the other, until a message gathers them.

Legend of shapes: see league.segment; a track holds up to T ticks of A agents.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from league.segment import CONTINUES, CUT, TERMINATED
from league.spec import Array, EnvSpec

Chunk = dict[str, npt.NDArray[Any]]
Index = npt.NDArray[np.intp]
Tail = tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]  # what an agent saw next, and what it could do


class DecisionPool:
    """A pool of tracks.

    track = tracks.lease(1)
    tracks.write(track, place, observation, mask, action, log_prob)     # one decision of an agent in each
    tracks.end(track, place)                                            # or `cut`, with what it saw next
    arrays = tracks.gather(track)                                       # they are free again
    """

    def __init__(self, spec: EnvSpec, ticks: int, agents: int) -> None:
        self._ticks, self.agents, self._seen, self._options = ticks, agents, spec.observation, spec.actions
        steps = (0, ticks, agents)
        self._buffer: Chunk = {
            "observation": np.zeros((*steps, *self._seen.shape), self._seen.dtype),
            "mask": np.zeros((*steps, spec.actions), np.bool_),
            "action": np.zeros((*steps, *spec.action.shape), spec.action.dtype),
            "log_prob": np.zeros(steps, np.float32),
            "reward": np.zeros(steps, np.float32),
            "end": np.zeros(steps, np.uint8),
            "present": np.zeros(steps, np.bool_),
        }
        self._flat: Chunk = {}  # the same memory with one index, `at`, for track, tick and agent: twice as fast
        self._tails: dict[int, Tail] = {}  # what followed the cut at this index
        self.length: Index = np.zeros(0, np.intp)
        self.version = np.zeros(0, np.int32)
        # Of each agent of each track, at `track * agents + place`: the decision that awaits its reward, or -1.
        self._open: Index = np.zeros((0, agents), np.intp)
        self._memory = np.zeros((0, agents, 0), np.float32)  # of each agent of each track, before its first decision
        self._whole = spec.state or Array((0,), "bool")  # the state of the whole game, if it tells
        self._state = np.zeros((0, ticks, *self._whole.shape), self._whole.dtype)  # in each tick,
        self._tail_states: dict[int, npt.NDArray[Any]] = {}  # and after the cut at this index
        self._free: list[int] = []

    def lease(self, count: int) -> Index:
        """Return empty tracks; there are always more."""
        if len(self._free) < count:
            self._grow(max(count, len(self.length) // 2))
        rest = len(self._free) - count
        leased = np.array(self._free[rest:], np.intp)
        del self._free[rest:]
        return leased

    def _grow(self, count: int) -> None:
        def longer(array: npt.NDArray[Any], value: int = 0) -> npt.NDArray[Any]:
            return np.concatenate([array, np.full((count, *array.shape[1:]), value, array.dtype)])

        before = len(self.length)
        self._buffer = {name: longer(array) for name, array in self._buffer.items()}
        cells = len(self._buffer["end"]) * self._ticks * self.agents
        self._flat = {name: array.reshape(cells, *array.shape[3:]) for name, array in self._buffer.items()}
        self.length, self.version, self._open = longer(self.length), longer(self.version), longer(self._open, -1)
        self._memory, self._state = longer(self._memory), longer(self._state)
        self._free += range(before, before + count)

    def _of_agent(self, index: Index, place: Index) -> Index:
        """Return where the agent in this place stands in an array that has all agents of a track, or tick, in line."""
        return index if self.agents == 1 else index * self.agents + place

    def _at(self, track: Index, tick: Index, place: Index) -> Index:
        return self._of_agent(track * self._ticks + tick, place)

    def _awaited(self, track: Index, place: Index) -> Index:
        return self._open.take(self._of_agent(track, place))

    def _await(self, track: Index, place: Index, at: Index | int) -> None:
        self._open.reshape(-1)[self._of_agent(track, place)] = at

    # --- writing ---------------------------------------------------------------------------------------------

    def full(self, track: Index) -> npt.NDArray[np.bool_]:
        """Return which of the tracks have no tick left."""
        return self.length[track] >= self._ticks

    def write(self, track: Index, place: Index, decisions: Chunk) -> None:
        """Write one decision of an agent into each of these tracks: observation, mask, action and log_prob."""
        tick = self.length[track]
        at = self._at(track, tick, place)
        for name, values in decisions.items():
            self._flat[name][at] = values
        self._flat["present"][at] = True
        self._await(track, place, at)
        self.length[track] = tick + 1  # agents of the same track write the same tick

    def remember(self, track: Index, place: Index, memory: npt.NDArray[np.float32]) -> None:
        """Keep what agents remember whose first decision in their track comes next."""
        missing = memory.shape[1] - self._memory.shape[2]
        if missing > 0:
            self._memory = np.pad(self._memory, ((0, 0), (0, 0), (0, missing)))
        first = self.lacks(track, place)
        self._memory[track[first], place[first]] = memory[first]

    def witness(self, track: Index, state: npt.NDArray[Any]) -> None:
        """Keep the state of the whole game in which the next decision of each track is made."""
        self._state[track, self.length[track]] = state

    def foresee(self, track: Index, place: Index, state: npt.NDArray[Any]) -> None:
        """Keep the state that followed the agents' last decisions, which are about to be cut."""
        at = self._awaited(track, place)
        known = at >= 0
        self._tail_states.update(zip(at[known].tolist(), state[known], strict=True))

    def lacks(self, track: Index, place: Index) -> npt.NDArray[np.bool_]:
        """Return which agents have no decision in their track yet."""
        return np.asarray(~self._buffer["present"][track, :, place].any(axis=1))

    def reward(self, track: Index, place: Index, reward: npt.NDArray[np.float32]) -> None:
        """Credit each agent's last decision with what it earned since."""
        if np.count_nonzero(reward):
            at = self._awaited(track, place)
            known = at >= 0
            self._flat["reward"][at[known]] += reward[known]

    def end(self, track: Index, place: Index) -> None:
        """Close the agents' last decisions: their episodes terminated."""
        at = self._awaited(track, place)
        self._flat["end"][at[at >= 0]] = TERMINATED
        self._await(track, place, -1)

    def cut(
        self,
        track: Index,
        place: Index,
        observation: npt.NDArray[Any],
        mask: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Close the agents' last decisions with what each saw next, to bootstrap from.

        At the end of an episode nobody is asked, so there is no mask: then the one of the last decision stands in.
        """
        at = self._awaited(track, place)
        known = at >= 0
        at = at[known]
        self._cut_at(at, observation[known], self._flat["mask"][at] if mask is None else mask[known])
        self._await(track, place, -1)

    def _cut_at(self, at: Index, observation: npt.NDArray[Any], mask: npt.NDArray[np.bool_]) -> None:
        self._flat["end"][at] = CUT
        self._tails.update(zip(at.tolist(), zip(observation, mask, strict=True), strict=True))

    # --- leaving ---------------------------------------------------------------------------------------------

    def leave_out_orphans(self, tracks: Index) -> Index:
        """Leave out decisions whose agent has not been heard of since: nobody knows what followed them.

        The agent's decision before, if it is of the same episode, is cut instead: what followed that is known.
        Return for each of them which of the tracks it was in.
        """
        awaiting = self._open[tracks] >= 0
        row, place = awaiting.nonzero()
        if not len(row):
            return row
        track = tracks[row]
        at = self._awaited(track, place)
        self._flat["present"][at] = False
        before = self._ticks - 1 - self._buffer["present"][track, ::-1, place].argmax(axis=1)
        earlier = self._at(track, before, place)
        known = self._flat["present"][earlier] & (self._flat["end"][earlier] == CONTINUES)
        track, at, earlier = track[known], at[known], earlier[known]
        states = self._state[track, at // self.agents % self._ticks]
        self._tail_states.update(zip(earlier.tolist(), states, strict=True))
        self._cut_at(earlier, self._flat["observation"][at], self._flat["mask"][at])
        return row

    def decisions(self, tracks: Index) -> npt.NDArray[np.int64]:
        """Return how many decisions each of the tracks holds."""
        present = self._buffer["present"].reshape(len(self.length), -1)
        held: npt.NDArray[np.int64] = present[tracks].sum(axis=1)
        return held

    def gather(self, tracks: Index, memory: int = 0, state: bool = False) -> Chunk:
        """Return what these tracks hold, as the arrays of Segments, and free them.

        `memory` says how much the player's network remembers, `state` whether its critic sees the whole game.
        """
        chunk = {name: array.take(tracks, axis=0) for name, array in self._buffer.items()}
        chunk["length"], chunk["version"] = self.length[tracks].astype(np.int32), self.version[tracks]
        lane, tick, agent = np.nonzero(chunk["end"] == CUT)
        tails = [self._tails[at] for at in self._at(tracks[lane], tick, agent).tolist()]
        chunk["tail_lane"], chunk["tail_tick"] = lane.astype(np.int32), tick.astype(np.int32)
        chunk["tail_agent"] = agent.astype(np.int32)
        seen, mask = [tail[0] for tail in tails], [tail[1] for tail in tails]
        chunk["tail_observation"] = np.array(seen, self._seen.dtype).reshape(len(tails), *self._seen.shape)
        chunk["tail_mask"] = np.array(mask, np.bool_).reshape(len(tails), self._options)
        if memory:
            chunk["memory"] = self._memory[tracks, :, :memory]
        if state:
            chunk["state"] = self._state[tracks]
            states = [self._tail_states[at] for at in self._at(tracks[lane], tick, agent).tolist()]
            chunk["tail_state"] = np.array(states, self._whole.dtype).reshape(-1, *self._whole.shape)
        self.release(tracks)
        return chunk

    def release(self, tracks: Index) -> None:
        """Free tracks; what they hold is lost."""
        self.clear(tracks)
        self._free += tracks.tolist()

    def clear(self, tracks: Index) -> None:
        """Empty tracks, which stay leased."""
        track, tick, agent = np.nonzero(self._buffer["end"][tracks] == CUT)
        for at in self._at(tracks[track], tick, agent).tolist():
            del self._tails[at]
            self._tail_states.pop(at, None)
        self.length[tracks] = 0
        self._open[tracks] = -1
        for name in ("reward", "end", "present"):
            self._buffer[name][tracks] = CONTINUES
        if self._memory.shape[2]:
            self._memory[tracks] = 0
