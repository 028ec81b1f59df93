"""From an environment's name to what builds it, whatever project it comes from.

A *backend* adapts the environments of another project: its `builder` returns a function that builds one environment
of that project, and its `adapt` turns that function into a batch of slots.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from collectors.envs.adapters.wrapping import Build, wrap
from collectors.envs.names import BACKENDS, batch_maker, check_id, read_name
from collectors.envs.rows import Environment
from collectors.envs.variant_slots import VariantSlots
from league.plugins import PluginError
from league.variants import Variant, variant_number

Returns = Callable[[int, Any], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to build a batch of slots, and how to compare it with the project that it comes from."""

    build: Callable[[int], Environment]
    returns: Returns | None = None  # from a seed and actions to the return of each agent
    complaints: Callable[[], list[str]] | None = None  # what the project's own tests found
    spaces: Callable[[], dict[str, tuple[str, str]]] | None = None  # each agent's observation and action space, as text
    outside: Callable[[int, Any], dict[str, str]] | None = None  # observations outside of their spaces


def plan(text: str, options: Mapping[str, Any] | None = None, allow: Sequence[str] = ()) -> Plan:
    """Return how to build the environment that a text means (see `read_name`).

    >>> plan("connect_four").build(4).slots
    4
    """
    name, id = read_name(text, allow)
    return plan_exactly(name, {"id": id} | dict(options or {}) if id else options or {}, allow)


def plan_exactly(name: str, options: Mapping[str, Any], allow: Sequence[str] = ()) -> Plan:
    """Return how to build the environment that a config names, with the options of its constructor or backend."""
    if name in BACKENDS:
        return _plan_backend(name, dict(options), allow)
    maker = batch_maker(name, allow)
    return Plan(lambda slots: maker(slots=slots, **options))


def with_variants(variants: Sequence[Variant], plans: Sequence[Plan]) -> Plan:
    """Return how to build an environment in several variants; each is compared with the project that it comes from."""

    def of(seed: int) -> Plan:
        return plans[variant_number(seed, variants)]

    def found(part: str) -> list[Any]:
        return [getattr(plan, part) for plan in plans if getattr(plan, part) is not None]

    def complaints() -> list[str]:
        return [
            f"{variant.name}: {text}"
            for variant, plan in zip(variants, plans, strict=True)
            for text in (plan.complaints() if plan.complaints else ())
        ]

    return Plan(
        build=lambda slots: VariantSlots(variants, [plan.build(slots) for plan in plans]),
        returns=(lambda seed, actions: cast(Returns, of(seed).returns)(seed, actions)) if found("returns") else None,
        complaints=complaints if found("complaints") else None,
        spaces=(lambda: max((spaces() for spaces in found("spaces")), key=len)) if found("spaces") else None,
        outside=(lambda seed, actions: cast(Any, of(seed).outside)(seed, actions)) if found("outside") else None,
    )


def _plan_backend(name: str, options: dict[str, Any], allow: Sequence[str]) -> Plan:
    id, kwargs, wrappers = (options.pop(key, None) for key in ("id", "kwargs", "wrappers"))
    check_id(name, str(id or ""))
    return ADAPTERS[name].plan(Order(str(id), kwargs or {}, wrappers or [], options, allow))


@dataclass(frozen=True, slots=True)
class Order:
    """Which environment of a backend, its arguments and wrappers, and the options of `adapt`."""

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
    """How to adapt the environments of another project, which is imported only when one of them is planned."""

    install: str  # what pip installs for it
    make: Callable[[Order], Plan]

    def plan(self, order: Order) -> Plan:
        """Return the plan; if the project is not installed, raise an error that says what to install."""
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


ADAPTERS = {
    "pettingzoo": Backend("ludus-league[classic,butterfly,sisl,mpe]", _pettingzoo),
    "openspiel": Backend("ludus-league[openspiel]", _openspiel),
    "gymnasium": Backend("gymnasium[all]", _gymnasium),
    "atari": Backend("ludus-league[atari]", _atari),
}
