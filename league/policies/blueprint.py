"""The blueprint of a network of another package: the class, its settings, and what follows from both in a game.

policy = bind(config, spec, allow=["my_package"])       # league.policies.binding; a BoundPolicy
policy.blueprint.layout, policy.blueprint.memory_size
module = policy.blueprint.module()                      # a fresh copy
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from league.errors import InputError
from league.policies.layout import LOG_STD, FloatArray, Layout, PolicyConfig, beside_layers
from league.policies.network import NetworkShape, Tree, leaves_of, network_shape
from league.spec import EnvSpec

LARGEST_NETWORK = 1 << 26  # weights: a message carries 1 << 28 bytes


class NetworkError(InputError, ValueError):
    """A network of another package that cannot play; the message names its class and the remedy."""


@dataclass(frozen=True)
class NetworkBlueprint:
    """Makes the modules of one network."""

    network: Any  # a class that follows league.policies.network.Network
    config: PolicyConfig
    spec: EnvSpec

    @property
    def name(self) -> str:
        """The class, as a config names it."""
        return f"{self.network.__module__}:{self.network.__qualname__}"

    @cached_property
    def shape(self) -> NetworkShape:
        """What the network is made for."""
        return network_shape(self.config, self.spec)

    @cached_property
    def settings(self) -> Any:
        """The network's own config, from `policy.kwargs`."""
        kind = self.network.Config
        known = [item.name for item in fields(kind)]
        for key in self.config.kwargs:
            if key not in known:
                close = get_close_matches(str(key), known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known) or 'no settings'}"
                raise NetworkError(f"policy.kwargs: {self.name} has no setting {key!r}; {hint}")
        try:
            return msgspec.convert(dict(self.config.kwargs), kind)
        except msgspec.ValidationError as error:
            raise NetworkError(f"policy.kwargs: {error} ({self.name})") from error

    def module(self) -> nn.Module:
        """Return a copy of the network, with any weights: building one can take long."""
        return copy.deepcopy(self._built)

    @cached_property
    def _built(self) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            return self._build(0)

    def _check_size(self) -> None:
        """Raise NetworkError if a network of Ludus has more weights than one message carries; allocate none of them."""
        if not self.network.__module__.startswith("league."):
            return  # a package that the user allowed may build anything
        with torch.device("meta"):
            count = sum(tensor.numel() for tensor in tensors_of(self.network(self.settings, self.shape)).values())
        if count > LARGEST_NETWORK:
            raise NetworkError(f"{self.name} would have {count:,} weights; at most {LARGEST_NETWORK:,} are possible")

    def _build(self, seed: int) -> nn.Module:
        torch.manual_seed(seed)
        try:
            self._check_size()
            module = self.network(self.settings, self.shape)
        except NetworkError:
            raise
        except Exception as error:
            raise NetworkError(f"{self.name} cannot be built: {type(error).__name__}: {error}") from error
        if not isinstance(module, nn.Module):
            raise NetworkError(f"{self.name} is no network: derive it from torch.nn.Module")
        lazy = (nn.UninitializedParameter, nn.UninitializedBuffer)
        if any(isinstance(one, lazy) for one in tensors_of(module).values()):
            raise NetworkError(f"{self.name} has lazy layers: give them their sizes, which `shape` holds")
        return acting_mode(module)

    @cached_property
    def memory(self) -> Tree:
        """The memory that the network declares: tensors of one agent."""
        declare = getattr(self._built, "memory", None)
        tree = declare() if callable(declare) else ()
        if not all(isinstance(leaf, Tensor) for leaf in leaves_of(tree)):
            raise NetworkError(f"{self.name}.memory() must return a tensor, or dicts and tuples of tensors")
        return tree

    @cached_property
    def memory_size(self) -> int:
        """The size of an agent's memory: 0 without one."""
        return sum(leaf.numel() for leaf in leaves_of(self.memory))

    @cached_property
    def layout(self) -> Layout:
        """Parameters, then what Ludus adds, then buffers."""
        module, added = self._built, beside_layers(self.config, self.spec)
        trained = dict(module.named_parameters())
        buffers = dict(module.named_buffers())
        for name in added:
            if name in trained or name in buffers:
                raise NetworkError(f"{self.name}: Ludus has its own parameter {name!r}; rename that of the network")
        shapes = {name: tuple(tensor.shape) for name, tensor in trained.items()}
        shapes |= added | {name: tuple(tensor.shape) for name, tensor in buffers.items()}
        still = {name for name, parameter in trained.items() if not parameter.requires_grad}
        return Layout(shapes, frozenset(still | set(buffers) | (set(added) - {"log_std"})))

    def _initialise(self, initialise: Callable[[], None]) -> None:
        try:
            initialise()
        except Exception as error:
            text = " ".join(str(error).split())[:300]
            raise NetworkError(f"{self.name}.initialise() fails: {type(error).__name__}: {text}") from error

    def initial(self, seed: int) -> FloatArray:
        """Return initial weights: those with which the network is built, and that its `initialise` may change."""
        with torch.random.fork_rng(devices=[]):
            module = self._build(seed % 2**63)
            initialise = getattr(module, "initialise", None)
            if callable(initialise):
                self._initialise(initialise)
        flat = np.zeros(self.layout.size, np.float32)
        views = self.layout.views(flat)
        for name, tensor in tensors_of(module).items():
            if tuple(tensor.shape) != views[name].shape:
                raise NetworkError(f"{self.name}.initialise() changed the shape of {name!r}")
            views[name][...] = tensor.detach().float().numpy()
        if "log_std" in views and "log_std" in beside_layers(self.config, self.spec):
            views["log_std"][:] = LOG_STD
        if "exploration" in views:
            views["exploration"][:] = (1, 0)
        return flat


def tensors_of(module: nn.Module) -> dict[str, Tensor]:
    """Return the parameters and buffers of a module by name."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def acting_mode(module: nn.Module) -> nn.Module:
    """Put a module into eval() mode, but for recurrent layers: cuDNN computes their gradients in train() mode only."""
    module.eval()
    for layer in module.modules():
        if isinstance(layer, nn.RNNBase) and not layer.dropout:
            layer.train()
    return module
