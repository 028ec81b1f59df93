"""From the name of an environment to the environment, whatever kind it is."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collectors.envs.pettingzoo import adapt, builder
from collectors.envs.rows import Environment
from league.plugins import resolve


@dataclass(frozen=True, slots=True)
class Plan:
    """How to build a batch of slots, and, for a PettingZoo environment, how to build it as it is."""

    build: Callable[[int], Environment]
    official: Callable[[], Any] | None = None


def plan(name: str, kwargs: Mapping[str, Any] | None = None, allow: Sequence[str] = ()) -> Plan:
    """Return how to build the environment of this name.

    A name is one of ours (`connect_four`, or `pettingzoo` with an id in kwargs), a PettingZoo id
    (`classic/go_v5`), or `package.module:attribute`, which is a batch of slots if it takes `slots`, and else a
    PettingZoo environment. `allow` comes from the command line, never from a file.

    >>> plan("connect_four").build(4).slots
    4
    """
    options = dict(kwargs or {})
    if name == "pettingzoo" or "/" in name:
        return _zoo(options.pop("id", "") if name == "pettingzoo" else name, options, allow)
    target = resolve("ludus.environments", name, allow)
    if "slots" not in inspect.signature(target).parameters:
        return _zoo(name, options, allow)

    def build(slots: int) -> Environment:
        env: Environment = target(slots=slots, **options)
        return env

    return Plan(build)


def _zoo(id: str, options: dict[str, Any], allow: Sequence[str]) -> Plan:
    official = builder(id, options.pop("kwargs", None), allow)

    def build(slots: int) -> Environment:
        return adapt(official, slots, name=id, **options)

    return Plan(build, official)
