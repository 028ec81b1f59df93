"""The interface of networks and bots: choosing actions for rows."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from league.policies.actions import Actions


class Actor(Protocol):
    """Chooses one action for each row.

    actions, log_probs = actor.act(rows.observation[mine], rows.mask[mine], rng)
    """

    def act(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[Actions, npt.NDArray[np.float32]]:
        """Return an action for each row and its log-probability (0 if the actor does not sample)."""
