"""What the learner asks of a learning algorithm."""

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
    """Do nothing between minibatches."""


class Algorithm(Protocol):
    """Trains the weights of one player.

    algorithm = PPO(config, policy, spec, flat)
    while batch := batcher.take(version):
        metrics = algorithm.update(batch, rng, between=serve)
        if not metrics["losses/rollbacks"]:
            publish(algorithm.flat())
    algorithm.restore(algorithm.state())        # what a checkpoint keeps
    """

    spent: float  # the share of the time for training that is over; a learner sets it before each update

    def update(self, batch: Batch, rng: np.random.Generator, between: Callable[[], None] = nothing) -> dict[str, float]:
        """Learn from a batch, calling `between` often; return metrics, `losses/rollbacks` among them.

        If anything is not finite, all is as it was before and `losses/rollbacks` is 1: do not publish.
        """

    def flat(self) -> npt.NDArray[np.float32]:
        """Return a copy of the weights."""

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of all that training needs to go on, `flat` among it."""

    def restore(self, state: State) -> None:
        """Go on from a state."""


def make_algorithm(
    config: AlgoConfig,
    policy: PolicyConfig,
    spec: EnvSpec,
    flat: FloatArray,
    group: Group = ALONE,
    allow: Collection[str] = (),
) -> Algorithm:
    """Return the algorithm of a config; raise ValueError if it cannot train such a network.

    The class of a config names its algorithm, and that class was resolved, so nobody has to be asked again.
    """
    config.refuse(policy)
    algorithm: Algorithm = load(config.algorithm)(config, policy, spec, flat, group)
    return algorithm
