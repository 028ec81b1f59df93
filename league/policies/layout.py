"""The layout of a network: its parameters by name, inside one flat float32 vector. No torch.

The same vector acts in numpy (league.policies.numpy_actor), trains in torch (league.policies.torch_policy),
is sent as one frame and stored as one array:

    layout = describe(config, spec)
    flat = initial(config, spec, seed=0)
    layout.views(flat)["policy.weight"]  # [outputs, features], no copy
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from league.plugins import names
from league.policies import normalising
from league.policies.convolution import (
    Convolution,
    board_convolutions,
    check_patches,
    image_convolutions,
    image_shape,
)
from league.spec import EnvSpec

FloatArray = npt.NDArray[np.float32]

NETWORKS = ("mlp", "board_conv", "cnn", "resnet")
GROUP = "ludus.policies"  # of networks on the contract of league.policies.network
ACTIVATIONS = ("tanh", "relu")
GATES = {"none": 0, "gru": 3, "lstm": 4}  # of each kind of memory
STATES = {"none": 0, "gru": 1, "lstm": 2}  # vectors in a memory: an lstm has its output and its cell
CRITICS = ("shared", "central", "state", "none")
DEVIATIONS = ("constant", "state")
HEADS = ("logits", "values", "atoms", "quantiles", "actions")
NOISE = "_noise"  # appended to the name of a layer: how much noise each of its weights gets
ILLEGAL = -1e9  # the logit of an illegal action: finite, so that 0 * log(0) stays 0 in an entropy
MOST_ATOMS = 1000
MOST_LAYERS, LARGEST_LAYER = 1000, 1 << 20  # of a built-in network, and its units: a file may claim anything
LARGEST = 1e8  # bound of logits and means: whatever the weights, a legal action is above ILLEGAL
HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)  # in the log density of a Gaussian
LOG_STD = -0.5  # initial value
LOG_STD_RANGE = (-5.0, 2.0)  # outside of it a Gaussian is a point, or noise
EDGE = float(np.float32(1 - 1e-6))  # bound of continuous actions, within which tanh can be inverted


@dataclass(kw_only=True, slots=True)
class PolicyConfig:
    """The network of a player. Actor and critic share all layers but their heads, unless the critic has its own."""

    name: str = "mlp"  # mlp; board_conv, cnn, resnet (of height, width, planes); structured, entities; package:Class
    hidden: list[int] = field(default_factory=lambda: [128, 128])  # units of each fully connected layer
    activation: str = "tanh"  # of the mlp: "tanh" or "relu"; the others always use relu
    channels: int = 64  # board_conv, resnet: features for each place of the kernel on the board
    kernel: list[int] = field(default_factory=lambda: [4, 4])  # board_conv: height and width of the kernel
    filters: list[list[int]] = field(default_factory=list)  # cnn: channels, kernel, stride of each layer; []: by size
    blocks: int = 3  # resnet: residual blocks of two convolutions
    normalise: bool = False  # normalise observations by their running mean and deviation; not with head=actions
    agent_id: bool = False  # one-hot input: which agent of its seat it acts for
    memory: str = "none"  # between the hidden layers and the heads: "none", "gru" or "lstm"
    memory_size: int = 128  # units of the memory
    critic: str = "shared"  # layers; its own: "central" sees the seat, "state" the game; "none": in the learner only
    head: str = "logits"  # for each option "logits", "values" (dqn), "atoms" (c51, rainbow), "quantiles"; or "actions"
    deviation: str = "constant"  # of continuous numbers, with head=logits: "constant", or an output in each "state"
    atoms: int = 51  # head=atoms, quantiles: numbers that describe the distribution of returns, for each option
    support: list[float] = field(default_factory=lambda: [-10.0, 10.0])  # lowest, highest return (quantiles: scale)
    duelling: bool = False  # head=atoms, quantiles: a distribution for the state, and what each option adds to it
    noisy: float = 0.0  # initial noise of fully connected layers, by which live players explore; Rainbow: 0.5
    epsilon: float = 0.05  # values, atoms, quantiles: probability that a frozen player acts at random, so games differ
    kwargs: dict[str, Any] = field(default_factory=dict)  # settings of structured, entities or package:Class

    def __post_init__(self) -> None:
        """Raise ValueError for unknown names and impossible sizes."""
        known_of = {"activation": ACTIVATIONS, "memory": tuple(GATES), "critic": CRITICS, "head": HEADS}
        for key, known in (known_of | {"deviation": DEVIATIONS}).items():
            if getattr(self, key) not in known:
                raise ValueError(f"policy.{key}: unknown {getattr(self, key)!r}. Known: {', '.join(known)}.")
        self._check_name()
        self._check_head()
        sizes = [*self.hidden, *self.kernel, self.channels, self.blocks, self.memory_size]
        if len(self.kernel) != 2 or min(sizes) < 1:
            raise ValueError(
                f"policy: hidden {list(self.hidden)}, channels {self.channels}, kernel {list(self.kernel)}, blocks "
                f"{self.blocks} and memory_size {self.memory_size} must be positive, and the kernel needs a height "
                "and a width"
            )
        layers = max(len(self.hidden), len(self.filters), self.blocks)
        if layers > MOST_LAYERS or max(sizes) > LARGEST_LAYER:
            raise ValueError(f"policy: at most {MOST_LAYERS} layers of at most {LARGEST_LAYER:,} units are possible")
        if any(len(layer) != 3 or min(layer) < 1 for layer in self.filters):
            raise ValueError("policy.filters: each layer needs channels, kernel and stride, all positive")

    def _check_head(self) -> None:
        if self.normalise and self.head == "actions":
            raise ValueError("policy.normalise=true does not work with policy.head=actions: set policy.normalise=false")
        if not 0 <= self.epsilon <= 1:
            raise ValueError(f"policy.epsilon must be between 0 and 1, not {self.epsilon}")
        if not 2 <= self.atoms <= MOST_ATOMS or len(self.support) != 2 or not self.support[0] < self.support[1]:
            raise ValueError(
                f"policy: atoms {self.atoms} must be 2 to {MOST_ATOMS}, and support {list(self.support)} the lowest "
                "and the highest return"
            )
        if self.duelling and (self.numbers == 1 or self.critic != "shared"):
            raise ValueError(
                "policy.duelling needs policy.head=atoms or quantiles, and policy.critic=shared. (algo=dqn has "
                "algo.duelling instead.)"
            )
        if self.noisy < 0 or (self.noisy and not self.valued):
            raise ValueError(
                f"policy.noisy={self.noisy:g}: noise must not be negative, and needs values of options, as algo=dqn "
                "and rainbow learn them. Set policy.noisy=0"
            )

    def _check_name(self) -> None:
        if self.name in NETWORKS:
            if self.kwargs:
                raise ValueError(
                    f"policy.kwargs are for networks on the contract of docs/your-network.md; {self.name} has none"
                )
            return
        if ":" not in self.name and self.name not in names(GROUP):
            known = ", ".join([*NETWORKS, *names(GROUP)])
            raise ValueError(
                f"policy.name: unknown network {self.name!r}. Known: {known}; or write package.module:Class"
            )
        if self.critic == "none":
            raise ValueError(
                f"policy.critic=none, as ddpg, td3, sac and discrete_sac have it: they train only the networks "
                f"{', '.join(NETWORKS)}. Use one of these instead of {self.name}, or another algorithm"
            )
        for key, default in (("memory", "none"), ("critic", "shared"), ("normalise", False), ("agent_id", False)):
            if getattr(self, key) != default:
                raise ValueError(
                    f"policy.{key}: the network {self.name} brings its own; set policy.{key}={str(default).lower()}"
                )
        if self.noisy or self.numbers > 1:
            raise ValueError(
                f"policy.noisy and policy.head={self.head}: only the networks {', '.join(NETWORKS)} have noise and "
                f"distributions of returns. Use one of these instead of {self.name}, or algo=dqn"
            )

    def __eq__(self, other: object) -> bool:
        """Compare the settings: it does not matter whether the code of the network is loaded."""
        return isinstance(other, PolicyConfig) and plain_policy(self) == plain_policy(other)

    @property
    def ours(self) -> bool:
        """Whether the network is one that can act in numpy; all others act in torch."""
        return self.name in NETWORKS

    @property
    def rectified(self) -> bool:
        """Whether the layers use relu."""
        return self.activation == "relu" or self.name != "mlp"

    @property
    def recurrent(self) -> bool:
        """Whether the network has a memory."""
        return self.memory != "none"

    @property
    def state_size(self) -> int:
        """The size of an agent's memory: 0 without one."""
        return STATES[self.memory] * self.memory_size

    @property
    def valued(self) -> bool:
        """Whether the outputs say what each option is worth: then play is epsilon-greedy."""
        return self.head not in ("logits", "actions")

    @property
    def oversees(self) -> bool:
        """Whether the critic sees more than its agent: it then has layers of its own."""
        return self.critic in ("central", "state")

    @property
    def numbers(self) -> int:
        """How many outputs each option has."""
        return self.atoms if self.head in ("atoms", "quantiles") else 1

    @property
    def sees_state(self) -> bool:
        """Whether the critic sees the state of the whole game."""
        return self.critic == "state"

    def convolutions(self, spec: EnvSpec) -> list[Convolution]:
        """Return the convolutions of a cnn or resnet; none for the other networks."""
        if self.name == "cnn":
            return image_convolutions(spec.observation.shape, self.filters)
        if self.name == "resnet":
            return board_convolutions(spec.observation.shape, self.channels, self.blocks)
        return []

    def scale(self, spec: EnvSpec) -> float:
        """Return the factor that observations are multiplied by: bytes of images become numbers up to 1."""
        return 1 / 255 if self.name == "cnn" and spec.observation.dtype == "uint8" else 1.0


