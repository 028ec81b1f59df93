"""Acting: the actions of all rows of one tick, with one forward pass for each kind of network."""

import numpy as np
import numpy.typing as npt

from collectors.actors import Actors
from collectors.envs.rows import Rows
from league.policies.actions import Actions, race
from league.policies.numpy_actor import NumpyActor, forward
from league.spec import EnvSpec

Acted = tuple[Actions, npt.NDArray[np.float32]]  # actions and their log-probabilities


class Acting:
    """Lets numbered actors act.

    acting = Acting(spec, actors, rng)
    actions, log_probs = acting.act(rows, numbers)      # `numbers` says which actor acts in each row
    """

    def __init__(self, spec: EnvSpec, actors: Actors, rng: np.random.Generator) -> None:
        self._spec, self._actors, self._rng = spec, actors, rng

    def act(self, rows: Rows, numbers: npt.NDArray[np.int16]) -> Acted:
        """Return an action for each row: every actor gets a slice of the sorted rows."""
        counts = np.bincount(numbers)
        present = counts.nonzero()[0]
        if len(present) == 1:
            return self._actors[int(present[0])].act(rows.observation, rows.mask, self._rng)
        order = numbers.argsort(kind="stable")
        observation, mask = rows.observation.take(order, axis=0), rows.mask.take(order, axis=0)
        networks: dict[str, list[tuple[NumpyActor, slice]]] = {}
        others: list[tuple[slice, Acted]] = []
        end = 0
        for number, count in zip(present.tolist(), counts[present].tolist(), strict=True):
            actor, part = self._actors[number], slice(end, end + count)
            end += count
            if isinstance(actor, NumpyActor) and actor.kind is not None:
                networks.setdefault(actor.kind, []).append((actor, part))
            else:
                others.append((part, actor.act(observation[part], mask[part], self._rng)))
        chosen, chances = self._race(networks, observation, mask)
        for part, choice in others:
            chosen[part], chances[part] = choice
        actions, log_probs = np.empty_like(chosen), np.empty_like(chances)
        actions[order], log_probs[order] = chosen, chances
        return actions, log_probs

    def _race(
        self,
        networks: dict[str, list[tuple[NumpyActor, slice]]],
        observation: npt.NDArray[np.float32],
        mask: npt.NDArray[np.bool_],
    ) -> Acted:
        """Let the networks of each kind go forward together; one race for all. Rows of others are for them to fill."""
        if not networks:
            shape = (len(mask), *self._spec.action.shape)
            return np.empty(shape, self._spec.action.dtype), np.empty(len(mask), np.float32)
        logits = np.zeros(mask.shape, np.float32)
        for parts in networks.values():
            logits += forward(parts, observation)
        draw = self._rng.standard_exponential(mask.shape[::-1], dtype=np.float32)
        return race(np.ascontiguousarray(logits.T), mask, draw)
