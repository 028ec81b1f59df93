"""What a network is made of: parameters by name, all inside one flat float32 vector. Pure; torch stays out.

The same vector acts in numpy (league.policies.numpy_actor), trains in torch (league.policies.torch_policy),
travels as one frame and is stored as one array:

    layout = describe(config, spec)
    flat = initial(config, spec, seed=0)
    layout.views(flat)["policy.weight"]  # [outputs, features], no copy
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from league.spec import EnvSpec

FloatArray = npt.NDArray[np.float32]

NETWORKS = ("mlp", "board_conv")
ACTIVATIONS = ("tanh", "relu")
ILLEGAL = -1e9  # the logit of an illegal action: finite, so that 0 * log(0) stays 0 in an entropy
LOG_STD = -0.5  # of fresh Gaussians
LOG_STD_RANGE = (-5.0, 2.0)  # outside of it a Gaussian is a point, or noise
EDGE = float(np.float32(1 - 1e-6))  # continuous actions stay this far within -1 and 1, where tanh can be inverted


@dataclass(kw_only=True, slots=True)
class PolicyConfig:
    """Which network a player is. Actor and critic share all layers but their heads."""

    name: str = "mlp"  # "mlp", or "board_conv" for observations of shape (height, width, planes)
    hidden: list[int] = field(default_factory=lambda: [128, 128])  # units of each fully connected layer
    activation: str = "tanh"  # of the mlp: "tanh" or "relu"; a board_conv always uses relu
    channels: int = 64  # board_conv: features for each place of the kernel on the board
    kernel: list[int] = field(default_factory=lambda: [4, 4])  # board_conv: height and width of the kernel

    def __post_init__(self) -> None:
        """Refuse a network that does not exist."""
        if self.name not in NETWORKS:
            raise ValueError(f"policy.name: unknown network {self.name!r}. Known: {', '.join(NETWORKS)}.")
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"policy.activation: unknown {self.activation!r}. Known: {', '.join(ACTIVATIONS)}.")
        if len(self.kernel) != 2 or min([*self.hidden, *self.kernel, self.channels], default=1) < 1:
            raise ValueError(
                f"policy: hidden {list(self.hidden)}, channels {self.channels} and kernel {list(self.kernel)}"
                " must be positive, and the kernel needs a height and a width"
            )

    @property
    def rectified(self) -> bool:
        """Whether the layers use relu."""
        return self.activation == "relu" or self.name == "board_conv"


def policy_from(plain: Mapping[str, Any]) -> PolicyConfig:
    """Return the config that a manifest holds as a plain dict.

    >>> policy_from({"name": "mlp", "hidden": [8]}).hidden
    [8]
    """
    unknown = set(plain) - {item.name for item in fields(PolicyConfig)}
    if unknown:
        raise ValueError(f"the policy has unknown fields {sorted(unknown)}: it was written by another version of ludus")
    return msgspec.convert(dict(plain), PolicyConfig)


@dataclass(frozen=True, slots=True)
class Layout:
    """Parameter names and shapes, in the order in which they lie in the flat vector."""

    shapes: dict[str, tuple[int, ...]]

    @property
    def sizes(self) -> list[int]:
        """How many numbers each parameter has."""
        return [math.prod(shape) for shape in self.shapes.values()]

    @property
    def size(self) -> int:
        """How many numbers the flat vector has."""
        return sum(self.sizes)

    def views(self, flat: FloatArray) -> dict[str, FloatArray]:
        """Return each parameter as a view of the flat vector."""
        if flat.shape != (self.size,) or flat.dtype != np.float32:
            raise ValueError(
                f"these weights are {flat.dtype}{list(flat.shape)}, but this policy and environment need "
                f"float32[{self.size}]: they belong to another policy config or environment"
            )
        pieces = np.split(flat, np.cumsum(self.sizes)[:-1])
        return {name: piece.reshape(shape) for (name, shape), piece in zip(self.shapes.items(), pieces, strict=True)}


def board_patches(shape: tuple[int, ...], kernel: list[int]) -> npt.NDArray[np.int64]:
    """Return for each place of the kernel which numbers of the flattened board lie under it: [places, patch].

    With it a valid convolution is one gather and one matrix product, in numpy as in torch.

    >>> board_patches((2, 3, 1), [2, 2]).tolist()
    [[0, 1, 3, 4], [1, 2, 4, 5]]
    """
    if len(shape) != 3:
        raise ValueError(
            f"policy board_conv needs observations of shape (height, width, planes), this environment has "
            f"{shape}. Use policy.name=mlp."
        )
    if shape[0] < kernel[0] or shape[1] < kernel[1]:
        raise ValueError(
            f"policy board_conv: the kernel {list(kernel)} is larger than the board {list(shape[:2])}. "
            "Make policy.kernel smaller."
        )
    numbers = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    windows = np.lib.stride_tricks.sliding_window_view(numbers, tuple(kernel), axis=(0, 1))
    return windows.transpose(0, 1, 3, 4, 2).reshape(-1, kernel[0] * kernel[1] * shape[2])


def describe(config: PolicyConfig, spec: EnvSpec) -> Layout:
    """Return the parameters of a network. Weights are [outputs, inputs]."""
    shapes: dict[str, tuple[int, ...]] = {}

    def add(name: str, outputs: int, inputs: int) -> None:
        shapes[f"{name}.weight"] = (outputs, inputs)
        shapes[f"{name}.bias"] = (outputs,)

    width = spec.observation.size
    if config.name == "board_conv":
        places, patch = board_patches(spec.observation.shape, config.kernel).shape
        add("conv", config.channels, patch)
        width += places * config.channels
    for number, units in enumerate(config.hidden):
        add(f"hidden_{number}", units, width)
        width = units
    add("policy", spec.actions + spec.continuous, width)
    add("value", 1, width)
    if spec.continuous:
        shapes["log_std"] = (spec.continuous,)
    return Layout(shapes)


def initial(config: PolicyConfig, spec: EnvSpec, seed: int) -> FloatArray:
    """Return fresh weights: orthogonal, biases zero, the policy head small so that play starts uniform."""
    rng = np.random.default_rng(seed)
    layout = describe(config, spec)
    flat = np.zeros(layout.size, dtype=np.float32)
    gains = {"policy.weight": 0.01, "value.weight": 1.0}
    for name, view in layout.views(flat).items():
        if name.endswith(".weight"):
            view[:] = gains.get(name, math.sqrt(2)) * _orthogonal(view.shape[0], view.shape[1], rng)
        elif name == "log_std":
            view[:] = LOG_STD
    return flat


def _orthogonal(rows: int, columns: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    tall = rng.standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(tall)
    q *= np.sign(np.diag(r))  # without it QR does not draw uniformly, and signs depend on the library
    return q if rows >= columns else q.T
