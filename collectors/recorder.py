"""The recorder: writes decisions into lanes and cuts lanes into segments. Arrays only, no loop over rows.

A lane is (slot, entry of the ticket): the stream of decisions of one player in one slot. It may run on over
several episodes and tickets, as long as the same player (and incarnation) owns it. A full lane is cut when its
next decision arrives, so that decision's observation is the one to bootstrap from.

Of players that evolve nothing is recorded but the returns of their episodes, by the perturber.

A lane that is cut goes on in another block of the pool: the arrays of a message are gathered once, from all its blocks
together, and not at each cut.
"""

from collections.abc import Callable, Collection, Sequence

import numpy as np
import numpy.typing as npt

from collectors.acting import Acted, places
from collectors.decision_pool import DecisionPool, Index
from collectors.envs.rows import Ends, IntArray, Rows
from collectors.perturber import Owner, Perturber
from league.ids import PlayerId
from league.segment import Segments
from league.spec import EnvSpec

NOBODY = -1


class Recorder:
    """Lanes for all slots, and the segments cut from them."""

    def __init__(
        self,
        spec: EnvSpec,
        slots: int,
        ticks: int,
        memory: Callable[[PlayerId], int] = lambda player: 0,
        state: Callable[[PlayerId], bool] = lambda player: False,
        perturber: Perturber | None = None,
    ) -> None:
        self.perturber = perturber
        self._entries = len(spec.seats)
        self._place = places(spec)
        self._memory, self._state = memory, state
        self._pool = DecisionPool(spec, ticks, agents=int(self._place.max()) + 1)
        lanes = slots * self._entries
        # The place of every agent if all seats have one agent.
        self._first = np.zeros(slots * len(spec.agents), np.intp)
        self._block = self._pool.lease(lanes)  # into which each lane is written
        self._owner = np.full(lanes, NOBODY, np.intp)
        self._owners: list[Owner] = []
        self._numbers: dict[Owner, int] = {}
        # Of each owner, by its number:
        self._unsent = np.zeros(0, np.int64)  # decisions in lanes and segments that were not taken yet
        self._waiting = np.zeros(0, np.int64)  # those of them in segments
        self._since = np.zeros(0)  # when the oldest of its segments was cut
        self._segments: list[tuple[Index, Index]] = []  # blocks that were cut, and their owners

    @property
    def unsent(self) -> dict[Owner, int]:
        """Decisions of each owner that were not taken yet; of an evolving player episodes."""
        beside = self.perturber.unsent if self.perturber is not None else {}
        return dict(zip(self._owners, self._unsent.tolist(), strict=True)) | beside

    # --- who owns a lane -------------------------------------------------------------------------------------

    def assign(
        self, slots: IntArray, owners: Sequence[Sequence[Owner | None]], counts: Sequence[int], now: float
    ) -> None:
        """Set who owns the lanes of slots from their next episode on; lanes of None are not recorded.

        `owners` has a row for the first `counts[0]` of the slots, one for the next `counts[1]`, and so on.
        """
        each = np.array([[self._number(owner) for owner in row] for row in owners], np.intp)
        numbers = each.repeat(counts, axis=0)
        lanes = self._lanes_of(slots)
        changed = self._owner[lanes] != numbers
        lanes, numbers = lanes[changed], numbers[changed]
        self._cut(lanes[self._used(lanes)], now)
        self._owner[lanes] = numbers

    def rest(self, slots: IntArray, players: Collection[PlayerId], now: float) -> None:
        """Cut the lanes of these players in slots without an episode, and make their segments due at once."""
        lanes = self._lanes_of(slots).reshape(-1)
        theirs = np.array([n for n, (player, _) in enumerate(self._owners) if player in players], np.intp)
        self._cut(lanes[self._used(lanes) & np.isin(self._owner[lanes], theirs)], now)
        self._since[theirs[self._waiting[theirs] > 0]] = -np.inf

    def forget(self, owner: Owner) -> None:
        """Drop what was recorded of an owner and not taken: the player was reset."""
        if self.perturber is not None:
            self.perturber.forget(owner)
        number = self._number(owner)
        lanes = np.flatnonzero(self._owner == number)
        self._pool.clear(self._block[lanes])
        self._owner[lanes] = NOBODY
        self._pool.release(self._segments_of([number])[0])
        self._unsent[number] = 0

    def _lanes_of(self, slots: IntArray) -> Index:
        return slots.astype(np.intp, copy=False)[:, None] * self._entries + np.arange(self._entries)

    def _used(self, lanes: Index) -> npt.NDArray[np.bool_]:
        return self._pool.length[self._block[lanes]] > 0

    def _number(self, owner: Owner | None) -> int:
        if owner is None:
            return NOBODY
        number = self._numbers.get(owner)
        if number is None:
            number = self._numbers[owner] = len(self._owners)
            self._owners.append(owner)
            self._unsent = np.append(self._unsent, 0)
            self._waiting = np.append(self._waiting, 0)
            self._since = np.append(self._since, np.inf)
        return number

    # --- writing ---------------------------------------------------------------------------------------------

    def decide(self, rows: Rows, entry: Index, acted: Acted, version: IntArray, now: float) -> None:
        """Write the decisions of one tick, with the entry and the version of the weights of each row."""
        if self.perturber is not None:
            self.perturber.decide(rows, entry)
        lane = rows.slot.astype(np.intp, copy=False) * self._entries + entry
        owner = self._owner[lane]
        mine = (owner != NOBODY).nonzero()[0]
        if not len(mine):
            return
        lane, place = lane[mine], self._places(rows.agent, mine)
        observation, mask = rows.observation.take(mine, axis=0), rows.mask.take(mine, axis=0)
        block = self._block[lane]
        if np.count_nonzero(rows.reward):  # most games pay only at the end
            self._pool.reward(block, place, rows.reward[mine])
        full = self._pool.full(block).nonzero()[0]
        state = None if rows.state is None else rows.state[mine]
        if len(full):
            after = None if state is None else state[full]
            self._pool.cut(block[full], place[full], observation[full], mask[full], after)
            self._cut(lane[full] if self._pool.agents == 1 else np.unique(lane[full]), now)
            block = self._block[lane]
        start = self._pool.length[block] == 0
        self._pool.version[block[start]] = version[mine[start]]
        decisions = {
            "observation": observation,
            "mask": mask,
            "action": acted.actions[mine],
            "log_prob": acted.log_probs[mine],
        }
        memory = None if acted.memory is None else acted.memory[mine]
        self._pool.write(block, place, decisions, memory, state)
        self._unsent += self._count(owner[mine])

    def begins(self, rows: Rows, entry: Index) -> npt.NDArray[np.bool_]:
        """Return which rows' decisions would be the first of their agent in a segment."""
        lane = rows.slot.astype(np.intp, copy=False) * self._entries + entry
        block, place = self._block[lane], self._place[rows.agent.astype(np.intp, copy=False)]
        begins = self._pool.full(block) | self._pool.has_no_decision(block, place)
        return np.asarray(begins & (self._owner[lane] != NOBODY))

    def _places(self, agent: IntArray, mine: Index) -> Index:
        """Return the place in its seat of each of these agents."""
        if self._pool.agents == 1:
            return self._first[: len(mine)]
        return self._place[agent[mine].astype(np.intp, copy=False)]

    def _count(self, numbers: Index) -> npt.NDArray[np.int64]:
        """Return how often each owner occurs."""
        return np.bincount(numbers, minlength=len(self._owners))

    def end(self, ends: Ends, entry: Index) -> None:
        """Write the END rows of one tick: the last reward of each agent, and how its episode ended."""
        if self.perturber is not None:
            self.perturber.end(ends, entry)
        lane = ends.slot.astype(np.intp, copy=False) * self._entries + entry
        mine = (self._owner[lane] != NOBODY).nonzero()[0]
        if not len(mine):
            return
        block, place = self._block[lane[mine]], self._places(ends.agent, mine)
        self._pool.reward(block, place, ends.reward[mine])
        truncated = ends.truncated[mine]
        if np.count_nonzero(truncated):
            rows = mine[truncated]
            after = None if ends.state is None else ends.state[rows]
            self._pool.cut(block[truncated], place[truncated], ends.observation[rows], state=after)
        self._pool.end(block, place)

    def pay_late(self, slot: int, entry: int, agent: int, reward: float) -> None:
        """Add a reward that an agent got after its END row to its last decision, unless a segment has that already."""
        if self.perturber is not None:
            self.perturber.pay_late(slot, entry, reward)
        lane = slot * self._entries + entry
        if self._owner[lane] != NOBODY:
            self._pool.pay_late(int(self._block[lane]), int(self._place[agent]), reward)

    def drop(self, slot: int) -> None:
        """Drop what a slot recorded: its episode broke."""
        if self.perturber is not None:
            self.perturber.drop(slot)
        lanes = np.arange(slot * self._entries, (slot + 1) * self._entries)
        lanes = lanes[self._owner[lanes] != NOBODY]
        blocks = self._block[lanes]
        self._unsent -= self._count(np.repeat(self._owner[lanes], self._pool.decisions(blocks)))
        self._pool.clear(blocks)

    # --- cutting ---------------------------------------------------------------------------------------------

    def _cut(self, lanes: Index, now: float) -> None:
        """Give lanes new blocks; the old ones are segments that wait to be taken."""
        if not len(lanes):
            return
        blocks, owners = self._block[lanes], self._owner[lanes]
        unfinished = self._pool.leave_out_unfinished(blocks)
        if len(unfinished):
            self._unsent -= self._count(owners[unfinished])
        self._waiting += self._count(owners.repeat(self._pool.decisions(blocks)))
        self._since[owners] = np.minimum(self._since[owners], now)
        self._segments.append((blocks, owners))
        self._block[lanes] = self._pool.lease(len(lanes))

    def finish(self, slots: IntArray) -> None:
        """Take note that the episodes in these slots are over, and all rewards are paid."""
        if self.perturber is not None:
            self.perturber.finish(slots)

    def take(self, now: float, decisions: int, seconds: float) -> list[Segments]:
        """Return the segments of every owner that has enough decisions, or whose oldest segment waited long enough."""
        due = ((self._waiting >= decisions) & (self._since < np.inf)) | (now - self._since >= seconds)
        numbers = due.nonzero()[0].tolist()
        taken = []
        for number, blocks in zip(numbers, self._segments_of(numbers), strict=True):
            player, incarnation = self._owners[number]
            arrays = self._pool.gather(blocks, self._memory(player), self._state(player))
            taken.append(Segments(player=player, incarnation=incarnation, **arrays))
        return taken

    def _segments_of(self, numbers: Sequence[int]) -> list[Index]:
        """Take the blocks of these owners that were cut."""
        if not numbers or not self._segments:
            return [np.zeros(0, np.intp) for _ in numbers]
        blocks, owners = (np.concatenate(parts) for parts in zip(*self._segments, strict=True))
        wanted = np.zeros(len(self._owners), np.bool_)
        wanted[numbers] = True
        left = ~wanted[owners]
        self._segments = [(blocks[left], owners[left])] if left.any() else []
        self._unsent[numbers] -= self._waiting[numbers]
        self._waiting[numbers], self._since[numbers] = 0, np.inf
        return [blocks[owners == number] for number in numbers]
