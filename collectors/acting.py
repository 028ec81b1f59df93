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
from league.policies.network_actor import Bystanders, NetworkActor
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


class ActorRows(NamedTuple):
    """The rows of one actor in a tick, and its team-mates and memory if any actor needs them."""

    observation: npt.NDArray[Any]
    mask: npt.NDArray[np.bool_]
    slot: IntArray
    agent: IntArray
    team: npt.NDArray[np.bool_] | None
    memory: FloatArray | None
    places: npt.NDArray[np.intp] | None = None  # which rows of the tick these are; None: all of them

    def part(self, part: slice) -> "ActorRows":
        """Return some of the rows."""
        return ActorRows(*(None if array is None else array[part] for array in self))  # type: ignore[arg-type]


class Acting:
    """Runs the numbered actors, and keeps their memories.

    acting = Acting(spec, slots, actors, rng)
    acted = acting.act(rows, numbers)      # `numbers` says which actor acts in each row
    """

    def __init__(self, spec: EnvSpec, slots: int, actors: Actors, rng: np.random.Generator) -> None:
        self._spec, self._actors, self._rng = spec, actors, rng
        self._place, self._teams = places(spec), Teams(spec)
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
            mine = ActorRows(rows.observation, rows.mask, rows.slot, rows.agent, self._team(rows), after)
            choice = self._alone(self._actors[int(present[0])], mine)
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
        team = self._team(rows)
        everyone = ActorRows(
            rows.observation.take(order, axis=0),
            rows.mask.take(order, axis=0),
            rows.slot[order],
            rows.agent[order],
            None if team is None else team[order],
            None if memory is None else memory.take(order, axis=0),
            order,
        )
        networks: dict[str, list[tuple[NumpyActor, slice]]] = {}
        apart: list[tuple[NetworkActor | RemoteActor, slice]] = []
        others: list[tuple[slice, Choice]] = []
        end = 0
        for number, count in zip(present.tolist(), counts[present].tolist(), strict=True):
            actor, part = self._actors[number], slice(end, end + count)
            end += count
            if isinstance(actor, NumpyActor) and actor.kind is not None:
                networks.setdefault(actor.kind, []).append((actor, part))
            elif (isinstance(actor, RemoteActor) and actor.sociable) or (
                isinstance(actor, NetworkActor) and actor.kind is not None
            ):
                apart.append((actor, part))
            else:
                others.append((part, self._alone(actor, everyone.part(part))))
        chosen, chances = self._race(networks, apart, everyone)
        for part, choice in others:
            chosen[part], chances[part] = choice
        actions, log_probs = np.empty_like(chosen), np.empty_like(chances)
        actions[order], log_probs[order] = chosen, chances
        after = everyone.memory
        if after is not None:
            after[order] = after.copy()
        return self._keep(rows, (actions, log_probs), memory, after)

    def _team(self, rows: Rows) -> npt.NDArray[np.bool_] | None:
        return self._teams.present(rows) if self._actors.sees_team else None

    def _alone(self, actor: Actor, rows: ActorRows) -> Choice:
        """Run one actor, and update its memory. Bots get observations and masks only."""
        if isinstance(actor, RemoteActor):
            return actor.act(rows.observation, rows.mask, self._rng, rows.slot * self._share)
        if not isinstance(actor, NetworkActor):
            return self._scripted(actor, rows.observation, rows.mask, rows.places)
        if isinstance(actor, NumpyActor) and actor.kind is not None:
            return actor.act(rows.observation, rows.mask, self._rng)
        mine = rows.memory[:, : actor.memory] if rows.memory is not None and actor.memory else None
        place = self._place[rows.agent]
        return actor.act(rows.observation, rows.mask, self._rng, place, mine, rows.slot * self._share, rows.team)

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
        apart: list[tuple[NetworkActor | RemoteActor, slice]],
        rows: ActorRows,
    ) -> Choice:
        """Run one forward pass for each kind of network, and sample all actions at once; other rows stay empty.

        In numpy networks of a kind share a pass. Those in torch have one each, and those elsewhere had theirs.
        """
        mask = rows.mask
        if not networks and not apart:
            shape = (len(mask), *self._spec.action.shape)
            return np.empty(shape, self._spec.action.dtype), np.empty(len(mask), np.float32)
        found = [forward(parts, rows.observation) for parts in networks.values()]
        logits: FloatArray = reduce(np.add, found or [np.zeros(mask.shape, np.float32)])
        for actor, part in apart:
            logits[part] = actor.outputs if isinstance(actor, RemoteActor) else self._outputs(actor, rows.part(part))
        noise = self._rng.standard_exponential(mask.shape[::-1], dtype=np.float32)
        return race(np.ascontiguousarray(logits.T), mask, noise)

    def _outputs(self, actor: NetworkActor, rows: ActorRows) -> FloatArray:
        return actor.outputs(rows.observation, self._place[rows.agent], None, Bystanders(rows.mask, rows.team))


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


class Teams:
    """Finds out which agents of a seat decide in the same tick."""

    def __init__(self, spec: EnvSpec) -> None:
        self._place, self._seats = places(spec), len(spec.seats)
        self._seat = np.zeros(len(spec.agents), np.intp)
        for number, seat in enumerate(spec.seats):
            self._seat[list(seat.agents)] = number
        self._size = int(self._place.max()) + 1

    def present(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return for each row which agents of its seat have a row: [rows, agents of the largest seat]."""
        if self._size == 1:
            return np.ones((len(rows), 1), np.bool_)
        agent = rows.agent.astype(np.intp, copy=False)
        team = rows.slot.astype(np.intp, copy=False) * self._seats + self._seat[agent]
        decides = np.zeros((int(team.max()) + 1, self._size), np.bool_)
        decides[team, self._place[agent]] = True
        found: npt.NDArray[np.bool_] = decides[team]
        return found
