"""Networks that act: what they have in common, whether they run in numpy or in torch. No torch.

    actor = make_actor(config, spec, flat)
    actions, log_probs = actor.act(rows.observation, rows.mask, rng)

Either way actions are sampled in numpy with the same random numbers, so both play the same games up to rounding.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from league.plugins import load
from league.policies.actions import Actions, best, probabilities, sample
from league.policies.binding import bind
from league.policies.exploration import epsilon_greedy, noisy, rates
from league.policies.layout import FloatArray, PolicyConfig, policy_from
from league.spec import EnvSpec

Places = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
ACTORS = {"numpy": "league.policies.numpy_actor:NumpyActor", "torch": "league.policies.torch_actor:TorchActor"}


class Described(Protocol):
    """The part of a manifest that describes the network of its weights."""

    @property
    def policy(self) -> dict[str, Any]:
        """The PolicyConfig as a plain dict."""

    @property
    def signature(self) -> str:
        """The signature of the environment that the weights were trained for."""


class Bystanders(NamedTuple):
    """What only networks of other packages see beside the observation."""

    mask: Flags  # [rows, options]
    team: Flags | None = None  # [rows, agents of the seat] who decides in this tick; None: only the agent itself


@runtime_checkable
class HasValues(Protocol):
    """A network that tells what it expects, too: those that act in torch."""

    def values(
        self, observation: npt.NDArray[Any], place: Places, memory: FloatArray | None, beside: Bystanders
    ) -> FloatArray:
        """Return the value of each row; the memory stays as it is."""


def sociable(config: PolicyConfig, spec: EnvSpec) -> bool:
    """Return whether networks of this kind can share the sampling of actions."""
    return spec.single and not config.agent_id and not config.recurrent and not config.valued


def choose_actions(
    spec: EnvSpec,
    outputs: FloatArray,
    log_std: FloatArray,
    exploration: FloatArray,
    mask: Flags,
    rng: np.random.Generator,
    share: FloatArray | None = None,
) -> tuple[Actions, npt.NDArray[np.float32]]:
    """Return a legal action for each row of a network's outputs, and its log-probability.

    With `exploration` the outputs are values or actions, else logits and means. `share` is as in `NetworkActor.act`.
    """
    if len(exploration) and spec.continuous:
        return noisy(outputs, rates(exploration, share, len(outputs)), rng), np.zeros(len(outputs), np.float32)
    if len(exploration):
        outputs = epsilon_greedy(outputs, mask, rates(exploration, share, len(outputs)))
    return sample(spec, outputs, log_std, mask, rng)


class NetworkActor(ABC):
    """A network that samples legal actions.

    actor.act(rows.observation, rows.mask, rng)
    actor.act(rows.observation, rows.mask, rng, place, memory)      # if it has an agent id or a memory

    It copies the weights, so the caller may go on training its array. A network that outputs values or
    actions takes its exploration rate from the weights; if it is `frozen`, from the config, or there is no noise.
    """

    def __init__(self, config: PolicyConfig, spec: EnvSpec, greedy: bool) -> None:
        self.greedy, self._config, self._spec = greedy, config, spec
        self.memory = config.state_size  # numbers in the memory of each agent
        self.kind = repr(config) if sociable(config, spec) and not greedy else None
        self.foreign = not config.ours
        self.log_std: FloatArray = np.zeros(0, np.float32)
        self.exploration: FloatArray = np.zeros(0, np.float32)

    def _take_beside(self, views: Mapping[str, FloatArray], frozen: bool) -> None:
        """Take over what the weights hold beside layers."""
        if "log_std" in views:
            self.log_std = views["log_std"]
        if self._config.head != "logits":
            self.exploration = views["exploration"]
            if frozen:
                self.exploration[:] = (self._config.epsilon if self._config.valued else 0, 0)

    @abstractmethod
    def outputs(
        self,
        observation: npt.NDArray[Any],
        place: Places | None = None,
        memory: FloatArray | None = None,
        beside: Bystanders | None = None,
    ) -> FloatArray:
        """Return the unmasked logits of all options, then the means of the Gaussians: [rows, outputs].

        With `policy.deviation=state` the logarithms of their deviations follow.

        `place` is the index of each row's agent in its seat. `memory` [rows, memory] holds the memory of each agent,
        zeros at the first decision of an episode; it is updated in place. Built-in networks do not look at `beside`.
        """

    def explore(
        self,
        observation: npt.NDArray[Any],
        rng: np.random.Generator,
        place: Places | None = None,
        memory: FloatArray | None = None,
        beside: Bystanders | None = None,
    ) -> FloatArray:
        """Return the outputs that a player acts on: those of a live noisy network have fresh noise in each row."""
        return self.outputs(observation, place, memory, beside)

    def act(
        self,
        observation: npt.NDArray[Any],
        mask: Flags,
        rng: np.random.Generator,
        place: Places | None = None,
        memory: FloatArray | None = None,
        share: FloatArray | None = None,
        team: Flags | None = None,
    ) -> tuple[Actions, npt.NDArray[np.float32]]:
        """Return a legal action for each row and its log-probability (0 for a greedy choice).

        `share` is the position of each row's slot, from 0 (the first) to 1 (the last): exploration rates may differ.
        """
        if self.greedy:
            outputs = self.outputs(observation, place, memory, Bystanders(mask, team))
            return best(self._spec, outputs, mask), np.zeros(len(outputs), dtype=np.float32)
        outputs = self.explore(observation, rng, place, memory, Bystanders(mask, team))
        return choose_actions(self._spec, outputs, self.log_std, self.exploration, mask, rng, share)

    def probabilities(self, outputs: FloatArray, mask: Flags) -> npt.NDArray[np.float64]:
        """Return with which probability `act` chooses each action of one choice, for the outputs of some rows."""
        if self.greedy:
            return np.eye(self._spec.actions)[best(self._spec, outputs, mask)]
        if len(self.exploration):
            outputs = epsilon_greedy(outputs, mask, rates(self.exploration, None, len(outputs)))
        return probabilities(outputs, mask)


def make_actor(
    config: PolicyConfig,
    spec: EnvSpec,
    flat: FloatArray,
    greedy: bool = False,
    frozen: bool = False,
    act_in: str = "numpy",
) -> NetworkActor:
    """Return the network of a config with these weights; only built-in networks can act in numpy."""
    actor: NetworkActor = load(ACTORS[act_in if config.ours else "torch"])(config, spec, flat, greedy, frozen)
    return actor


def actor_from_snapshot(
    arrays: Mapping[str, npt.NDArray[Any]],
    manifest: Described,
    spec: EnvSpec,
    greedy: bool = False,
    allow: Collection[str] = (),
    act_in: str = "numpy",
) -> NetworkActor:
    """Return the actor of a stored snapshot.

    Raises ValueError if it does not fit the environment, PluginError if its network is not allowed.
    """
    if manifest.signature != spec.signature:
        raise ValueError(
            f"this snapshot was trained under signature {manifest.signature}, but the environment "
            f"{spec.name!r} has {spec.signature}: observations or actions differ. Use a snapshot of this "
            "environment, or the environment of the snapshot."
        )
    if "flat" not in arrays:
        raise ValueError(f"this snapshot has no array 'flat' but {sorted(arrays)}: it holds no policy")
    policy = bind(policy_from(manifest.policy), spec, allow)
    return make_actor(policy, spec, arrays["flat"], greedy, frozen=True, act_in=act_in)
