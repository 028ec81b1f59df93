"""From an environment's name to what builds it, whatever project it comes from.

A *backend* adapts the environments of another project: its `builder` returns a function that builds one environment
of that project, and its `adapt` turns that function into a batch of slots.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from collectors.envs.adapters.compat import use_older_names
from collectors.envs.adapters.wrapping import Build, wrap
from collectors.envs.known import plain
from collectors.envs.names import BACKENDS, batch_maker, check_id, read_name, takes
from collectors.envs.other_python.far_game import FarProcesses
from collectors.envs.other_python.far_order import PYTHON_SECONDS, FarForm, FarOrder, allow_program, opening_of
from collectors.envs.output import EnvOutput
from collectors.envs.payments import Payments
from collectors.envs.rows import Environment
from collectors.envs.variant_slots import VariantSlots
from league.plugins import PluginError, package_of
from league.variants import Variant, variant_number

Returns = Callable[[int, Any], Mapping[str, float]]


ATARI = "ludus-league[atari]"


@dataclass(frozen=True, slots=True)
class Plan:
    """How to build a batch of slots, and how to compare it with the project that it comes from."""

    build: Callable[[int], Environment]
    returns: Returns | None = None  # from a seed and actions to the return of each agent
    complaints: Callable[[], list[Any]] | None = None  # what the project's own tests found, see `Complaint`
    spaces: Callable[[], dict[str, tuple[str, str]]] | None = None  # each agent's observation and action space, as text
    outside: Callable[[int, Any], dict[str, str]] | None = None  # observations outside of their spaces
    payments: Callable[[int, Any], dict[str, Payments]] | None = (
        None  # by two ways to read an AEC environment's rewards
    )
    output: EnvOutput | None = None  # what it prints
    max_steps: int = 0  # after which its episodes are truncated


def plan(text: str, options: Mapping[str, Any] | None = None, allow: Sequence[str] = ()) -> Plan:
    """Return how to build the environment that a text means (see `read_name`).

    >>> plan("connect_four").build(4).slots
    4
    """
    name, id = read_name(text, allow)
    return plan_exactly(name, {"id": id} | dict(options or {}) if id else options or {}, allow)


def plan_exactly(
    name: str, options: Mapping[str, Any], allow: Sequence[str] = (), processes: FarProcesses | None = None
) -> Plan:
    """Return how to build the environment that a config names, with the options of its constructor or backend.

    What another Python plays is played in `processes`, which variants share.
    """
    if name in BACKENDS:
        return _plan_backend(name, dict(options), allow, processes)
    maker, limit = batch_maker(name, allow), options.get("max_steps", 0)
    if limit and not takes(maker, "max_steps", or_any=True):
        raise ValueError(
            f"env.max_steps: {name} takes no 'max_steps'. A batch of slots truncates its episodes itself: give it that "
            "argument"
        )
    return Plan(lambda slots: maker(slots=slots, **options), max_steps=limit if isinstance(limit, int) else 0)


def with_variants(variants: Sequence[Variant], plans: Sequence[Plan]) -> Plan:
    """Return how to build an environment in several variants; each is compared with the project that it comes from."""

    def of(seed: int) -> Plan:
        return plans[variant_number(seed, variants)]

    def found(part: str) -> list[Any]:
        return [getattr(plan, part) for plan in plans if getattr(plan, part) is not None]

    def complaints() -> list[Any]:
        return [
            one._replace(what=f"{variant.name}: {one.what}")
            for variant, plan in zip(variants, plans, strict=True)
            for one in (plan.complaints() if plan.complaints else ())
        ]

    return Plan(
        build=lambda slots: VariantSlots(variants, [plan.build(slots) for plan in plans]),
        returns=(lambda seed, actions: cast(Returns, of(seed).returns)(seed, actions)) if found("returns") else None,
        complaints=complaints if found("complaints") else None,
        spaces=(lambda: max((spaces() for spaces in found("spaces")), key=len)) if found("spaces") else None,
        outside=(lambda seed, actions: cast(Any, of(seed).outside)(seed, actions)) if found("outside") else None,
        payments=(lambda seed, actions: cast(Any, of(seed).payments)(seed, actions)) if found("payments") else None,
        output=next(iter(found("output")), None),
        max_steps=plans[0].max_steps,
    )


def _plan_backend(name: str, options: dict[str, Any], allow: Sequence[str], processes: FarProcesses | None) -> Plan:
    taken = {key: options.pop(key, None) for key in ("id", "args", "kwargs", "wrappers", "cast", "reward_weights")}
    id, output, compat = str(taken["id"] or ""), EnvOutput(), options.pop("compat", False)
    python, seconds = str(options.pop("python", "")), float(options.pop("python_seconds", PYTHON_SECONDS))
    check_id(name, id)
    order = Order(
        id=id,
        kwargs=taken["kwargs"] or {},
        wrappers=taken["wrappers"] or [],
        options=options,
        allow=allow,
        args=taken["args"] or [],
        cast=bool(taken["cast"]),
        weights=tuple(taken["reward_weights"] or ()),
        output=output,
    )
    if python:
        made = _elsewhere(processes or FarProcesses(python, seconds), order, bool(compat))
    else:
        if compat:
            use_older_names()
        with output:  # some print when they are imported
            made = ADAPTERS[name].plan(order)
    return replace(made, output=output, max_steps=options.get("max_steps") or 0)


@dataclass(frozen=True, slots=True)
class Order:
    """Which environment of a backend, its arguments and wrappers, and the options of `adapt`."""

    id: str
    kwargs: Mapping[str, Any]
    wrappers: Sequence[Any]
    options: Mapping[str, Any]
    allow: Sequence[str]
    args: Sequence[Any] = ()
    cast: bool = False
    weights: tuple[float, ...] = ()
    output: EnvOutput = field(default_factory=EnvOutput)

    def given(self, build: Build) -> Build:
        """Add the positional arguments; only code that is named as package.module:function takes any."""
        return partial(build, *self.checked_args()) if self.args else build

    def checked_args(self) -> Sequence[Any]:
        """Return the positional arguments; raise if the environment takes none, or if they may lead to a file."""
        if self.args and ":" not in self.id:
            raise ValueError("env.args is only for environments that are named as package.module:function")
        if self.args:
            given = {str(place): value for place, value in enumerate(self.args)}
            plain(package_of(self.id), "env.args", given, self.allow)
        return self.args

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
            install = ATARI if order.id.startswith("atari/") else self.install
            raise PluginError(f"cannot load {order.id!r}: {error}. Install it: pip install '{install}'") from error


def _elsewhere(processes: FarProcesses, order: Order, compat: bool) -> Plan:
    """Return the plan of a PettingZoo environment that another Python plays."""
    from collectors.envs.other_python.far_environment import FarChecks, FarEnvironment

    allow_program(processes.python, order.allow)
    form = FarForm(order.checked_args(), order.cast, order.weights, compat)
    options = order.options
    far = FarOrder(
        python=processes.python,
        id=order.id,
        opening=opening_of(order.id, order.kwargs, order.wrappers, order.allow, form),
        seconds=processes.seconds,
        state=bool(options.get("state")),
        fresh=options.get("fresh"),
        max_steps=options.get("max_steps") or 0,
        seating={key: value for key, value in options.items() if key in ("seats", "roles", "sides")},
    )
    checks = FarChecks(far, processes)
    return Plan(
        build=lambda slots: FarEnvironment(far, slots, order.output, processes),
        returns=checks.returns,
        complaints=checks.complaints,
        spaces=checks.spaces,
        outside=checks.outside,
        payments=checks.payments,
    )


def _pettingzoo(order: Order) -> Plan:
    import pettingzoo

    from collectors.envs.adapters.pettingzoo import builder

    kinds = (pettingzoo.AECEnv, pettingzoo.ParallelEnv)
    return _as_pettingzoo(order.wrap(order.given(builder(order.id, order.kwargs, order.allow)), *kinds), order)


def _gymnasium(order: Order) -> Plan:
    from gymnasium import Env

    from collectors.envs.adapters.gymnasium import builder, solo

    build = order.wrap(order.given(builder(order.id, order.kwargs, order.allow)), Env)
    return _as_pettingzoo(solo(build), order)


def _gymnasium_multi(order: Order) -> Plan:
    from gymnasium import Env

    from collectors.envs.adapters.gymnasium_multi import builder, several

    build = order.wrap(order.given(builder(order.id, order.kwargs, order.allow)), Env)
    return _as_pettingzoo(several(build), order)


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
    from collectors.envs.adapters.converting import Conversion, convert
    from collectors.envs.adapters.pettingzoo import adapt
    from collectors.envs.adapters.reference_tests import complaints, outside, payments, returns, spaces

    official, around = convert(official, Conversion(order.cast, order.weights)), order.output.around
    return Plan(
        build=lambda slots: adapt(official, slots, name=order.id, output=order.output, **order.options),
        returns=around(partial(returns, official)),
        complaints=around(partial(complaints, official)),
        spaces=around(partial(spaces, official)),
        outside=around(partial(outside, official)),
        payments=around(partial(payments, official)),
    )


def _openspiel(order: Order) -> Plan:
    from collectors.envs.adapters.openspiel import adapt, builder, returns

    if order.wrappers:
        raise ValueError("env.wrappers: OpenSpiel games take no wrappers; OpenSpiel has transformed games instead")
    _refuse_conversions(order, "OpenSpiel games")
    official = builder(order.id, order.kwargs, order.allow)
    return Plan(lambda slots: adapt(official, slots, name=order.id, **order.options), partial(returns, official))


def _refuse_conversions(order: Order, games: str) -> None:
    for key, given in (("args", order.args), ("cast", order.cast), ("reward_weights", order.weights)):
        if given:
            raise ValueError(f"env.{key} is not for {games}, which need nothing of that kind. Leave it out")


def _pgx(order: Order) -> Plan:
    from collectors.envs.adapters.pgx import make, returns

    if order.wrappers:
        raise ValueError("env.wrappers: games of Pgx take no wrappers, which work on one environment at a time")
    _refuse_conversions(order, "games of Pgx")
    options = dict(order.options)
    limit = options.pop("max_steps", 0)
    kwargs = {**order.kwargs, **({"max_steps": limit} if limit else {})}
    make(1, order.id, kwargs, **options)  # refuses what it cannot build; nothing is compiled
    return Plan(build=lambda slots: make(slots, order.id, kwargs, **options), returns=partial(returns, order.id))


ADAPTERS = {
    "pettingzoo": Backend("ludus-league[classic,butterfly,sisl,mpe]", _pettingzoo),
    "openspiel": Backend("ludus-league[openspiel]", _openspiel),
    "gymnasium": Backend("gymnasium[all]", _gymnasium),
    "gymnasium_multi": Backend("ludus-league[foraging,warehouse]", _gymnasium_multi),
    "atari": Backend(ATARI, _atari),
    "pgx": Backend("ludus-league[pgx]", _pgx),
}
