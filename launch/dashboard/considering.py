"""What players considered: the probabilities of their actions and the values of positions, from their snapshots."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from collectors.acting import Teams, places
from collectors.envs.rows import Rows
from collectors.players.loaded_player import ActingError, value_network
from league.errors import LudusError
from league.ids import Hash
from league.policies.actions import bounded
from league.policies.layout import ILLEGAL, FloatArray, policy_from
from league.policies.network_actor import Bystanders, HasValues, NetworkActor, actor_from_snapshot
from league.spec import EnvSpec
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from league.ticket import Entry, Ticket, seating


class Mind:
    """One snapshot: what it would choose, and what it expects."""

    def __init__(self, run: RunDirectory, snapshot: Hash, spec: EnvSpec, allow: Collection[str]) -> None:
        found = SnapshotStore(run.snapshots).get(snapshot)
        self.actor: NetworkActor = actor_from_snapshot(found.arrays, found.manifest, spec, allow=allow)
        self._config = policy_from(found.manifest.policy)
        self._critic: NetworkActor | None = None
        if self._config.ours and self._config.head != "values":
            try:
                self._critic = value_network(self._config, spec, found.arrays["flat"])
            except ActingError:
                self._critic = None  # it sees more than one agent, so an observation alone has no value

    def look(self, rows: Rows, row: int, place: int, memory: FloatArray | None, team: Any) -> tuple[Any, float | None]:
        """Return the probability of each action and the value; update the memory."""
        observation, mask = rows.observation[row : row + 1], rows.mask[row : row + 1]
        where, beside = np.array([place], np.intp), Bystanders(mask, team)
        value = self._value(observation, mask, where, memory, beside)
        outputs = self.actor.outputs(observation, where, memory, beside)
        if self._config.head == "values":
            value = float(np.where(mask, bounded(outputs), ILLEGAL).max())
        return self.actor.probabilities(outputs, mask)[0], value

    def _value(
        self, observation: Any, mask: Any, where: Any, memory: FloatArray | None, beside: Bystanders
    ) -> float | None:
        kept = None if memory is None else memory.copy()
        if isinstance(self.actor, HasValues):
            return float(self.actor.values(observation, where, kept, beside)[0])
        return None if self._critic is None else float(self._critic.outputs(observation, where, kept)[0, 0])


class Considering:
    """The minds of the players of one episode, and what they remember in it."""

    def __init__(
        self, run: RunDirectory, spec: EnvSpec, ticket: Ticket, episode: int, allow: Collection[str] = ()
    ) -> None:
        self._run, self._spec, self._allow = run, spec, allow
        seats = seating(spec.roles, episode, spec.sides)
        self._entry = {agent: ticket.entries[seats[i]] for i, seat in enumerate(spec.seats) for agent in seat.agents}
        self._place, self._teams = places(spec), Teams(spec)
        self._minds: dict[Hash, Mind | str] = {}
        self._memory: dict[int, FloatArray] = {}

    def decisions(self, rows: Rows, chosen: Sequence[Any]) -> list[dict[str, Any]]:
        """Return what each agent that acts in these rows considered, and what it chose."""
        team = self._teams.present(rows) if len(rows) else None
        return [self._decision(rows, row, chosen[row], team) for row in range(len(rows))]

    def _decision(self, rows: Rows, row: int, chosen: Any, team: Any) -> dict[str, Any]:
        agent = int(rows.agent[row])
        entry = self._entry[agent]
        plain: dict[str, Any] = {"agent": self._spec.agents[agent], "player": entry.player, "chosen": chosen}
        plain |= {"legal": None, "probabilities": None, "value": None, "why": ""}
        if not self._spec.single:
            return plain | {"why": "an action has several parts"}
        plain["legal"] = np.flatnonzero(rows.mask[row]).tolist()
        mind = self._mind(entry)
        if isinstance(mind, str):
            return plain | {"why": mind}
        chances, value = mind.look(rows, row, int(self._place[agent]), self._recalled(mind, rows, row, agent), team)
        return plain | {"probabilities": [round(float(chances[i]), 4) for i in plain["legal"]], "value": value}

    def _recalled(self, mind: Mind, rows: Rows, row: int, agent: int) -> FloatArray | None:
        """Return the memory of an agent, which is updated in place; zeros at its first decision."""
        if not mind.actor.memory:
            return None
        if rows.first[row] or agent not in self._memory:
            self._memory[agent] = np.zeros((1, mind.actor.memory), np.float32)
        return self._memory[agent]

    def _mind(self, entry: Entry) -> Mind | str:
        """Return the mind of an entry, or why there is none."""
        if entry.bot is not None:
            return f"{entry.bot} is a script"
        if entry.members:
            return "a mixture: one of its members played"
        if entry.snapshot is None:
            return "its live weights were not kept"
        if entry.snapshot not in self._minds:
            try:
                self._minds[entry.snapshot] = Mind(self._run, entry.snapshot, self._spec, self._allow)
            except (LudusError, OSError, ValueError) as error:
                self._minds[entry.snapshot] = f"its snapshot cannot be used: {error}"
        return self._minds[entry.snapshot]
