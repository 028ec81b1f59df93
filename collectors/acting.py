"""Acting: the actions of all rows of one tick, with one forward pass for each kind of network."""

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from collectors.actors import Actors, RemoteActor
from collectors.envs.rows import IntArray, Rows
from collectors.players.bots import RandomBot
from collectors.players.scripted import BotError
from league.policies.actions import Actions, race
from league.policies.actor import Actor
from league.policies.layout import FloatArray
from league.policies.numpy_actor import NumpyActor, forward
from league.spec import EnvSpec

Choice = tuple[Actions, npt.NDArray[np.float32]]


class Acted(NamedTuple):
    """The actions of one tick."""

    actions: Actions
    log_probs: npt.NDArray[np.float32]
    memory: FloatArray | None = None  # [rows, M] memory before the action; None if no actor has one
    faults: "tuple[PlayerFault, ...]" = ()  # rows whose player chose no legal action; theirs is random


class PlayerFault(NamedTuple):
    """A player that broke the rules in one row."""

    row: int
    reason: str


class Recalled(NamedTuple):
    """The memory of some rows' agents, from an inference process."""

    rows: npt.NDArray[np.intp]
    memory: FloatArray


class Acting:
    """Runs the numbered actors, and keeps their memories.

    acting = Acting(spec, slots, actors, rng)
    acted = acting.act(rows, numbers)      # `numbers` says which actor acts in each row
    """

    def __init__(self, spec: EnvSpec, slots: int, actors: Actors, rng: np.random.Generator) -> None:
        self._spec, self._actors, self._rng = spec, actors, rng
        self._place = places(spec)
        self._memory = np.zeros((slots, len(spec.agents), 0), np.float32)
        self._share = np.float32(1 / max(1, slots - 1))  # from slot to slot, on a scale of 0 to 1
        self._faults: list[PlayerFault] = []  # of one tick

    def act(self, rows: Rows, numbers: npt.NDArray[np.int16], recalled: Sequence[Recalled] = ()) -> Acted:
        """Return an action for each row: every actor gets a slice of the sorted rows."""
        counts = np.bincount(numbers)
        present = counts.nonzero()[0]
        memory = self._recall(rows) if self._actors.memory else None
        if memory is not None:
            for one in recalled:
                memory[one.rows, : one.memory.shape[1]] = one.memory
        if len(present) == 1:
            after = None if memory is None else memory.copy()
            choice = self._alone(
                self._actors[int(present[0])], rows.observation, rows.mask, (rows.slot, rows.agent), after
            )
            return self._keep(rows, choice, memory, after)
        return self._act_sorted(rows, numbers, memory, present, counts)

    def _act_sorted(
        self,
        rows: Rows,
        numbers: npt.NDArray[np.int16],
        memory: FloatArray | None,
        present: npt.NDArray[np.intp],
        counts: npt.NDArray[np.intp],
    ) -> Acted:
        """Run several actors, each on its slice of the rows sorted by actor."""
        order = numbers.argsort(kind="stable")
        observation, mask = rows.observation.take(order, axis=0), rows.mask.take(order, axis=0)
        after = None if memory is None else memory.take(order, axis=0)
        networks: dict[str, list[tuple[NumpyActor, slice]]] = {}
        remote: list[tuple[RemoteActor, slice]] = []
        others: list[tuple[slice, Choice]] = []
        end = 0
        for number, count in zip(present.tolist(), counts[present].tolist(), strict=True):
            actor, part = self._actors[number], slice(end, end + count)
            end += count
            if isinstance(actor, NumpyActor) and actor.kind is not None:
                networks.setdefault(actor.kind, []).append((actor, part))
            elif isinstance(actor, RemoteActor) and actor.sociable:
                remote.append((actor, part))
            else:
                mine = None if after is None else after[part]
                whose = rows.slot[order[part]], rows.agent[order[part]]
                others.append((part, self._alone(actor, observation[part], mask[part], whose, mine, order[part])))
        chosen, chances = self._race(networks, remote, observation, mask)
        for part, choice in others:
            chosen[part], chances[part] = choice
        actions, log_probs = np.empty_like(chosen), np.empty_like(chances)
        actions[order], log_probs[order] = chosen, chances
        if after is not None:
            after[order] = after.copy()
        return self._keep(rows, (actions, log_probs), memory, after)

    def _alone(
        self,
        actor: Actor,
        observation: npt.NDArray[np.float32],
        mask: npt.NDArray[np.bool_],
        whose: tuple[IntArray, IntArray],
        memory: FloatArray | None,
        places: npt.NDArray[np.intp] | None = None,
    ) -> Choice:
        """Run one actor for agents of slots, and update `memory`. Bots get observations and masks only.

        `places` says which rows of the tick these are; None: all of them.
        """
        slot, agent = whose
        if isinstance(actor, RemoteActor):
            return actor.act(observation, mask, self._rng, slot * self._share)
        if not isinstance(actor, NumpyActor):
            return self._scripted(actor, observation, mask, places)
        if actor.kind is not None:
            return actor.act(observation, mask, self._rng)
        mine = memory[:, : actor.memory] if memory is not None and actor.memory else None
        return actor.act(observation, mask, self._rng, self._place[agent], mine, slot * self._share)

    def _scripted(
        self,
        bot: Actor,
        observation: npt.NDArray[Any],
        mask: npt.NDArray[np.bool_],
        places: npt.NDArray[np.intp] | None,
    ) -> Choice:
        """Run a bot. Where it breaks the rules, note a fault and take a random legal action instead."""
        try:
            return bot.act(observation, mask, self._rng)
        except BotError as error:
            wrong = np.ones(len(mask), np.bool_) if error.fine is None else ~error.fine
            rows = np.arange(len(mask)) if places is None else places
            self._faults += [PlayerFault(int(row), str(error)) for row in rows[wrong]]
            actions, log_probs = RandomBot(self._spec).act(observation, mask, self._rng)
            if error.chosen is not None:
                actions[~wrong] = error.chosen[~wrong]
            return actions, log_probs

    def _recall(self, rows: Rows) -> FloatArray:
        """Return the memory of each row's agent; it is zero at the first decision of an episode."""
        missing = self._actors.memory - self._memory.shape[2]
        if missing > 0:
            self._memory = np.pad(self._memory, ((0, 0), (0, 0), (0, missing)))
        memory = self._memory[rows.slot, rows.agent]
        memory[rows.first] = 0
        return memory

    def _keep(self, rows: Rows, choice: Choice, memory: FloatArray | None, after: FloatArray | None) -> Acted:
        if after is not None:
            self._memory[rows.slot, rows.agent] = after
        faults, self._faults = tuple(self._faults), []
        return Acted(*choice, memory, faults)

    def _race(
        self,
        networks: dict[str, list[tuple[NumpyActor, slice]]],
        remote: list[tuple[RemoteActor, slice]],
        observation: npt.NDArray[np.float32],
        mask: npt.NDArray[np.bool_],
    ) -> Choice:
        """Run one forward pass for each kind of network, and sample all actions at once; other rows stay empty."""
        if not networks and not remote:
            shape = (len(mask), *self._spec.action.shape)
            return np.empty(shape, self._spec.action.dtype), np.empty(len(mask), np.float32)
        found = [forward(parts, observation) for parts in networks.values()]
        logits: FloatArray = reduce(np.add, found or [np.zeros(mask.shape, np.float32)])
        for actor, part in remote:
            logits[part] = actor.outputs
        noise = self._rng.standard_exponential(mask.shape[::-1], dtype=np.float32)
        return race(np.ascontiguousarray(logits.T), mask, noise)


def places(spec: EnvSpec) -> npt.NDArray[np.intp]:
    """Return the place of each agent in its seat.

    >>> from league.spec import Array, Seat
    >>> places(EnvSpec("toy", ("a", "b", "c"), (Seat((0, 2)), Seat((1,))), Array((1,), "int8"), actions=2)).tolist()
    [0, 0, 1]
    """
    place = np.zeros(len(spec.agents), np.intp)
    for seat in spec.seats:
        place[list(seat.agents)] = range(len(seat.agents))
    return place
