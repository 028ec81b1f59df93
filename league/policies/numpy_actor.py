"""Networks that act, in numpy: for small networks faster than torch, and collectors need no torch.

Activations are [rows, features], so that several networks can fill one array, each its own rows. The patches
of a board's convolution are the other way round: a gather then copies whole rows of memory.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from league.policies.actions import Actions, best, sample
from league.policies.layout import FloatArray, PolicyConfig, board_patches, describe, policy_from
from league.spec import EnvSpec

Layer = tuple[FloatArray, FloatArray]  # weight [in, out] and bias [out]


class Described(Protocol):
    """What a manifest tells of the network whose weights it describes."""

    @property
    def policy(self) -> dict[str, Any]:
        """The PolicyConfig as a plain dict."""

    @property
    def signature(self) -> str:
        """The signature of the environment that the weights were trained for."""


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
        folded[i + 1] = (-2 * weight, bias + weight.sum(axis=0))
    return folded


class NumpyActor:
    """A network that samples legal actions.

    actor = NumpyActor(config, spec, flat)
    actions, log_probs = actor.act(rows.observation, rows.mask, rng)

    It keeps a copy of the weights: training may go on in the caller's array.
    """

    def __init__(self, config: PolicyConfig, spec: EnvSpec, flat: FloatArray, greedy: bool = False) -> None:
        self.greedy = greedy
        self.rectified = config.rectified
        # Networks of the same kind can go forward together, and race together for their actions.
        self.kind = repr(config) if spec.single and not greedy else None
        self._spec, self.size = spec, spec.observation.size
        views = describe(config, spec).views(np.array(flat))
        names = [*(f"hidden_{i}" for i in range(len(config.hidden))), "policy"]
        layers = [(np.ascontiguousarray(views[f"{name}.weight"].T), views[f"{name}.bias"]) for name in names]
        self.layers = layers if config.rectified else fold_tanh(layers)
        self._log_std = views.get("log_std", np.zeros(0, np.float32))
        self._patches: npt.NDArray[np.int64] | None = None
        if config.name == "board_conv":
            self._patches = board_patches(spec.observation.shape, config.kernel)
            self._conv = (views["conv.weight"], views["conv.bias"][:, None])

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

    def outputs(self, observation: npt.NDArray[Any]) -> FloatArray:
        """Return the unmasked logits of all options, then the means of the Gaussians: [rows, actions + continuous]."""
        return forward([(self, slice(None))], observation)

    def act(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[Actions, npt.NDArray[np.float32]]:
        """Return a legal action for each row and its log-probability (a greedy choice is certain: 0)."""
        outputs = self.outputs(observation)
        if self.greedy:
            return best(self._spec, outputs, mask), np.zeros(len(outputs), dtype=np.float32)
        return sample(self._spec, outputs, self._log_std, mask, rng)

    def features(self, x: FloatArray) -> FloatArray:
        """Return what the first layer sees of flat observations: with a convolution, what it found and the board."""
        if self._patches is None:
            return x
        weight, bias = self._conv
        cells = np.ascontiguousarray(x.T)
        places, channels = len(self._patches), len(weight)
        out = np.empty((places * channels + len(cells), len(x)), dtype=np.float32)
        seen = out[: places * channels].reshape(places, channels, -1)
        np.matmul(weight, cells[self._patches], out=seen)
        seen += bias
        np.maximum(seen, 0, out=seen)
        out[places * channels :] = cells  # the raw board beside it: not everything is a local pattern
        return out.T


def forward(parts: Sequence[tuple[NumpyActor, slice]], observation: npt.NDArray[Any]) -> FloatArray:
    """Return the outputs of several networks of one kind, each for its slice of the rows: [rows, outputs].

    Rows of nobody come out as zeros. The networks go from layer to layer together, which saves most of the small
    array calls where each has few rows.
    """
    some, _ = parts[0]
    x: FloatArray = observation.reshape(len(observation), some.size).astype(np.float32)
    inputs = [actor.features(x[part]) for actor, part in parts]
    with np.errstate(over="ignore"):  # beyond float32, exp is infinite and 1 / (1 + exp) is the 0 it should be
        for depth, (weight, _) in enumerate(some.layers):
            out = np.zeros((len(x), weight.shape[1]), dtype=np.float32)
            outputs = [out[part] for _, part in parts]
            for (actor, _), seen, mine in zip(parts, inputs, outputs, strict=True):
                weight, bias = actor.layers[depth]
                np.matmul(seen, weight, out=mine)
                mine += bias
            inputs = outputs
            if depth == len(some.layers) - 1:
                break
            if some.rectified:
                np.maximum(out, 0, out=out)
            else:
                np.exp(out, out=out)
                out += 1
                np.reciprocal(out, out=out)
    return out
