"""Evolution strategies (Salimans et al. 2017): weights move towards the noise with which episodes returned more.

Collectors play each training episode with weights + sign * sigma * noise, both signs of the same noise in turn. They
send the place of the noise in the shared table, the sign and the return; the learner ranks returns.

Legend of shapes: P episodes of the batch, W perturbed weights.
"""

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from league.fitness import Fitness
from league.metrics import GRADIENT_STEPS, LEARNING_RATE, ROLLBACKS
from league.policies.layout import FloatArray, PolicyConfig, describe
from league.policies.perturbation import NoiseTable, perturbed_part
from league.spec import EnvSpec
from learners.algorithms.algorithm import State, nothing
from learners.algorithms.es_config import ESConfig
from learners.algorithms.parameter_groups import ParameterGroups
from learners.batcher import Batch
from learners.distributed import ALONE, Group

Numbers = npt.NDArray[np.float64]
CHUNK = 16  # episodes between two calls of `between`


def centred_ranks(returned_P: Numbers) -> Numbers:
    """Return the ranks of returns, from -0.5 for the worst to 0.5 for the best; equal returns have equal ranks.

    >>> centred_ranks(np.array([3.0, -1e9, 3.0, 7.0])).tolist()
    [0.0, -0.5, 0.0, 0.5]
    """
    _, place_P, count = np.unique(returned_P, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count + 1) / 2  # the mean of the places that equal returns share
    found: Numbers = rank[place_P.reshape(-1)] / max(1, len(returned_P) - 1) - 0.5
    return found


def es_gradient(
    table: NoiseTable,
    offset_P: npt.NDArray[np.int64],
    sign_P: npt.NDArray[np.int8],
    utility_P: Numbers,
    sigma: float,
    between: Callable[[], None] = nothing,
) -> FloatArray:
    """Return the estimated gradient of the utility, as a mean over episodes: utility * sign * noise / sigma."""
    gradient_W = np.zeros(int(table.part.sum()))
    for start in range(0, len(offset_P), CHUNK):
        chunk = slice(start, start + CHUNK)
        weight_C = (utility_P * sign_P)[chunk] / (len(offset_P) * sigma)
        gradient_W += weight_C @ np.stack([table.noise(offset) for offset in offset_P[chunk].tolist()])
        between()
    return gradient_W.astype(np.float32)


class ES:
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    def __init__(
        self, config: ESConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray, group: Group = ALONE
    ) -> None:
        self.config, self._group = config, group
        self._table = NoiseTable(perturbed_part(policy, spec))
        self._part = torch.from_numpy(self._table.part)
        self._flat = torch.nn.Parameter(torch.from_numpy(np.array(flat, np.float32)))
        self._groups = ParameterGroups(config.groups, describe(policy, spec), torch.device("cpu"))
        self._optimizer = torch.optim.Adam([self._flat], lr=config.lr, fused=True)
        # Created now and not at the first step, so that there is always a state to save.
        self._moments = {
            "step": torch.zeros(()),
            "exp_avg": torch.zeros_like(self._flat),
            "exp_avg_sq": torch.zeros_like(self._flat),
        }
        self._optimizer.state[self._flat] = self._moments
        self.decisions, self.spent = 0, 0.0
        self.trouble = ""  # the reason of the last rollback

    def update(self, batch: Batch, rng: np.random.Generator, between: Callable[[], None] = nothing) -> dict[str, float]:
        """Take one step up the estimated gradient; if anything is not finite, roll back."""
        good, fitness = self.state(), batch.fitness
        learning_rate = self.config.learning_rate(self.decisions, self.spent)
        self._optimizer.param_groups[0]["lr"] = learning_rate
        returned_P, first = self._of_all_ranks(fitness.returned)
        utility_P = centred_ranks(returned_P)[first : first + fitness.units]
        gradient_W = es_gradient(
            self._table, fitness.offset, fitness.sign, utility_P, self.config.sigma, between
        )  # of this rank's episodes
        mean_W = self._group.mean(torch.from_numpy(gradient_W), fitness.units)
        gradient = torch.zeros_like(self._flat)
        gradient[self._part] = -mean_W  # Adam goes down
        self.trouble = self._step(gradient, learning_rate, bool(np.isfinite(returned_P).all()))
        if self.trouble:
            self.restore(good)
            return {ROLLBACKS: 1.0}
        self.decisions += self._group.total(batch.decisions)
        return _metrics(returned_P, fitness) | {
            ROLLBACKS: 0.0,
            GRADIENT_STEPS: 1.0,
            LEARNING_RATE: learning_rate,
            "losses/gradient": float(mean_W.norm()),
            "reuse": 1.0,
        }

    def _step(self, gradient: torch.Tensor, learning_rate: float, finite: bool) -> str:
        """Decay the weights and step against the gradient; return what is not finite, the same on every rank."""
        if not finite:
            return "returns"
        if not self._groups.clip(gradient, self.config.max_grad_norm):
            return "gradient"
        with torch.no_grad():
            self._flat[self._part] *= 1 - learning_rate * self.config.weight_decay
        self._flat.grad = gradient
        self._groups.step(self._optimizer, self._flat)
        return "" if bool(self._flat.isfinite().all()) else "weights"

    def _of_all_ranks(self, returned_P: Numbers) -> tuple[Numbers, int]:
        """Return the returns of all ranks, and where those of this rank begin."""
        texts = self._group.gather(base64.b64encode(returned_P.tobytes()).decode())
        parts = [np.frombuffer(base64.b64decode(text)) for text in texts]
        return np.concatenate(parts), sum(map(len, parts[: self._group.rank]))

    # --- state -----------------------------------------------------------------------------------------------

    def flat(self) -> FloatArray:
        """Return a copy of the weights."""
        found: FloatArray = self._flat.detach().numpy().copy()
        return found

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of weights, moments and counters."""
        moments = {name: moment.numpy().copy() for name, moment in self._moments.items()}
        return {"flat": self.flat(), "decisions": np.array(self.decisions, np.int64), **moments}

    def restore(self, state: State) -> None:
        """Continue from a state."""
        with torch.no_grad():
            self._flat.copy_(torch.from_numpy(np.array(state["flat"])))
        self.decisions = int(state["decisions"])
        for name, moment in self._moments.items():
            moment.copy_(torch.from_numpy(np.array(state[name])))


def _metrics(returned_P: Numbers, fitness: Fitness) -> dict[str, float]:
    """Return what the episodes of the batch returned; `paired` is the share whose antithetic partner is there, too."""
    signs: dict[int, set[int]] = {}
    for offset, sign in zip(fitness.offset.tolist(), fitness.sign.tolist(), strict=True):
        signs.setdefault(offset, set()).add(sign)
    paired = float(np.mean([len(signs[offset]) == 2 for offset in fitness.offset.tolist()]))
    return {"losses/return": float(returned_P.mean()), "losses/best_return": float(returned_P.max()), "paired": paired}
