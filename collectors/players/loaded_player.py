"""A packed player that acts anywhere: in a PettingZoo loop, a notebook, a server. No league and no sockets.

Built-in networks need no torch; those of other packages act in torch, if their package is allowed.

player = load_player(Path("main.safetensors"))
action = player.act(observation, mask)                  # one agent
actions = player.act_all(observations)                  # of a Parallel environment, in one forward pass
player.reset()                                          # before each episode
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from collectors.envs.adapters.translator import Translator
from league.errors import InputError
from league.policies.actions import Actions, best, bounded
from league.policies.layout import ILLEGAL, FloatArray, PolicyConfig, describe, policy_from
from league.policies.network_actor import Bystanders, HasValues, actor_from_snapshot, choose_actions
from league.policies.numpy_actor import NumpyActor
from league.spec import EnvSpec
from league.store.player_file import PlayerCard, PlayerFile, PlayerFileError, read_player

BoolArray = npt.NDArray[np.bool_]


class ActingError(InputError):
    """A player cannot act as it was asked to; the message says what to change."""


def load_player(
    path: Path, *, greedy: bool = False, seed: int | None = None, allow: Collection[str] = ()
) -> "LoadedPlayer":
    """Return the player of a file; raise PlayerFileError if it is damaged, or needs a package that is missing."""
    found = read_player(path)
    try:
        return LoadedPlayer(found, greedy=greedy, seed=seed, allow=allow)
    except ValueError as error:
        raise PlayerFileError(f"{path} cannot play: {error}") from error


def network_of(file: PlayerFile) -> PolicyConfig:
    """Return the network of a player file; raise InputError if it is none of Ludus, with what is missing."""
    name, card = str(file.snapshot.manifest.policy.get("name")), file.card
    package = name.partition(":")[0].partition(".")[0]
    if package in card.requires and find_spec(package) is None:
        raise InputError(
            f"its network {name!r} needs the package {package!r}, which is not installed: "
            f"pip install {card.requires[package]!r}"
        )
    try:
        config = policy_from(file.snapshot.manifest.policy)
    except msgspec.ValidationError as error:
        raise InputError(f"its network is none of Ludus: {error}") from error
    return config


@dataclass(frozen=True, slots=True)
class _AgentRows:
    """The rows of some keys, each with its agent."""

    keys: list[Hashable]
    agents: list[str]
    observation: npt.NDArray[Any]
    mask: BoolArray


class LoadedPlayer:
    """A player out of a file. It keeps the memory of every agent that it acts for, from `reset` to `reset`.

    An agent is its name in the environment. Several episodes at once have keys such as (3, "player_0"): anything
    hashable with the agent's name at its end. The agent may be left out where all agents are alike.
    """

    def __init__(
        self, file: PlayerFile, *, greedy: bool = False, seed: int | None = None, allow: Collection[str] = ()
    ) -> None:
        self.card: PlayerCard = file.card
        self.greedy = greedy
        self._spec = spec = file.card.spec
        self._config, self._flat = network_of(file), file.snapshot.arrays["flat"]
        self._actor = actor_from_snapshot(file.snapshot.arrays, file.snapshot.manifest, spec, allow=allow)
        self._translator = Translator(spec, file.card.spaces)
        self._place = {spec.agents[a]: i for seat in spec.seats for i, a in enumerate(seat.agents)}
        self._seat = {spec.agents[a]: i for i, seat in enumerate(spec.seats) for a in seat.agents}
        self._rng = np.random.default_rng(seed)
        self._memory: dict[Hashable, FloatArray] = {}
        self._ended: set[Hashable] = set()
        self._critic: NumpyActor | None = None

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that it can act for."""
        return self.card.agents

    def reset(self) -> None:
        """Begin a new episode: forget everything about the last one."""
        self._memory.clear()
        self._ended.clear()

    def end(self, agent: Hashable = None) -> None:
        """Say that the episode of an agent is over; to act for it again before `reset` is an error."""
        self._memory.pop(agent, None)
        self._ended.add(agent)

    def act(self, observation: Any, mask: Any = None, *, agent: Hashable = None, greedy: bool | None = None) -> Any:
        """Return an action for an observation, both as the environment has them, and update the agent's memory."""
        return self.act_all({agent: observation}, {agent: mask}, greedy=greedy)[agent]

    def act_all(
        self,
        observations: Mapping[Hashable, Any],
        masks: Mapping[Hashable, Any] | None = None,
        *,
        greedy: bool | None = None,
    ) -> dict[Hashable, Any]:
        """Return an action for each agent's observation: one forward pass for all of them."""
        if not observations:
            return {}
        batch = self._batch(observations, masks or {}, need_mask=True)
        memory = self._recalled(batch)
        outputs = self._actor.outputs(batch.observation, self._places(batch), memory, self._beside(batch))
        parts = self._chosen(outputs, batch.mask, self.greedy if greedy is None else greedy)
        if memory is not None:
            self._memory.update(zip(batch.keys, memory, strict=True))
        named = zip(batch.keys, batch.agents, parts, strict=True)
        return {key: self._translator.action(agent, part) for key, agent, part in named}

    def probabilities(self, observation: Any, mask: Any = None, *, agent: Hashable = None) -> npt.NDArray[np.float64]:
        """Return with which probability it chooses each option. The memory stays as it is."""
        if not self._spec.single:
            raise ActingError(
                f"an action of {self._spec.name} has several parts: only a single choice has one row of probabilities"
            )
        batch = self._batch({agent: observation}, {agent: mask}, need_mask=True)
        outputs = self._actor.outputs(
            batch.observation, self._places(batch), self._recalled(batch), self._beside(batch)
        )
        chances: npt.NDArray[np.float64] = self._actor.probabilities(outputs, batch.mask)[0]
        return chances

    def value(self, observation: Any, mask: Any = None, *, agent: Hashable = None) -> float:
        """Return what the network expects the agent to earn from here on, discounted. The memory stays as it is."""
        sees_mask = self._config.valued or self._actor.foreign
        batch = self._batch({agent: observation}, {agent: mask}, need_mask=sees_mask)
        memory, places, beside = self._recalled(batch), self._places(batch), self._beside(batch)
        if self._config.valued:
            outputs = self._actor.outputs(batch.observation, places, memory, beside)
            return float(np.where(batch.mask, bounded(outputs), ILLEGAL).max())
        if isinstance(self._actor, HasValues):
            return float(self._actor.values(batch.observation, places, memory, beside)[0])
        if self._critic is None:
            self._critic = value_network(self._config, self._spec, self._flat)
        return float(self._critic.outputs(batch.observation, places, memory)[0, 0])

    def _chosen(self, outputs: FloatArray, mask: BoolArray, greedy: bool) -> Actions:
        if greedy:
            return best(self._spec, outputs, mask)
        return choose_actions(self._spec, outputs, self._actor.log_std, self._actor.exploration, mask, self._rng)[0]

    def _batch(
        self, observations: Mapping[Hashable, Any], masks: Mapping[Hashable, Any], need_mask: bool
    ) -> _AgentRows:
        for key in observations:
            if key in self._ended:
                whose = "the agent" if key is None else repr(key)
                raise ActingError(f"the episode of {whose} is over: call reset() when the next one begins")
        agents = [self._agent(key) for key in observations]
        rows = [
            self._translator.read(agent, seen, masks.get(key), need_mask and self._masked(agent))
            for agent, (key, seen) in zip(agents, observations.items(), strict=True)
        ]
        return _AgentRows(
            list(observations), agents, np.stack([row for row, _ in rows]), np.stack([mask for _, mask in rows])
        )

    def _masked(self, agent: str) -> bool:
        return bool(self.card.masks) or self._translator.has_mask(agent)

    def _agent(self, key: Hashable) -> str:
        """Return the agent of a key; raise ActingError if the player cannot act for it."""
        name = key[-1] if isinstance(key, tuple) and key else key
        if name in self.agents:
            return str(name)
        alike = len({(self._place[agent], *_bytes(self.card, agent)) for agent in self.agents}) == 1
        if key is None and alike:
            return self.agents[0]
        role = f"as {self.card.role}" if self.card.role else "here"
        what = "it needs agent=..." if key is None else f"it cannot act for {name!r}"
        raise ActingError(f"{self.card.player} plays {self._spec.name} {role}: {what}; agents are {list(self.agents)}")

    def _places(self, batch: _AgentRows) -> npt.NDArray[np.intp]:
        return np.array([self._place[agent] for agent in batch.agents], np.intp)

    def _beside(self, batch: _AgentRows) -> Bystanders:
        """Return what networks of other packages also see: who else of the same seat and episode is in the batch."""
        if not self._actor.foreign:
            return Bystanders(batch.mask)
        team = np.zeros((len(batch.keys), max(len(seat.agents) for seat in self._spec.seats)), np.bool_)
        together: dict[tuple[Hashable, int], list[int]] = defaultdict(list)
        for row, (key, agent) in enumerate(zip(batch.keys, batch.agents, strict=True)):
            together[key[:-1] if isinstance(key, tuple) else (), self._seat[agent]].append(row)
        places = self._places(batch)
        for rows in map(np.array, together.values()):
            team[np.ix_(rows, places[rows])] = True
        return Bystanders(batch.mask, team)

    def _recalled(self, batch: _AgentRows) -> FloatArray | None:
        """Return a copy of the memories of some agents, zeros where an episode begins; None if it has none."""
        if not self._actor.memory:
            return None
        nothing = np.zeros(self._actor.memory, np.float32)
        return np.stack([self._memory.get(key, nothing) for key in batch.keys])


def _bytes(card: PlayerCard, agent: str) -> tuple[bytes, bytes]:
    spaces = card.spaces[agent]
    return msgspec.json.encode(spaces.observation), msgspec.json.encode(spaces.action)


def value_network(config: PolicyConfig, spec: EnvSpec, flat: FloatArray) -> NumpyActor:
    """Return a network whose only output is the value: the same layers, with the value head for a policy head."""
    if config.critic == "none":
        raise ActingError("its critic stayed with its learner (policy.critic=none), so it has no values")
    if config.critic != "shared":
        raise ActingError(
            f"its critic sees more than one agent (policy.critic={config.critic}), so an observation alone has no value"
        )
    single = msgspec.structs.replace(spec, actions=1, choices=(), continuous=0)
    layout, views = describe(config, single), describe(config, spec).views(flat)
    own = {"policy.weight": views["value.weight"], "policy.bias": views["value.bias"]}
    named = {**views, **own}
    return NumpyActor(config, single, np.concatenate([named[name].ravel() for name in layout.shapes]))