FIELDS = frozenset(item.name for item in fields(PolicyConfig))
LATER = ("kwargs", "deviation", "atoms", "support", "duelling", "noisy")  # a manifest leaves out their defaults


def policy_from(plain: Mapping[str, Any]) -> PolicyConfig:
    """Return the config that a manifest holds as a plain dict.

    >>> policy_from({"name": "mlp", "hidden": [8]}).hidden
    [8]
    """
    unknown = set(plain) - FIELDS
    if unknown:
        raise ValueError(f"the policy has unknown fields {sorted(unknown)}: it was written by another version of ludus")
    return msgspec.convert(dict(plain), PolicyConfig)


def plain_policy(config: PolicyConfig) -> dict[str, Any]:
    """Return the config as a manifest holds it: without fields that most networks do not use.

    >>> policy_from(plain_policy(PolicyConfig(hidden=[8]))).hidden
    [8]
    """
    plain, usual = asdict(config), PolicyConfig()
    return {key: value for key, value in plain.items() if key not in LATER or value != getattr(usual, key)}


class MadeNetwork(Protocol):
    """What follows from the code of a network: see league.policies.blueprint.NetworkBlueprint, which imports torch."""

    @property
    def layout(self) -> "Layout":
        """The layout of its weights."""

    @property
    def memory_size(self) -> int:
        """The size of an agent's memory."""

    def initial(self, seed: int) -> FloatArray:
        """Return initial weights."""


