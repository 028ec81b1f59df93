"""The pool of decisions: arrays that decisions are written into, tick by tick, until a message gathers them.

Legend of shapes: see league.segment. The pool has *blocks*; a block holds up to T ticks of A agents, and becomes one
segment.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from league.segment import CONTINUES, CUT, TERMINATED
from league.spec import Array, EnvSpec

Chunk = dict[str, npt.NDArray[Any]]
Index = npt.NDArray[np.intp]
Tail = tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]  # an agent's next observation and mask


class DecisionPool:
    """A pool of blocks, which grows as needed.

    block = pool.lease(1)
    pool.write(block, place, decisions)     # one decision of an agent in each block
    pool.end(block, place)                  # or `cut`, with the agent's next observation
    arrays = pool.gather(block)             # the blocks are free again
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
        self._flat: Chunk = {}  # the same memory with one index, `at`, for block, tick and agent: twice as fast
        self._tails: dict[int, Tail] = {}  # the observation and mask after the cut at this index
        self.length: Index = np.zeros(0, np.intp)
        self.version = np.zeros(0, np.int32)
        # Of each agent of each block, at `block * agents + place`: the decision that awaits its reward, or -1.
        self._open: Index = np.zeros((0, agents), np.intp)
        self._memory = np.zeros((0, agents, 0), np.float32)  # of each agent of each block, before its first decision
        self._whole = spec.state or Array((0,), "bool")  # the state of the whole game, if the spec has one
        self._state = np.zeros((0, ticks, *self._whole.shape), self._whole.dtype)  # in each tick,
        self._tail_states: dict[int, npt.NDArray[Any]] = {}  # and after the cut at this index
        self._free: list[int] = []

    def lease(self, count: int) -> Index:
        """Return empty blocks."""
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
        """Return the index of the agent in this place, in an array with all agents of a block or tick in line."""
        return index if self.agents == 1 else index * self.agents + place

    def _at(self, block: Index, tick: Index, place: Index) -> Index:
        return self._of_agent(block * self._ticks + tick, place)

    def _awaited(self, block: Index, place: Index) -> Index:
        return self._open.take(self._of_agent(block, place))

    def _await(self, block: Index, place: Index, at: Index | int) -> None:
        self._open.reshape(-1)[self._of_agent(block, place)] = at

    # --- writing ---------------------------------------------------------------------------------------------

    def full(self, block: Index) -> npt.NDArray[np.bool_]:
        """Return which of the blocks are full."""
        return self.length[block] >= self._ticks

    def write(
        self,
        block: Index,
        place: Index,
        decisions: Chunk,
        memory: npt.NDArray[np.float32] | None = None,
        state: npt.NDArray[Any] | None = None,
    ) -> None:
        """Write one decision of an agent into each of these blocks: observation, mask, action and log_prob.

        `memory` is that of each agent before the decision, `state` that of the whole game.
        """
        if memory is not None:
            self._keep_memory(block, place, memory)
        tick = self.length[block]
        if state is not None:
            self._state[block, tick] = state
        at = self._at(block, tick, place)
        for name, values in decisions.items():
            self._flat[name][at] = values
        self._flat["present"][at] = True
        self._await(block, place, at)
        self.length[block] = tick + 1  # agents of the same block write the same tick

    def _keep_memory(self, block: Index, place: Index, memory: npt.NDArray[np.float32]) -> None:
        """Keep the memory of agents whose first decision in their block comes next."""
        missing = memory.shape[1] - self._memory.shape[2]
        if missing > 0:
            self._memory = np.pad(self._memory, ((0, 0), (0, 0), (0, missing)))
        first = self.has_no_decision(block, place)
        self._memory[block[first], place[first]] = memory[first]

    def has_no_decision(self, block: Index, place: Index) -> npt.NDArray[np.bool_]:
        """Return which agents have no decision in their block yet."""
        return np.asarray(~self._buffer["present"][block, :, place].any(axis=1))

    def reward(self, block: Index, place: Index, reward: npt.NDArray[np.float32]) -> None:
        """Add rewards to each agent's last decision."""
        if np.count_nonzero(reward):
            at = self._awaited(block, place)
            known = at >= 0
            self._flat["reward"][at[known]] += reward[known]

    def pay_late(self, block: int, place: int, reward: float) -> None:
        """Add a reward to the last decision of an agent that has ended, if it is in this block."""
        decided = self._buffer["present"][block, :, place].nonzero()[0]
        if len(decided):
            self._buffer["reward"][block, decided[-1], place] += reward

    def end(self, block: Index, place: Index) -> None:
        """Close the agents' last decisions: their episodes terminated."""
        at = self._awaited(block, place)
        self._flat["end"][at[at >= 0]] = TERMINATED
        self._await(block, place, -1)

    def cut(
        self,
        block: Index,
        place: Index,
        observation: npt.NDArray[Any],
        mask: npt.NDArray[np.bool_] | None = None,
        state: npt.NDArray[Any] | None = None,
    ) -> None:
        """Close the agents' last decisions with the next observation and state of each, to bootstrap from.

        At the end of an episode no agent acts, so there is no mask: the one of the last decision is used instead.
        """
        at = self._awaited(block, place)
        known = at >= 0
        at = at[known]
        if state is not None:
            self._tail_states.update(zip(at.tolist(), state[known], strict=True))
        self._cut_at(at, observation[known], self._flat["mask"][at] if mask is None else mask[known])
        self._await(block, place, -1)

    def _cut_at(self, at: Index, observation: npt.NDArray[Any], mask: npt.NDArray[np.bool_]) -> None:
        self._flat["end"][at] = CUT
        self._tails.update(zip(at.tolist(), zip(observation, mask, strict=True), strict=True))

    # --- leaving ---------------------------------------------------------------------------------------------

    def leave_out_unfinished(self, blocks: Index) -> Index:
        """Leave out decisions whose agent has not acted or ended since: their next observation is unknown.

        The agent's decision before, if it is of the same episode, is cut instead: its next observation is known.
        Return for each decision left out which of the blocks it was in.
        """
        awaiting = self._open[blocks] >= 0
        row, place = awaiting.nonzero()
        if not len(row):
            return row
        block = blocks[row]
        at = self._awaited(block, place)
        self._flat["present"][at] = False
        before = self._ticks - 1 - self._buffer["present"][block, ::-1, place].argmax(axis=1)
        earlier = self._at(block, before, place)
        known = self._flat["present"][earlier] & (self._flat["end"][earlier] == CONTINUES)
        block, at, earlier = block[known], at[known], earlier[known]
        states = self._state[block, at // self.agents % self._ticks]
        self._tail_states.update(zip(earlier.tolist(), states, strict=True))
        self._cut_at(earlier, self._flat["observation"][at], self._flat["mask"][at])
        return row

    def decisions(self, blocks: Index) -> npt.NDArray[np.int64]:
        """Return how many decisions each of the blocks holds."""
        present = self._buffer["present"].reshape(len(self.length), -1)
        held: npt.NDArray[np.int64] = present[blocks].sum(axis=1)
        return held

    def gather(self, blocks: Index, memory: int = 0, state: bool = False) -> Chunk:
        """Return the contents of these blocks as the arrays of Segments, and free the blocks.

        `memory` is the size of the network's memory; `state` includes the state of the whole game, for its critic.
        """
        chunk = {name: array.take(blocks, axis=0) for name, array in self._buffer.items()}
        chunk["length"], chunk["version"] = self.length[blocks].astype(np.int32), self.version[blocks]
        lane, tick, agent = np.nonzero(chunk["end"] == CUT)
        tails = [self._tails[at] for at in self._at(blocks[lane], tick, agent).tolist()]
        chunk["tail_lane"], chunk["tail_tick"] = lane.astype(np.int32), tick.astype(np.int32)
        chunk["tail_agent"] = agent.astype(np.int32)
        seen, mask = [tail[0] for tail in tails], [tail[1] for tail in tails]
        chunk["tail_observation"] = np.array(seen, self._seen.dtype).reshape(len(tails), *self._seen.shape)
        chunk["tail_mask"] = np.array(mask, np.bool_).reshape(len(tails), self._options)
        if memory:
            chunk["memory"] = self._memory[blocks, :, :memory]
        if state:
            chunk["state"] = self._state[blocks]
            states = [self._tail_states[at] for at in self._at(blocks[lane], tick, agent).tolist()]
            chunk["tail_state"] = np.array(states, self._whole.dtype).reshape(-1, *self._whole.shape)
        self.release(blocks)
        return chunk

    def release(self, blocks: Index) -> None:
        """Free blocks; their contents are lost."""
        self.clear(blocks)
        self._free += blocks.tolist()

    def clear(self, blocks: Index) -> None:
        """Empty blocks, which stay leased."""
        block, tick, agent = np.nonzero(self._buffer["end"][blocks] == CUT)
        for at in self._at(blocks[block], tick, agent).tolist():
            del self._tails[at]
            self._tail_states.pop(at, None)
        self.length[blocks] = 0
        self._open[blocks] = -1
        for name in ("reward", "end", "present"):
            self._buffer[name][blocks] = CONTINUES
        if self._memory.shape[2]:
            self._memory[blocks] = 0
