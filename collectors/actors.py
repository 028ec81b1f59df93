"""Actors: from the entry of a ticket to the bot or network that chooses its actions.

Bots are made once. Frozen weights come from the store, are verified, and stay in a cache of bounded size. Live weights
are swapped between ticks, for all slots at once.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.players.scripted import make_bot
from league.ids import Hash, PlayerId
from league.per_player import PerPlayer
from league.policies.actions import Actions
from league.policies.actor import Actor
from league.policies.binding import bind
from league.policies.layout import FloatArray, PolicyConfig
from league.policies.network_actor import NetworkActor, actor_from_snapshot, choose_actions, make_actor, sociable
from league.spec import EnvSpec
from league.store.snapshots import SnapshotStore
from league.ticket import Entry


class RemoteActor:
    """A live player whose network runs in an inference process; it samples actions from the outputs."""

    def __init__(self, player: PlayerId, config: PolicyConfig, spec: EnvSpec) -> None:
        self.player, self.policy, self._spec = player, config, spec
        self.sociable = sociable(config, spec)
        self.outputs: FloatArray = np.zeros((0, spec.actions + spec.continuous), np.float32)  # of its rows in this tick
        self.log_std: FloatArray = np.zeros(spec.continuous, np.float32)
        self.exploration: FloatArray = np.zeros(0, np.float32)

    def act(
        self,
        observation: npt.NDArray[Any],
        mask: npt.NDArray[np.bool_],
        rng: np.random.Generator,
        share: FloatArray | None = None,
    ) -> tuple[Actions, npt.NDArray[np.float32]]:
        """Return a legal action for each row and its log-probability."""
        return choose_actions(self._spec, self.outputs, self.log_std, self.exploration, mask, rng, share)


class Actors:
    """Numbered actors. A number stays the same while any slot plays with it.

    Live players have the network that `policies` says, frozen ones that of their snapshot.
    """

    def __init__(
        self,
        spec: EnvSpec,
        policies: PerPlayer[PolicyConfig],
        store: SnapshotStore,
        cache_bytes: int,
        allow: Collection[str] = (),
        act_in: str = "numpy",
    ) -> None:
        self._spec, self._policies, self._store, self._allow, self._act_in = spec, policies, store, allow, act_in
        self._bound: dict[PlayerId, PolicyConfig] = {}
        self.sees_team = False  # whether any actor sees which of its team-mates decide
        self.memory = 0  # the largest memory of any actor, in numbers for each agent
        self._cache_bytes = cache_bytes
        self._actors: list[Actor | None] = []
        self._versions = np.zeros(16, np.int32)
        self._bots: dict[str, int] = {}
        self._live: dict[PlayerId, int] = {}
        self._outdated: set[PlayerId] = set()  # live players whose weights are of an earlier incarnation
        self._frozen: OrderedDict[Hash, tuple[int, int]] = OrderedDict()  # number and bytes, oldest use first
        self.loads = 0

    def __getitem__(self, number: int) -> Actor:
        actor = self._actors[number]
        assert actor is not None
        return actor

    def policy_of(self, player: PlayerId) -> PolicyConfig:
        """Return the network of a live player, whose code is loaded when it first plays."""
        if player not in self._bound:
            self._bound[player] = bind(self._policies[player], self._spec, self._allow)
        return self._bound[player]

    def version(self, numbers: npt.NDArray[np.int16]) -> npt.NDArray[np.int32]:
        """Return the version of the weights behind each number (0 for frozen players and bots)."""
        return self._versions[numbers.astype(np.intp)]

    def number(self, entry: Entry, in_use: Callable[[], Collection[int]]) -> int | None:
        """Return the actor of an entry; None while live weights have not arrived yet.

        Raises SnapshotDamaged, SnapshotMissing or PluginError: then the ticket cannot be played.
        """
        if entry.bot is not None:
            if entry.bot not in self._bots:
                self._bots[entry.bot] = self._add(make_bot(entry.bot, self._spec, self._allow))
            return self._bots[entry.bot]
        if entry.snapshot is None:
            return None if entry.player in self._outdated else self._live.get(entry.player)
        if entry.snapshot not in self._frozen:
            self._load(entry.snapshot, in_use)
        self._frozen.move_to_end(entry.snapshot)
        return self._frozen[entry.snapshot][0]

    def update_live(self, player: PlayerId, version: int, flat: npt.NDArray[np.float32]) -> None:
        """Swap in new weights of a live player, in all slots. Raises ValueError if they do not fit the policy."""
        self._swap(player, make_actor(self.policy_of(player), self._spec, flat, act_in=self._act_in))
        self._versions[self._live[player]] = version

    def place(self, number: int | None, player: PlayerId, flat: FloatArray) -> int:
        """Let an actor of a live player have weights of its own, in place of those that the number had before."""
        actor = make_actor(self.policy_of(player), self._spec, flat, act_in=self._act_in)
        if number is None:
            return self._add(actor)
        self._actors[number] = actor
        return number

    def update_remote(self, player: PlayerId) -> None:
        """Let a live player act with the weights of an inference process."""
        if player not in self._live or player in self._outdated:
            self._swap(player, RemoteActor(player, self.policy_of(player), self._spec))

    def set_outputs(self, number: int, version: int, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Give a remote actor its network's outputs for the rows of its next tick, and their version."""
        actor = self._actors[number]
        assert isinstance(actor, RemoteActor)
        actor.outputs, actor.log_std, actor.exploration = (arrays[n] for n in ("outputs", "log_std", "exploration"))
        self._versions[number] = version

    def _swap(self, player: PlayerId, actor: Actor) -> None:
        self._outdated.discard(player)
        if player in self._live:
            self._actors[self._live[player]] = actor
            self._make_room(actor)
        else:
            self._live[player] = self._add(actor)

    def forget_live(self, player: PlayerId) -> None:
        """Start no episode with these weights: the player was reset. Episodes under way go on."""
        self._outdated.add(player)

    def _load(self, snapshot: Hash, in_use: Callable[[], Collection[int]]) -> None:
        found = self._store.get(snapshot)
        actor = actor_from_snapshot(found.arrays, found.manifest, self._spec, False, self._allow, self._act_in)
        size = sum(array.nbytes for array in found.arrays.values())
        self._drop_pruned(in_use)
        self._evict(size, in_use)
        self._frozen[snapshot] = (self._add(actor), size)
        self.loads += 1

    def _drop_pruned(self, in_use: Callable[[], Collection[int]]) -> None:
        """Drop weights whose snapshot was pruned from the store: no ticket will name them again."""
        pruned = [snapshot for snapshot in self._frozen if snapshot not in self._store]
        busy = in_use() if pruned else ()
        for snapshot in pruned:
            if self._frozen[snapshot][0] not in busy:
                self._drop(snapshot)

    def _drop(self, snapshot: Hash) -> None:
        number, _ = self._frozen.pop(snapshot)
        self._actors[number] = None

    def _evict(self, needed: int, in_use: Callable[[], Collection[int]]) -> None:
        """Make room: drop the least recently used weights that no slot plays with."""
        total = needed + sum(size for _, size in self._frozen.values())
        if total <= self._cache_bytes:
            return
        busy = in_use()
        for snapshot, (number, size) in list(self._frozen.items()):
            if total <= self._cache_bytes:
                return
            if number not in busy:
                self._drop(snapshot)
                total -= size

    def _make_room(self, actor: Actor) -> None:
        if isinstance(actor, NetworkActor):
            self.memory = max(self.memory, actor.memory)
            self.sees_team |= actor.foreign
        elif isinstance(actor, RemoteActor):
            self.memory = max(self.memory, actor.policy.state_size)

    def _add(self, actor: Actor) -> int:
        self._make_room(actor)
        for number, taken in enumerate(self._actors):
            if taken is None:
                self._actors[number] = actor
                self._versions[number] = 0
                return number
        self._actors.append(actor)
        if len(self._actors) > len(self._versions):
            self._versions = np.concatenate([self._versions, np.zeros_like(self._versions)])
        return len(self._actors) - 1