class BoundPolicy(PolicyConfig):
    """The config of a network of another package, with its code for one game; only league.policies.binding makes it."""

    __slots__ = ("blueprint",)
    blueprint: MadeNetwork

    @property
    def recurrent(self) -> bool:
        """Whether the network has a memory."""
        return self.state_size > 0

    @property
    def state_size(self) -> int:
        """The size of an agent's memory: 0 without one."""
        return self.blueprint.memory_size


@dataclass(frozen=True, slots=True)
class Layout:
    """Parameter names and shapes, in the order of the flat vector."""

    shapes: dict[str, tuple[int, ...]]
    untrained: frozenset[str] = frozenset()  # set by the learner, or fixed

    @property
    def sizes(self) -> list[int]:
        """The size of each parameter."""
        return [math.prod(shape) for shape in self.shapes.values()]

    @property
    def size(self) -> int:
        """The size of the flat vector."""
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
    """Return for each position of the kernel the indices of the flattened board under it: [positions, patch].

    A convolution without padding is then one gather and one matrix product, in numpy as in torch.

    >>> board_patches((2, 3, 1), [2, 2]).tolist()
    [[0, 1, 3, 4], [1, 2, 4, 5]]
    """
    shape = image_shape("board_conv", shape)
    _, patch = patches_shape(shape, kernel)
    numbers = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    windows = np.lib.stride_tricks.sliding_window_view(numbers, tuple(kernel), axis=(0, 1))
    return windows.transpose(0, 1, 3, 4, 2).reshape(-1, patch)


