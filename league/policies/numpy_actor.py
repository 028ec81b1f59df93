"""Networks that act, in numpy: for small networks faster than torch, and collectors need no torch.

Arrays are features first, [features, rows]: matrix products then need no transposition, a gather copies
whole rows of memory, and the softmax runs over the short axis without strides.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from league.policies.layout import ILLEGAL, FloatArray, PolicyConfig, board_patches, describe, policy_from
from league.spec import EnvSpec

Layer = tuple[FloatArray, FloatArray]  # weight [out, in] and bias [out, 1]
NEVER_ZERO = np.float32(1e-20)  # float32 draws can be exactly 0, and 0 / 0 would choose an illegal action


class Described(Protocol):
    """What a manifest tells of the network whose weights it describes."""

    @property
    def policy(self) -> dict[str, Any]:
        """The PolicyConfig as a plain dict."""

    @property
    def signature(self) -> str:
        """The signature of the environment that the weights were trained for."""


def race(
    logits: FloatArray, mask: npt.NDArray[np.bool_], draw: FloatArray
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return a legal action for each row of `mask` and its log-probability.

    `logits` and `draw`, which holds standard exponential draws, are [actions, rows].
    """
    z = np.where(mask.T, logits, np.float32(ILLEGAL))
    z -= z.max(axis=0)
    p = np.exp(z)
    total = p.sum(axis=0)
    # An exponential race: the argmax of p / Exp(1) is distributed as p, with no need to normalise it.
    p /= draw + NEVER_ZERO
    action = p.argmax(axis=0)
    log_prob = z[action, np.arange(len(action))]
    log_prob -= np.log(total)
    return action.astype(np.int32), log_prob


def fold_tanh(layers: Sequence[Layer]) -> list[Layer]:
    """Return layers that do the same with 1 / (1 + exp(x)) between them as the given ones do with tanh(x).

    tanh(x) is 1 - 2 / (1 + exp(2x)), and the layer before and the layer after can do all of this but the
    reciprocal. That takes two thirds of the time of numpy's tanh, which is most of what acting costs.
    """
    folded = list(layers)
    for i in range(len(layers) - 1):
        weight, bias = folded[i]
        folded[i] = (2 * weight, 2 * bias)
        weight, bias = folded[i + 1]
        folded[i + 1] = (-2 * weight, bias + weight.sum(axis=1, keepdims=True))
    return folded


class NumpyActor:
    """A network that samples legal actions.

    actor = NumpyActor(config, spec, flat)
    actions, log_probs = actor.act(rows.observation, rows.mask, rng)

    It keeps a copy of the weights: training may go on in the caller's array.
    """

    def __init__(self, config: PolicyConfig, spec: EnvSpec, flat: FloatArray, greedy: bool = False) -> None:
        self.greedy = greedy
        self._rectified = config.rectified
        self._features = spec.observation.size
        views = describe(config, spec).views(np.array(flat))
        weights = {name: view for name, view in views.items() if name.endswith(".weight")}
        biases = {name: view[:, None] for name, view in views.items() if name.endswith(".bias")}
        names = [*(f"hidden_{i}" for i in range(len(config.hidden))), "policy"]
        self._layers = [(weights[f"{name}.weight"], biases[f"{name}.bias"]) for name in names]
        if not config.rectified:
            self._layers = fold_tanh(self._layers)
        self._patches: npt.NDArray[np.int64] | None = None
        if config.name == "board_conv":
            self._patches = board_patches(spec.observation.shape, config.kernel)
            self._conv = (weights["conv.weight"], biases["conv.bias"])

    @classmethod
    def from_snapshot(
        cls, arrays: Mapping[str, npt.NDArray[Any]], manifest: Described, spec: EnvSpec, greedy: bool = False
    ) -> "NumpyActor":
        """Return the actor of a stored snapshot: pass its `arrays` and its `manifest`."""
        if manifest.signature != spec.signature:
            raise ValueError(
                f"this snapshot was trained under signature {manifest.signature}, but the environment "
                f"{spec.name!r} has {spec.signature}: observations or actions differ. Use a snapshot of this "
                "environment, or the environment of the snapshot."
            )
        if "flat" not in arrays:
            raise ValueError(f"this snapshot has no array 'flat' but {sorted(arrays)}: it holds no policy")
        return cls(policy_from(manifest.policy), spec, arrays["flat"], greedy)

    def logits(self, observation: npt.NDArray[Any]) -> FloatArray:
        """Return the unmasked logits: [rows, actions]."""
        return self._logits(observation).T

    def act(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Return a legal action for each row and its log-probability (a greedy choice is certain: 0)."""
        logits = self._logits(observation)
        if self.greedy:
            z = np.where(mask.T, logits, np.float32(ILLEGAL))
            return z.argmax(axis=0).astype(np.int32), np.zeros(z.shape[1], dtype=np.float32)
        return race(logits, mask, rng.standard_exponential(logits.shape, dtype=np.float32))

    def _logits(self, observation: npt.NDArray[Any]) -> FloatArray:
        x: FloatArray = observation.reshape(-1, self._features).astype(np.float32).T
        if self._patches is not None:
            x = self._convolve(np.ascontiguousarray(x), self._patches)
        *hidden, (weight, bias) = self._layers
        with np.errstate(over="ignore"):  # beyond float32, exp is infinite and 1 / (1 + exp) is the 0 it should be
            for inner, shift in hidden:
                x = inner @ x
                x += shift
                if self._rectified:
                    np.maximum(x, 0, out=x)
                else:
                    np.exp(x, out=x)
                    x += 1
                    np.reciprocal(x, out=x)
        logits: FloatArray = weight @ x
        logits += bias
        return logits

    def _convolve(self, x: FloatArray, patches: npt.NDArray[np.int64]) -> FloatArray:
        weight, bias = self._conv
        places, channels = len(patches), len(weight)
        out = np.empty((places * channels + len(x), x.shape[1]), dtype=np.float32)
        seen = out[: places * channels].reshape(places, channels, -1)
        np.matmul(weight, x[patches], out=seen)
        seen += bias
        np.maximum(seen, 0, out=seen)
        out[places * channels :] = x  # the raw board beside it: not everything is a local pattern
        return out
