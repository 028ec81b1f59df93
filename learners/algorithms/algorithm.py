"""The interface of learning algorithms."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from league.errors import LudusError
from league.metrics import ROLLBACKS
from league.plugins import load
from league.policies.layout import FloatArray, PolicyConfig
from league.spec import EnvSpec
from learners.algorithms.config import AlgoConfig, with_paths
from learners.batcher import Batch
from learners.distributed import ALONE, Group

State = Mapping[str, npt.NDArray[Any]]


def nothing() -> None:
    """Do nothing: the default of `between`."""


class Algorithm(Protocol):
    """Trains the weights of one player.

    algorithm = PPO(config, policy, spec, flat)
    while batch := batcher.take(version):
        metrics = algorithm.update(batch, rng, between=serve)
        if not metrics["losses/rollbacks"]:
            publish(algorithm.flat())
    algorithm.restore(algorithm.state())        # the content of a checkpoint
    """

    spent: float  # the share of its training that is over, 0 to 1; a learner sets it before each update

    def update(self, batch: Batch, rng: np.random.Generator, between: Callable[[], None] = nothing) -> dict[str, float]:
        """Learn from a batch, calling `between` often; return metrics, including `losses/rollbacks`.

        If anything is not finite, the state is as before and `losses/rollbacks` is 1: do not publish.
        """

    def flat(self) -> npt.NDArray[np.float32]:
        """Return a copy of the weights."""

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of all that training needs to continue, including `flat`."""

    def restore(self, state: State) -> None:
        """Continue from a state."""


class AlgorithmError(LudusError):
    """An algorithm that returned what a learner cannot use; the message names the algorithm and the remedy."""


def check_metrics(algorithm: Algorithm, returned: object) -> dict[str, float]:
    """Return the metrics that an update returned, as plain numbers; raise AlgorithmError if they are not usable."""
    who = f"{type(algorithm).__module__}:{type(algorithm).__qualname__}.update()"
    if not isinstance(returned, Mapping):
        raise AlgorithmError(f"{who} returned {type(returned).__name__}, not a dict of metrics: fix the algorithm")
    if ROLLBACKS not in returned:
        found = ", ".join(map(repr, returned)) or "an empty dict"
        raise AlgorithmError(
            f"{who} returned no {ROLLBACKS!r}, only {found}. Return 0.0 there, "
            "or 1.0 if something was not finite and everything is as before the update"
        )
    return {_name(who, name): _number(who, name, value) for name, value in returned.items()}


def _name(who: str, name: object) -> str:
    if not isinstance(name, str):
        raise AlgorithmError(f"{who} returned a metric called {name!r}: names are strings, such as 'losses/entropy'")
    return name


def _number(who: str, name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError) as error:  # torch raises a RuntimeError for a tensor of several
        raise AlgorithmError(f"{who} returned {value!r} as {name!r}, not a number: {error}") from error


def make_algorithm(
    config: AlgoConfig,
    policy: PolicyConfig,
    spec: EnvSpec,
    flat: FloatArray,
    group: Group = ALONE,
    allow: Collection[str] = (),
    snapshots: Path | None = None,
) -> Algorithm:
    """Return the algorithm of a config; raise ValueError if it cannot train such a network for such a game.

    The config class names its algorithm, and was allowed when it was resolved: no second check is needed. Players that
    the config names by hash are in the folder `snapshots`.
    """
    config = config if snapshots is None else with_paths(config, snapshots)
    config.refuse_game(spec, group.size)
    config.refuse(policy)
    algorithm: Algorithm = load(config.algorithm)(config, policy, spec, flat, group, **config.parts(spec, allow))
    return algorithm