def patches_shape(shape: tuple[int, ...], kernel: list[int]) -> tuple[int, int]:
    """Return how many positions the kernel of a board_conv has, and how many numbers are under it.

    >>> patches_shape((2, 3, 1), [2, 2])
    (2, 4)
    """
    shape = image_shape("board_conv", shape)
    if shape[0] < kernel[0] or shape[1] < kernel[1]:
        raise ValueError(
            f"policy board_conv: the kernel {list(kernel)} is larger than the board {list(shape[:2])}. "
            "Make policy.kernel smaller."
        )
    places, patch = (shape[0] - kernel[0] + 1) * (shape[1] - kernel[1] + 1), kernel[0] * kernel[1] * shape[2]
    check_patches("board_conv", places, patch)
    return places, patch


def team_size(spec: EnvSpec) -> int:
    """Return the number of agents in the largest seat."""
    return max(len(seat.agents) for seat in spec.seats)


def output_size(config: PolicyConfig, spec: EnvSpec) -> int:
    """Return how many numbers actors output: one for each option, the mean of each number, and maybe its deviation."""
    return spec.actions + spec.continuous * (2 if config.deviation == "state" and config.head == "logits" else 1)


def overview(config: PolicyConfig, spec: EnvSpec) -> int:
    """Return the input size of a separate critic, without the agent id."""
    if config.critic == "central":
        return team_size(spec) * spec.observation.size
    if spec.state is None:
        raise ValueError(
            f"policy.critic=state: {spec.name} has no state of the whole game. Add env.state=true if it has one "
            "(env.kwargs.state=true for a native game), or use policy.critic=central."
        )
    return spec.state.size


def describe(config: PolicyConfig, spec: EnvSpec) -> Layout:
    """Return the layout of a network's parameters. Weights are [outputs, inputs]."""
    if isinstance(config, BoundPolicy):
        return config.blueprint.layout
    if not config.ours:
        raise ValueError(f"the code of network {config.name} is not loaded: see league.policies.binding")
    shapes: dict[str, tuple[int, ...]] = {}

    def add(name: str, outputs: int, inputs: int) -> None:
        shapes[f"{name}.weight"] = (outputs, inputs)
        shapes[f"{name}.bias"] = (outputs,)

    def stack(name: str, width: int) -> int:
        for number, units in enumerate(config.hidden):
            add(f"{name}_{number}", units, width)
            width = units
        return width

    width = _convolve(config, spec, add)
    width = stack("hidden", width + (team_size(spec) if config.agent_id else 0))
    if config.recurrent:
        gates = GATES[config.memory] * config.memory_size
        add("memory_input", gates, width)
        add("memory_state", gates, config.memory_size)
        width = config.memory_size
    add("policy", output_size(config, spec) + spec.actions * (config.numbers - 1), width)
    if config.oversees:
        width = stack("critic", overview(config, spec) + team_size(spec))
    if config.critic != "none":
        add("value", config.numbers, width)
    added = beside_layers(config, spec)
    return Layout(shapes | _noise_of(config, shapes) | added, frozenset(added) - {"log_std"})


