"""The perturber: an evolving player plays each training episode with weights + noise, and what it returned is kept.

Of these lanes nothing is recorded: the recorder has no owner for them. Both weights of a pair, + and - the same noise,
play in the same ticket in the same seats, so opponent and seat weigh on both alike. Which noise follows from the
episode's seed, so it can be reproduced from the ticket.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from collectors.actors import Actors
from collectors.envs.rows import Ends, IntArray, Rows
from collectors.envs.slots import Index
from collectors.seating import Seating, Start
from league.fitness import Fitness, join_fitness
from league.ids import PlayerId, derive_seed
from league.per_player import PerPlayer
from league.policies.layout import FloatArray
from league.policies.perturbation import NoiseTable, perturbed_part
from league.spec import EnvSpec
from league.ticket import turns

Owner = tuple[PlayerId, int]  # a player and its incarnation
NOBODY = -1
LARGEST = float(np.finfo(np.float32).max)


def pair_of(episode: int, turn: int) -> tuple[int, int]:
    """Return the episode of a ticket whose seed chooses the noise of this one, and the sign of the noise.

    >>> [pair_of(episode, 2) for episode in range(6)]
    [(0, 1), (1, 1), (0, -1), (1, -1), (4, 1), (5, 1)]
    """
    within = episode % (2 * turn)
    return episode - within + within % turn, 1 if within < turn else -1


class Perturber:
    """Perturbs the players for which `sigmas` has a deviation; for all others it does nothing."""

    def __init__(self, spec: EnvSpec, slots: int, actors: Actors, sigmas: PerPlayer[float]) -> None:
        self._spec, self._actors, self._sigmas = spec, actors, sigmas
        self._entries, self._turn = len(spec.seats), turns(spec.roles, spec.sides)
        lanes = slots * self._entries
        self._tables: dict[PlayerId, NoiseTable] = {}
        self._weights: dict[PlayerId, tuple[int, FloatArray]] = {}  # version and weights of each evolving player
        self._owners: list[Owner] = []
        self._owner = np.full(lanes, NOBODY, np.intp)  # of the episode under way in each lane
        self._number: list[int | None] = [None] * lanes  # of the actor of each lane
        self._offset, self._sign = np.zeros(lanes, np.int64), np.zeros(lanes, np.int8)
        self._version, self._decisions = np.zeros(lanes, np.int32), np.zeros(lanes, np.int32)
        self._returned = np.zeros(lanes)
        self._finished: dict[Owner, list[Fitness]] = {}
        self._since: dict[Owner, float] = {}  # when finished episodes of an owner were first seen by `take`

    @property
    def any(self) -> bool:
        """Whether any player has evolved here."""
        return bool(self._owners)

    def evolves(self, player: PlayerId) -> bool:
        """Return whether this player learns from the returns of perturbed weights."""
        return self._sigmas[player] > 0

    @property
    def unsent(self) -> dict[Owner, int]:
        """Episodes of each owner that are under way, or finished and not taken yet."""
        under_way = np.bincount(self._owner[self._owner != NOBODY], minlength=len(self._owners))
        finished = {owner: sum(one.units for one in self._finished.get(owner, ())) for owner in self._owners}
        return {owner: int(under_way[n]) + finished[owner] for n, owner in enumerate(self._owners)}

    def update(self, player: PlayerId, version: int, flat: FloatArray) -> None:
        """Take in new weights; episodes under way go on with theirs."""
        if self.evolves(player):
            self._weights[player] = (version, np.array(flat))

    # --- episodes --------------------------------------------------------------------------------------------

    def begin(
        self, starts: Sequence[Start], owners: Sequence[Sequence[Owner | None]], seating: Seating
    ) -> list[list[Owner | None]]:
        """Perturb the weights of evolving players in episodes that begin; return who is left for the recorder."""
        left = [list(row) for row in owners]
        for start, row in zip(starts, left, strict=True):
            for entry, owner in enumerate(row):
                if owner is not None and self.evolves(owner[0]):
                    row[entry] = None
                    self._begin(start, entry, owner, seating)
        return left

    def _begin(self, start: Start, entry: int, owner: Owner, seating: Seating) -> None:
        for slot, episode in zip(start.slots, start.episodes, strict=True):
            first, sign = pair_of(episode, self._turn)
            number = self.perturb(slot, entry, owner, derive_seed(start.held.seeds[first], "noise", entry), sign)
            seating.actor[slot, seating.entry[slot] == entry] = number

    def perturb(self, slot: int, entry: int, owner: Owner, seed: int, sign: int) -> int:
        """Begin an episode of an owner in a lane, with the noise of this seed; return the number of its actor."""
        player, lane = owner[0], slot * self._entries + entry
        version, flat = self._weights[player]
        table = self._table_of(player)
        if owner not in self._owners:
            self._owners.append(owner)
        self._owner[lane] = self._owners.index(owner)
        self._offset[lane], self._sign[lane], self._version[lane] = table.offset_of(seed), sign, version
        self._decisions[lane] = self._returned[lane] = 0
        weights = table.perturbed(flat, int(self._offset[lane]), sign, self._sigmas[player])
        number = self._actors.place(self._number[lane], player, weights)
        self._number[lane] = number
        return number

    def _table_of(self, player: PlayerId) -> NoiseTable:
        if player not in self._tables:
            self._tables[player] = NoiseTable(perturbed_part(self._actors.policy_of(player), self._spec))
        return self._tables[player]

    def decide(self, rows: Rows, entry: Index) -> None:
        """Count the decisions of one tick, and add up the rewards since those before."""
        if self._owners:
            self._add(rows.slot, entry, rows.reward)
            lane = rows.slot.astype(np.intp, copy=False) * self._entries + entry
            self._decisions += np.bincount(lane, minlength=len(self._decisions)).astype(np.int32)

    def end(self, ends: Ends, entry: Index) -> None:
        """Add the last reward of each agent."""
        if self._owners:
            self._add(ends.slot, entry, ends.reward)

    def _add(self, slot: IntArray, entry: Index, reward: npt.NDArray[np.float32]) -> None:
        lane = slot.astype(np.intp, copy=False) * self._entries + entry
        self._returned += np.bincount(lane, reward, minlength=len(self._returned))

    def pay_late(self, slot: int, entry: int, reward: float) -> None:
        """Add a reward that an agent got after its END row."""
        self._returned[slot * self._entries + entry] += reward

    def drop(self, slot: int) -> None:
        """Drop the episode of a slot: it broke."""
        self._owner[slot * self._entries : (slot + 1) * self._entries] = NOBODY

    def finish(self, slots: IntArray) -> None:
        """Keep what the episodes returned that are over in these slots; one without a decision shows nothing."""
        lanes = (slots.astype(np.intp)[:, None] * self._entries + np.arange(self._entries)).reshape(-1)
        owned = lanes[self._owner[lanes] != NOBODY]
        for number in np.unique(self._owner[owned]).tolist():
            mine = owned[(self._owner[owned] == number) & (self._decisions[owned] > 0)]
            if len(mine):
                self._finished.setdefault(self._owners[number], []).append(self._fitness(self._owners[number], mine))
        self._owner[owned] = NOBODY

    def _fitness(self, owner: Owner, lanes: Index) -> Fitness:
        return Fitness(
            *owner,
            offset=self._offset[lanes],
            sign=self._sign[lanes],
            returned=np.clip(self._returned[lanes], -LARGEST, LARGEST),
            decisions_made=self._decisions[lanes],
            version=self._version[lanes],
        )

    # --- leaving ---------------------------------------------------------------------------------------------

    def take(self, now: float, decisions: int, seconds: float) -> list[Fitness]:
        """Return what is finished of every owner with enough decisions, or whose oldest episode waited long enough."""
        taken: list[Fitness] = []
        for owner, parts in list(self._finished.items()):
            made = sum(int(part.decisions_made.sum()) for part in parts)
            if made >= decisions or now - self._since.setdefault(owner, now) >= seconds:
                taken.append(join_fitness(parts))
                del self._finished[owner]
                self._since.pop(owner, None)
        return taken

    def forget(self, owner: Owner) -> None:
        """Drop what was kept of an owner: the player was reset."""
        self._finished.pop(owner, None)
        self._since.pop(owner, None)
        if owner in self._owners:
            self._owner[self._owner == self._owners.index(owner)] = NOBODY
