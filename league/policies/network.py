"""The contract of a network of your own: an ordinary torch module, and a dataclass with its settings.

    @dataclass(kw_only=True)
    class PairConfig:
        width: int = 64  # units of the hidden layer

    class Pair(nn.Module):
        Config = PairConfig

        def __init__(self, config: PairConfig, shape: NetworkShape) -> None: ...
        def forward(self, seen: NetworkInput) -> NetworkOutput: ...

`policy=my_package:Pair policy.kwargs.width=128` lets players have it. docs/your-network.md builds one from nothing.

Legend of shapes: B decisions, N options of all choices, A agents of the seat.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeAlias

import torch
from torch import Tensor

from league.policies.layout import PolicyConfig, output_size
from league.spec import EnvSpec, ObservationPart

Tree: TypeAlias = Any
"""A tensor, or a dict or tuple of trees. (Python's types cannot say this in a way that is pleasant to use.)"""


@dataclass(frozen=True, slots=True)
class NetworkShape:
    """What a network is made for."""

    observation: (
        Tree  # of ObservationPart in place of tensors: `part.shape`; `part.choices` has the options of each choice
    )
    outputs: int  # numbers that `NetworkOutput.outputs` must have: options of all choices, means, maybe deviations
    options: int  # of these, the options; `NetworkInput.mask` has an entry for each
    agents: int  # of the largest seat


@dataclass(frozen=True, slots=True)
class NetworkInput:
    """What is known at each of B decisions. Rows are independent: their order, and who else is there, mean nothing."""

    observation: Tree  # tensors [B, ...] in the structure of the environment: float32; choices int64 from 0
    mask: Tensor  # [B, N] which options are legal; Ludus applies it to the outputs, so a network need not
    agent: Tensor  # [B] int64: which agent of its seat decides
    present: Tensor  # [B, A] which agents of the seat decide at this moment, itself included
    memory: Tree = ()  # tensors [B, ...] as `memory` declares: zeros at an agent's first decision of an episode


@dataclass(frozen=True, slots=True)
class NetworkOutput:
    """What a network makes of its input."""

    outputs: Tensor  # [B, outputs] a logit, or with policy.head=values a value, of each option; then the means; with
    # policy.deviation=state then the logarithms of the standard deviations
    value: Tensor  # [B] the return that is expected
    memory: Tree = ()  # the memory after each decision, in the structure of the input
    extras: Mapping[str, Tensor] = field(default_factory=dict)  # [B, ...] more outputs, which an algorithm may use


class Network(Protocol):
    """A network that plays. `memory` and `initialise` may be left out.

    network = MyNetwork(MyNetwork.Config(width=128), shape).eval()      # in every process that needs it
    network.initialise()                            # only where the first weights of a player are made
    memory = network.memory()                       # once; here and below zeros in this structure, with a batch axis
    output = network(NetworkInput(observation, mask, agent, present, memory))       # in every tick, and in every loss
    network.train(); network(...)                   # after each update, without a gradient: running statistics

    It is always in eval() mode, but for that last line: actors and losses must compute the same probabilities.
    Parameters and buffers are stored and sent as float32; parameters that require no gradient are never trained.
    """

    Config: ClassVar[type]  # a dataclass, every field with a default

    def __init__(self, config: Any, shape: NetworkShape) -> None:
        """Build the layers; random weights come from torch's generator, which is seeded."""

    def forward(self, seen: NetworkInput) -> NetworkOutput:
        """Return what actions are sampled from, and the value, for each decision on its own."""

    def memory(self) -> Tree:
        """Return tensors in the shape of one agent's memory; their content means nothing. Default: no memory."""

    def initialise(self) -> None:
        """Change the first weights, such as to those of a pretrained encoder. Default: they stay as built."""


def network_shape(config: PolicyConfig, spec: EnvSpec) -> NetworkShape:
    """Return the shape that networks of a config get for an environment."""
    whole = ObservationPart((), begin=0, shape=spec.observation.shape)
    return NetworkShape(
        observation=nested({part.path: part for part in spec.observation.structure or (whole,)}),
        outputs=output_size(config, spec),
        options=spec.actions,
        agents=max(len(seat.agents) for seat in spec.seats),
    )


def nested(leaves: Mapping[tuple[str | int, ...], Any]) -> Tree:
    """Return the tree with these leaves by path: texts are keys of dicts, numbers places in tuples.

    >>> nested({("a", 0): 1, ("a", 1): 2, ("b",): 3}), nested({(): 4})
    ({'a': (1, 2), 'b': 3}, 4)
    """
    if () in leaves:
        return leaves[()]
    heads = dict.fromkeys(path[0] for path in leaves)
    inside = {key: nested({path[1:]: leaf for path, leaf in leaves.items() if path[0] == key}) for key in heads}
    return tuple(inside.values()) if isinstance(next(iter(heads)), int) else inside


def unflattened(spec: EnvSpec, observation: Tensor) -> Tree:
    """Return rows of observations [B, ...] in the structure of the environment, as views where that is possible."""
    structure = spec.observation.structure
    if not structure:
        return observation.float()
    return nested({part.path: _part_of(observation, part) for part in structure})


def _part_of(observation: Tensor, part: ObservationPart) -> Tensor:
    piece = observation[:, part.begin : part.begin + part.size]
    if not part.choices:
        return piece.reshape(len(piece), *part.shape).float()
    chosen = torch.stack([one_hot.argmax(dim=1) for one_hot in piece.split(part.choices, dim=1)], dim=1)
    return chosen.reshape(len(piece), *part.shape)


def leaves_of(tree: Tree) -> list[Any]:
    """Return the leaves of a tree, in order.

    >>> leaves_of({"cells": (1, 2), "count": 3}), leaves_of(())
    ([1, 2, 3], [])
    """
    if isinstance(tree, dict):
        return [leaf for branch in tree.values() for leaf in leaves_of(branch)]
    if isinstance(tree, tuple | list):
        return [leaf for branch in tree for leaf in leaves_of(branch)]
    return [tree]


def like(tree: Tree, leaves: list[Any]) -> Tree:
    """Return a tree of this structure with other leaves, which it takes from the list.

    >>> like({"cells": (0, 0), "count": 0}, [1, 2, 3])
    {'cells': (1, 2), 'count': 3}
    """
    if isinstance(tree, dict):
        return {key: like(branch, leaves) for key, branch in tree.items()}
    if isinstance(tree, tuple | list):
        return tuple(like(branch, leaves) for branch in tree)
    return leaves.pop(0)
