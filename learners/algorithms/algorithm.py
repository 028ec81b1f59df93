"""The interface of learning algorithms."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from league.plugins import load
from league.policies.layout import FloatArray, PolicyConfig
from league.spec import EnvSpec
from learners.algorithms.config import AlgoConfig
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


def make_algorithm(
    config: AlgoConfig,
    policy: PolicyConfig,
    spec: EnvSpec,
    flat: FloatArray,
    group: Group = ALONE,
    allow: Collection[str] = (),
) -> Algorithm:
    """Return the algorithm of a config; raise ValueError if it cannot train such a network.

    The config class names its algorithm, and was allowed when it was resolved: no second check is needed.
    """
    config.refuse(policy)
    algorithm: Algorithm = load(config.algorithm)(config, policy, spec, flat, group)
    return algorithm