def _convolve(config: PolicyConfig, spec: EnvSpec, add: Callable[[str, int, int], None]) -> int:
    """Add the convolutions of a network; return how many numbers follow on them, or on the observation itself."""
    width = spec.observation.size
    if config.name == "board_conv":
        places, patch = patches_shape(spec.observation.shape, config.kernel)
        add("conv", config.channels, patch)
        width += places * config.channels
    for convolution in config.convolutions(spec):
        add(convolution.name, convolution.channels, convolution.patch)
        width = math.prod(convolution.output)
    return width


def _noise_of(config: PolicyConfig, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the noise of fully connected layers, if they have any: see league.policies.noise.

    What encodes observations has none: convolutions, or the first layer of an mlp.
    """
    layers = ("hidden_", "critic_", "policy.", "value.") if config.noisy else ()
    encoder = ("hidden_0.", "critic_0.") if config.name == "mlp" else ()
    noisy = [name for name in shapes if name.startswith(layers) and not name.startswith(encoder)]
    return {name.replace(".", f"{NOISE}."): shapes[name] for name in noisy}


def beside_layers(config: PolicyConfig, spec: EnvSpec) -> dict[str, tuple[int, ...]]:
    """Return the shapes of parameters outside of layers; only `log_std` is trained, the learner sets the others."""
    shapes: dict[str, tuple[int, ...]] = {}
    if spec.continuous and config.head == "logits" and config.deviation == "constant":
        shapes["log_std"] = (spec.continuous,)
    if config.normalise:
        shapes |= normalising.shapes(spec.observation.size)
    if config.head != "logits":
        _refuse_parts(spec, config.head)
        shapes["exploration"] = (2,)  # see league.policies.exploration
    return shapes


def _refuse_parts(spec: EnvSpec, head: str) -> None:
    if head == "actions" and spec.action_kind != "continuous":
        raise ValueError(
            f"policy.head=actions: the network outputs continuous numbers, but the actions of {spec.name!r} are "
            f"{spec.action_kind}. Use algo=ppo."
        )
    if head != "actions" and not spec.single:
        raise ValueError(
            f"policy.head={head}: values are learned for the options of one choice, but an action of {spec.name!r} has "
            f"choices {list(spec.heads)} and {spec.continuous} continuous numbers. Use algo=ppo."
        )


def initial(config: PolicyConfig, spec: EnvSpec, seed: int) -> FloatArray:
    """Return initial weights: orthogonal, biases 0, the policy head small so that play starts almost uniform."""
    if isinstance(config, BoundPolicy):
        return config.blueprint.initial(seed)
    rng = np.random.default_rng(seed)
    layout = describe(config, spec)
    flat = np.zeros(layout.size, dtype=np.float32)
    gains = {"policy.weight": 0.01, "value.weight": 1.0, "memory_input.weight": 1.0, "memory_state.weight": 1.0}
    # Residual blocks start close to the identity: else the sum grows with every block.
    gains |= {f"block_{block}_b.weight": 0.1 for block in range(config.blocks)}
    for name, view in layout.views(flat).items():
        if NOISE in name:
            layer = name.replace(NOISE, "").rpartition(".")[0]
            view[:] = config.noisy / math.sqrt(layout.shapes[f"{layer}.weight"][1])
        elif name.endswith(".weight"):
            view[:] = gains.get(name, math.sqrt(2)) * _orthogonal(view.shape[0], view.shape[1], rng)
        elif name == "log_std":
            view[:] = LOG_STD
        elif name == normalising.VARIANCE:
            view[:] = config.scale(spec) ** -2
        elif name == "exploration":
            view[:] = (1, 0)  # uniform over legal actions, in all slots
        elif name == "memory_input.bias" and config.memory == "lstm":
            view[config.memory_size : 2 * config.memory_size] = 1  # forget little at first
        elif name == "policy.bias":
            view[spec.actions * config.numbers + spec.continuous :] = LOG_STD  # if the deviation is an output
    return flat


def _orthogonal(rows: int, columns: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    tall = rng.standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(tall)
    q *= np.sign(np.diag(r))  # without it QR does not sample uniformly, and signs depend on the library
    return q if rows >= columns else q.T
