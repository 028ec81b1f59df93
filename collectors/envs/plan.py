"""From the name of an environment to the environment, whatever kind it is.

A *door* leads to the environments of another project: each has a `builder`, which returns a function that builds
an environment as it is, and an `adapt`, which makes a batch of slots of what that function builds.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from collectors.envs.adapters.wrapping import Build, wrap
from collectors.envs.known import is_known
from collectors.envs.rows import Environment
from league.plugins import PluginError, resolve

Returns = Callable[[int, Any], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to build a batch of slots, and what the project it comes from says of it."""

    build: Callable[[int], Environment]
    returns: Returns | None = None  # from a seed and actions to what each agent is paid
    complaints: Callable[[], list[str]] | None = None  # of the project's own tests
    spaces: Callable[[], dict[str, tuple[str, str]]] | None = None  # what each agent sees and does, in its own words
    outside: Callable[[int, Any], dict[str, str]] | None = None  # what agents see that is not in their spaces


def plan(name: str, kwargs: Mapping[str, Any] | None = None, allow: Sequence[str] = ()) -> Plan:
    """Return how to build the environment of this name.

    A name is one of ours (`connect_four`, or a door such as `pettingzoo` with an id in kwargs), a PettingZoo id
    (`classic/go_v5`), or `package.module:attribute`, which is a batch of slots if it takes `slots`, and else a
    PettingZoo environment. `allow` comes from the command line, never from a file.

    >>> plan("connect_four").build(4).slots
    4
    """
    options = dict(kwargs or {})
    if name in DOORS:
        return _through(name, options, allow)
    if "/" in name or is_known(name):
        return _through("pettingzoo", {"id": name, **options}, allow)
    target = resolve("ludus.environments", name, allow)
    if "slots" not in inspect.signature(target).parameters:
        return _through("pettingzoo", {"id": name, **options}, allow)

    def build(slots: int) -> Environment:
        env: Environment = target(slots=slots, **options)
        return env

    return Plan(build)


def _through(door: str, options: dict[str, Any], allow: Sequence[str]) -> Plan:
    """Return the plan of an environment behind a door."""
    id, kwargs, wrappers = (options.pop(key, None) for key in ("id", "kwargs", "wrappers"))
    if not id:
        raise ValueError(f"env.id is missing. Name the environment, e.g. env={door} env.id='{DOORS[door].example}'.")
    return DOORS[door].open(Order(str(id), kwargs or {}, wrappers or [], options, allow))


@dataclass(frozen=True, slots=True)
class Order:
    """Which environment, how it is made and wrapped, and what `adapt` is told of its seats."""

    id: str
    kwargs: Mapping[str, Any]
    wrappers: Sequence[Any]
    options: Mapping[str, Any]
    allow: Sequence[str]

    def wrap(self, build: Build, *kinds: type) -> Build:
        """Put the wrappers on."""
        return wrap(build, self.wrappers, kinds, self.allow)


@dataclass(frozen=True, slots=True)
class Backend:
    """A way to the environments of another project; what it needs is imported when it is opened."""

    example: str
    install: str  # what brings it
    make: Callable[[Order], Plan]

    def open(self, order: Order) -> Plan:
        """Return the plan; say what to install if the project is not there."""
        try:
            return self.make(order)
        except ModuleNotFoundError as error:
            raise PluginError(f"cannot load {order.id!r}: {error}. Install it: pip install '{self.install}'") from error


def _pettingzoo(order: Order) -> Plan:
    import pettingzoo

    from collectors.envs.adapters.pettingzoo import builder

    kinds = (pettingzoo.AECEnv, pettingzoo.ParallelEnv)
    return _as_pettingzoo(order.wrap(builder(order.id, order.kwargs, order.allow), *kinds), order)


def _gymnasium(order: Order) -> Plan:
    from gymnasium import Env

    from collectors.envs.adapters.gymnasium import builder, solo

    return _as_pettingzoo(solo(order.wrap(builder(order.id, order.kwargs, order.allow), Env)), order)


def _atari(order: Order) -> Plan:
    from gymnasium import Env

    from collectors.envs.adapters.atari import batches, builder, make, returns
    from collectors.envs.adapters.gymnasium import solo

    one_by_one = _as_pettingzoo(solo(order.wrap(builder(order.id, order.kwargs, order.allow), Env)), order)
    many = None if order.wrappers or any(order.options.values()) else batches(order.id, order.kwargs)
    if many is None:
        return one_by_one
    return replace(
        one_by_one,
        build=lambda slots: make(slots, order.id, order.kwargs),
        returns=partial(returns, many),
    )


def _as_pettingzoo(official: Build, order: Order) -> Plan:
    from collectors.envs.adapters.pettingzoo import adapt
    from collectors.envs.adapters.reference_tests import complaints, outside, returns, spaces

    return Plan(
        build=lambda slots: adapt(official, slots, name=order.id, **order.options),
        returns=partial(returns, official),
        complaints=partial(complaints, official),
        spaces=partial(spaces, official),
        outside=partial(outside, official),
    )


def _openspiel(order: Order) -> Plan:
    from collectors.envs.adapters.openspiel import adapt, builder, returns

    if order.wrappers:
        raise ValueError("env.wrappers: OpenSpiel games take no wrappers; OpenSpiel has transformed games instead")
    official = builder(order.id, order.kwargs, order.allow)
    return Plan(lambda slots: adapt(official, slots, name=order.id, **order.options), partial(returns, official))


DOORS = {
    "pettingzoo": Backend("classic/connect_four_v3", "ludus-league[classic,butterfly,sisl,mpe]", _pettingzoo),
    "openspiel": Backend("go(board_size=9)", "ludus-league[openspiel]", _openspiel),
    "gymnasium": Backend("CartPole-v1", "gymnasium[all]", _gymnasium),
    "atari": Backend("ALE/Pong-v5", "ludus-league[atari]", _atari),
}
