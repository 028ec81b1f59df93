"""Binds the config of a network to its code; that of other packages is loaded if it is allowed. No torch.

policy = bind(config, spec, allow)      # PluginError if the package is not allowed
"""

from collections.abc import Collection
from dataclasses import fields, is_dataclass

from league.plugins import PluginError, load, resolve
from league.policies.layout import GROUP, BoundPolicy, PolicyConfig
from league.spec import EnvSpec

BLUEPRINT = "league.policies.blueprint:NetworkBlueprint"  # by name, because it imports torch


def check_network(config: PolicyConfig, allow: Collection[str]) -> None:
    """Raise PluginError if the network is not allowed, or its class does not exist."""
    if not config.ours:
        _network(config, allow)


def _network(config: PolicyConfig, allow: Collection[str]) -> type:
    network = resolve(GROUP, config.name, allow)
    if not (isinstance(network, type) and is_dataclass(getattr(network, "Config", None))):
        raise PluginError(
            f"policy.name={config.name}: {network!r} is no network; it must be a torch.nn.Module with a dataclass "
            "`Config` inside: see league.policies.network"
        )
    return network


def bind(config: PolicyConfig, spec: EnvSpec, allow: Collection[str]) -> PolicyConfig:
    """Return the config with the code of its network; raise PluginError or ValueError if there is none that fits."""
    if config.ours or isinstance(config, BoundPolicy):
        return config
    network = _network(config, allow)
    bound = BoundPolicy(**{item.name: getattr(config, item.name) for item in fields(config)})
    bound.blueprint = load(BLUEPRINT)(network, config, spec)
    return bound
