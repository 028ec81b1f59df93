"""Networks that act, in numpy: faster than torch for small networks, and collectors need no torch.

Activations are [rows, features], so that several networks can fill one array, each its own rows. The input of
`board_conv` is transposed, so that a gather of patches copies contiguous memory.

The last feature is always 1, and its weights are the biases, which the matrix product adds.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.introspect import opt_func_info

from league.policies.layout import NOISE, FloatArray, PolicyConfig, board_patches, describe, team_size
from league.policies.memory import remember
from league.policies.network_actor import Bystanders, NetworkActor, Places
from league.policies.noise import Noise, sample_noise
from league.policies.normalising import FAR, factors
from league.policies.return_heads import expected_returns
from league.spec import EnvSpec

Layer = tuple[FloatArray, FloatArray]  # weight [in, out] and bias [out]
SATED = 50.0  # tanh(SATED) is exactly 1, and so is 1 / (1 + exp(-SATED))
WIDE = re.compile("'current': '(AVX512|X86_V4)")  # numpy's name of AVX-512, and its older one
FOLDS = not WIDE.search(repr(opt_func_info("^tanh$", "float32")))  # with AVX-512, numpy's own tanh is faster


def _layer(views: Mapping[str, FloatArray], name: str) -> Layer:
    return np.ascontiguousarray(views[f"{name}.weight"].T), views[f"{name}.bias"]


def fold_tanh(layers: Sequence[Layer]) -> list[Layer]:
    """Return layers that give the same outputs with the activation 1 / (1 + exp(x)) as the given ones with tanh(x).

    tanh(x) is 1 - 2 / (1 + exp(2x)): the layer before absorbs the factor in exp(2x), the layer after the rest. Without
    AVX-512 this takes two thirds of the time of numpy's tanh, which is most of the cost of acting.
    """
    folded = list(layers)
    for i in range(len(layers) - 1):
        weight, bias = folded[i]
        folded[i] = (2 * weight, 2 * bias)
        weight, bias = folded[i + 1]
        folded[i + 1] = (-2 * weight, bias + weight.sum(axis=0))
    return folded


def joined(layers: Sequence[Layer], one: float) -> list[FloatArray]:
    """Return each layer as a matrix [in + 1, out + 1], the last [in + 1, out], for inputs whose last feature is 1.

    The activation must map `one` to 1.

    >>> [matrix.tolist() for matrix in joined([(np.array([[2.0]]), np.array([3.0]))] * 2, one=9)]
    [[[2.0, 0.0], [3.0, 9.0]], [[2.0], [3.0]]]
    """
    matrices = [np.concatenate([weight, bias[None]]) for weight, bias in layers]
    for depth, matrix in enumerate(matrices[:-1]):
        matrices[depth] = np.pad(matrix, ((0, 0), (0, 1)))
        matrices[depth][-1, -1] = one
    return matrices


class NumpyActor(NetworkActor):
    """A built-in network."""

    def __init__(
        self, config: PolicyConfig, spec: EnvSpec, flat: FloatArray, greedy: bool = False, frozen: bool = False
    ) -> None:
        super().__init__(config, spec, greedy)
        self.rectified, self.size = config.rectified, spec.observation.size
        self._scale = np.float32(1 if config.normalise else config.scale(spec))
        self._layout = describe(config, spec)
        self._views = views = self._layout.views(np.array(flat))
        self._factors = factors(views, config.scale(spec)) if config.normalise else None
        layers = [_layer(views, f"hidden_{i}") for i in range(len(config.hidden))]
        layers.append(_layer(views, "memory_input") if config.recurrent else self._heads(views))
        if config.rectified:
            self.layers = joined(layers, one=1)
        else:
            self.layers = joined(fold_tanh(layers), one=-SATED) if FOLDS else joined(layers, one=SATED)
        self._after = [_layer(views, "memory_state"), self._heads(views)] if config.recurrent else []
        self._noisy = bool(config.noisy) and not frozen
        self._take_beside(views, frozen)
        self._convolutions = config.convolutions(spec)
        self._patches: npt.NDArray[np.int64] | None = None
        if config.name == "board_conv":
            self._patches = board_patches(spec.observation.shape, config.kernel)
            self._conv = (views["conv.weight"], views["conv.bias"][:, None])
        self._plain = not (config.normalise or config.agent_id or self._convolutions) and self._patches is None

    def outputs(
        self,
        observation: npt.NDArray[Any],
        place: Places | None = None,
        memory: FloatArray | None = None,
        beside: Bystanders | None = None,
    ) -> FloatArray:
        """Return logits and means of each row; `memory` is updated in place."""
        places = np.zeros(len(observation), np.intp) if place is None and self._config.agent_id else place
        found = forward([(self, slice(None))], observation, places)
        if not self.memory:
            return self._worth(found)
        weight, bias = self._after[1]
        return self._worth(self._remembered(found, memory) @ weight + bias)

    def explore(
        self,
        observation: npt.NDArray[Any],
        rng: np.random.Generator,
        place: Places | None = None,
        memory: FloatArray | None = None,
        beside: Bystanders | None = None,
    ) -> FloatArray:
        """Return the outputs of each row with its own noise, if the network is noisy and not frozen."""
        if not self._noisy:
            return self.outputs(observation, place, memory, beside)
        rows = len(observation)
        places = np.zeros(rows, np.intp) if place is None and self._config.agent_id else place
        noise = sample_noise(self._layout, rows, rng)
        flat = np.ones((rows, self.size + 1), np.float32)
        flat[:, :-1] = observation.reshape(rows, self.size)
        x = self.features(flat, places)[:, :-1]
        for number in range(len(self._config.hidden)):
            x = self._connect(f"hidden_{number}", x, noise)
            x = np.maximum(x, 0) if self.rectified else np.tanh(x)
        if self.memory:
            x = self._remembered(x @ self._views["memory_input.weight"].T + self._views["memory_input.bias"], memory)
        heads = ("policy", "value") if self._config.duelling else ("policy",)
        return self._worth(np.concatenate([self._connect(name, x, noise) for name in heads], axis=1))

    def _connect(self, name: str, x: FloatArray, noise: Mapping[str, Noise]) -> FloatArray:
        """Return the outputs of a layer, with noise if it is a noisy one."""
        views = self._views
        found: FloatArray = x @ views[f"{name}.weight"].T + views[f"{name}.bias"]
        if name in noise:
            inputs, outputs = noise[name]
            found += outputs * ((x * inputs) @ views[f"{name}{NOISE}.weight"].T + views[f"{name}{NOISE}.bias"])
        return found

    def _heads(self, views: Mapping[str, FloatArray]) -> Layer:
        """Return the policy head; with a duel, that of the value beside it."""
        heads = [_layer(views, name) for name in (("policy", "value") if self._config.duelling else ("policy",))]
        return np.concatenate([weight for weight, _ in heads], axis=1), np.concatenate([bias for _, bias in heads])

    def _worth(self, found: FloatArray) -> FloatArray:
        """Return the outputs of the heads; of distributions, the mean return of each option."""
        if self._config.numbers == 1:
            return found
        options = self._spec.actions * self._config.atoms
        return expected_returns(self._config, found[:, :options], found[:, options:])

    def _remembered(self, gates: FloatArray, memory: FloatArray | None) -> FloatArray:
        """Return the inputs of the heads; `memory` is updated in place."""
        before = np.zeros((len(gates), self.memory), np.float32) if memory is None else memory
        weight, bias = self._after[0]
        after = remember(self._config.memory, gates, before[:, : len(weight)] @ weight + bias, before)
        if memory is not None:
            memory[:] = after
        return after[:, : len(weight)]

    def features(self, x: FloatArray, place: Places | None) -> FloatArray:
        """Return the inputs of the first fully connected layer: normalised, convolved, with the agent id.

        `x` holds flat observations. Its last column is 1, and so is that of the result.
        """
        if self._plain:
            return x
        inputs, ones = x[:, :-1], x[:, -1:]
        if self._factors is not None:
            mean, factor = self._factors
            inputs = np.clip((inputs - mean) * factor, -FAR, FAR)
        if self._patches is not None:
            inputs = self._patterns(inputs)
        elif self._convolutions:
            inputs = self._convolve(inputs)
        if place is None or not self._config.agent_id:
            return inputs if self._patches is not None else np.concatenate([inputs, ones], axis=1)
        agent = np.eye(team_size(self._spec), dtype=np.float32)[place]
        return np.concatenate([inputs[:, :-1] if self._patches is not None else inputs, agent, ones], axis=1)

    def _convolve(self, x: FloatArray) -> FloatArray:
        images = (x if self._scale == 1 else x * self._scale).reshape(len(x), *self._convolutions[0].input)
        skipped = images
        for convolution in self._convolutions:
            name = convolution.name
            images = convolution(images, self._views[f"{name}.weight"], self._views[f"{name}.bias"])
            if name.endswith("_b"):
                images += skipped
            np.maximum(images, 0, out=images)
            if not name.endswith("_a"):
                skipped = images
        return images.reshape(len(x), math.prod(images.shape[1:]))

    def _patterns(self, x: FloatArray) -> FloatArray:
        """Return the features of a board_conv: the outputs of its convolution, the board, and a column of ones."""
        assert self._patches is not None
        weight, bias = self._conv
        cells = np.ascontiguousarray(x.T)
        places, channels = len(self._patches), len(weight)
        out = np.empty((places * channels + len(cells) + 1, len(x)), dtype=np.float32)
        convolved = out[: places * channels].reshape(places, channels, -1)
        np.matmul(weight, cells[self._patches], out=convolved)
        convolved += bias
        np.maximum(convolved, 0, out=convolved)
        out[-1] = 1
        out[places * channels : -1] = cells  # the board itself: not every feature is a local pattern
        return out.T


def forward(
    parts: Sequence[tuple[NumpyActor, slice]], observation: npt.NDArray[Any], place: Places | None = None
) -> FloatArray:
    """Return the outputs of several networks of one kind, each for its slice of the rows: [rows, outputs].

    The outputs are those of the policy head, or of `memory_input` if the networks are recurrent; rows without a network
    are zeros. Each layer is evaluated for all networks together, which saves most array calls if each has few rows.
    """
    some, _ = parts[0]
    rows = len(observation)
    x = np.empty((rows, some.size + 1), dtype=np.float32)
    x[:, :-1] = observation.reshape(rows, some.size)
    x[:, -1] = 1
    inputs = [actor.features(x[part], None if place is None else place[part]) for actor, part in parts]
    fill = np.empty if sum(map(len, inputs)) == rows else np.zeros
    with np.errstate(over="ignore"):  # exp may overflow to infinity: 1 / (1 + exp) is then 0, as it should be
        for depth, matrix in enumerate(some.layers):
            out: FloatArray = fill((rows, matrix.shape[1]), dtype=np.float32)
            outputs = [out[part] for _, part in parts]
            for (actor, _), features, mine in zip(parts, inputs, outputs, strict=True):
                np.matmul(features, actor.layers[depth], out=mine)
            inputs = outputs
            if depth == len(some.layers) - 1:
                break
            if some.rectified:
                np.maximum(out, 0, out=out)
            elif not FOLDS:
                np.tanh(out, out=out)
            else:
                np.exp(out, out=out)
                out += 1
                np.reciprocal(out, out=out)
    return out
