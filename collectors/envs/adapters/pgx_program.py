"""Pgx in JAX: the compiled functions that begin and step all worlds of a game at once.

    program = compile_program(PgxOrder("backgammon", 256, chance=True, dtype="float32"))        # takes seconds
    worlds, seen = program.first                                        # all at the start of an episode
    worlds, seen = program.begin(worlds, seen, which, keys)             # bool [256], uint32 [256, 2]
    worlds, seen, ended = program.step(worlds, seen, actions)           # int32 [256], -1: nobody plays there

A game without chance needs no keys: all of its episodes begin alike, and worlds that ended or that nobody plays in
stand at the start again. So a tick is one call of JAX; `begin` is only for games with chance.

JAX is imported here and nowhere else: import this module only where a game is played, and call `share_machine` of
`collectors.envs.adapters.pgx` before, because JAX reads its settings once.

An episode depends on its key alone: each move of chance has a key of its own, made of that key and the number of the
move. Agents are numbered by who moves first; Pgx tosses a coin for that, but in a league the seating decides it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp

# In the thread of the caller, who waits for the result anyway. Pgx makes arrays when it is imported, so this comes
# first.
jax.config.update("jax_cpu_enable_async_dispatch", False)

import pgx  # noqa: E402

from collectors.envs.adapters.pgx_arrays import ACTED, EARNED, LINES, OVER, Seen, Worlds  # noqa: E402


@dataclass(frozen=True, slots=True)
class Program:
    """A game, compiled for a number of worlds; each function takes all of them."""

    first: tuple[Worlds, Seen]
    begin: Callable[[Worlds, Seen, Any, Any], tuple[Worlds, Seen]]
    step: Callable[[Worlds, Seen, Any], tuple[Worlds, Seen, Worlds | None]]  # the last: as they ended, if one is late
    views: Callable[[Worlds], Any]  # what each agent sees; compiled when it is first called
    elsewhere: bool  # on a device whose memory numpy cannot read


@dataclass(frozen=True, slots=True)
class PgxOrder:
    """Which game to compile, and for what."""

    id: str
    worlds: int
    chance: bool
    dtype: str  # of observations
    limit: int | None = None  # moves after which an episode is late, and ends
    device: str = ""  # such as gpu:1; "" leaves it to JAX
    may_be_over: bool = False  # see PgxGame


class World:
    """One world of a game, in functions that JAX can compile for many."""

    LEFT_OUT = ("observation", "rewards", "terminated", "truncated", "legal_action_mask")
    """Leaves of Pgx's state that no step reads, or that `Seen` has."""

    def __init__(self, order: PgxOrder) -> None:
        self._env, self._chance, self._dtype, self._limit = pgx.make(order.id), order.chance, order.dtype, order.limit
        self._may_be_over = order.may_be_over
        self._agents = jnp.arange(self._env.num_players)
        blank = jax.eval_shape(self._env.init, jax.ShapeDtypeStruct((2,), jnp.uint32))
        self._structure, self._blank = jax.tree.structure(blank), jax.tree.leaves(blank)
        self._place = jax.tree.unflatten(self._structure, range(len(self._blank)))
        left_out = {getattr(self._place, name) for name in self.LEFT_OUT}
        self._kept = [place for place in range(len(self._blank)) if place not in left_out]
        self._opening = None if order.chance else jax.jit(self._env.init)(jax.random.key(0))

    def fresh(self, key: Any) -> tuple[Worlds, Seen]:
        """Return the world at the start of an episode, and what it shows."""
        state = self._env.init(_random(key, 0)) if self._opening is None else self._opening
        worlds = Worlds(self._leaves(state), *((key, state.current_player) if self._chance else ()))
        nobody, nothing = jnp.zeros(len(self._agents), jnp.bool_), jnp.zeros(len(self._agents))
        return worlds, self._seen(state, jnp.int32(0), nobody, nothing, jnp.bool_(False), jnp.bool_(False))

    def step(self, now: Worlds, before: Seen, action: Any) -> tuple[Worlds, Seen]:
        """Return the world after a move, and what the move shows."""
        state = self._state(now, before.legal)
        new = state._step_count == 0
        mine = self._agents == (state.current_player - self._first(now)) % len(self._agents)
        acted = (jnp.where(new, False, before.marks[ACTED:] != 0)) | mine
        kept = jnp.where(new | mine, 0.0, before.numbers[EARNED:])
        key = _random(now.key, state._step_count + 1) if self._chance else None  # without one, chance raises an error
        state = self._env.step(state, jnp.maximum(action, 0), key)
        over, late = state.terminated | state.truncated, jnp.bool_(False)
        if self._limit is not None:
            late = ~state.terminated & (over | (state._step_count >= self._limit))
            over = over | late
        mover = (state.current_player - self._first(now)) % len(self._agents)
        earned = kept + state.rewards[self._numbered(now)]
        return now._replace(state=self._leaves(state)), self._seen(state, mover, acted, earned, over, late)

    def views(self, now: Worlds) -> Any:
        """Return what each agent sees."""
        state = self._state(now, jnp.bool_(True))
        return jax.vmap(self._env._observe, in_axes=(None, 0))(state, self._numbered(now)).astype(self._dtype)

    def _seen(self, state: Any, mover: Any, acted: Any, earned: Any, over: Any, late: Any) -> Seen:
        marks = [mover, ~acted[mover], over, late]
        return Seen(
            state.observation.astype(self._dtype),
            state.legal_action_mask,
            jnp.concatenate([jnp.stack([mark.astype(jnp.int8) for mark in marks]), acted.astype(jnp.int8)]),
            jnp.concatenate([earned[mover][None], earned]),
        )

    def _leaves(self, state: Any) -> tuple[Any, ...]:
        leaves = jax.tree.leaves(state)
        return tuple(leaves[place] for place in self._kept)

    def _state(self, now: Worlds, legal: Any) -> Any:
        leaves = [jnp.zeros(leaf.shape, leaf.dtype) for leaf in self._blank]
        for place, leaf in zip(self._kept, now.state, strict=True):
            leaves[place] = leaf
        leaves[self._place.legal_action_mask] = legal
        if self._may_be_over:
            leaves[self._place.terminated] = leaves[self._place._step_count] < 0
        return jax.tree.unflatten(self._structure, leaves)

    def _first(self, now: Worlds) -> Any:
        return now.first if self._opening is None else self._opening.current_player

    def _numbered(self, now: Worlds) -> Any:
        """Return the player of Pgx that each agent is."""
        return (self._first(now) + self._agents) % len(self._agents)


def _random(key: Any, number: Any) -> Any:
    return jax.random.fold_in(jax.random.wrap_key_data(key, impl="threefry2x32"), number)


class ManyWorlds:
    """Many worlds of a game, in functions that JAX can compile."""

    def __init__(self, world: World, opening: tuple[Worlds, Seen] | None, order: PgxOrder) -> None:
        self._opening, self._order = opening, order  # None: each episode begins in its own way
        self._fresh = jax.vmap(world.fresh, out_axes=(0, LINES))
        self._move = jax.vmap(world.step, in_axes=(0, LINES, 0), out_axes=(0, LINES))

    def begin(self, now: Worlds, seen: Seen, which: Any, keys: Any) -> tuple[Worlds, Seen]:
        """Put some of the worlds at the start of an episode."""
        worlds, shown = self._fresh(keys)
        picked = [_pick(which, new, old, axis) for new, old, axis in zip(shown, seen, LINES, strict=True)]
        return _picks(which, worlds, now), Seen(*picked)

    def step(self, now: Worlds, seen: Seen, actions: Any) -> tuple[Worlds, Seen, Worlds | None]:
        """Move in the worlds that somebody plays in; the others stay as they are, or where they begin."""
        moved, shown = self._move(now, seen, actions)
        if self._opening is None:
            return _picks(actions >= 0, moved, now), shown, None
        start, view = self._opening
        again = (actions < 0) | (shown.marks[OVER] != 0)
        marks, numbers = _pick(again, view.marks[:OVER, None], shown.marks[:OVER], 1), shown.numbers
        seen = Seen(
            _pick(again, view.observation, shown.observation, 0),
            _pick(again, view.legal, shown.legal, 0),
            jnp.concatenate([marks, shown.marks[OVER:]]),
            jnp.concatenate([jnp.where(again, 0.0, numbers[:EARNED]), numbers[EARNED:]]),
        )
        return _picks(again, start, moved), seen, moved if self._order.limit is not None else None


def _picks(which: Any, new: Any, old: Any) -> Any:
    return jax.tree.map(lambda one, other: _pick(which, one, other, 0), new, old)


def _pick(which: Any, new: Any, old: Any, axis: int) -> Any:
    """Return the new values where the flag of a world is set, and else the old ones."""
    shape = (1,) * axis + which.shape + (1,) * (old.ndim - axis - 1)
    return jnp.where(which.reshape(shape), new, old)


@lru_cache(maxsize=8)
def compile_program(order: PgxOrder) -> Program:
    """Return a game compiled for a number of worlds; the same one again if this process has it."""
    device = find_device(order.device)
    with jax.default_device(device):
        return _compile(order, device)


def find_device(name: str) -> Any:
    """Return a device of JAX by its name."""
    platform, _, number = name.partition(":")
    try:
        return jax.devices(platform or None)[int(number or 0)]
    except (RuntimeError, IndexError) as error:
        found = ", ".join(f"{one.platform}:{one.id}" for one in jax.devices())
        raise ValueError(
            f"env.kwargs.device={name}: JAX has no such device here, only {found}. For a GPU: pip install 'jax[cuda13]'"
        ) from error


def on_cpu(name: str) -> bool:
    """Return whether a device of JAX is the CPU."""
    return bool(find_device(name).platform == "cpu")


def _compile(order: PgxOrder, device: Any) -> Program:
    worlds, chance = order.worlds, order.chance
    world = World(order)
    keys, which = jax.ShapeDtypeStruct((worlds, 2), jnp.uint32), jax.ShapeDtypeStruct((worlds,), jnp.bool_)
    opening = None if chance else world.fresh(None)
    batch = ManyWorlds(world, opening, order)
    begin = batch.begin
    if opening is None:
        shape = jax.eval_shape(batch._fresh, keys)
        begin = jax.jit(batch.begin).lower(*shape, which, keys).compile()
        blank = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shape)
        first = begin(*blank, jnp.ones(worlds, jnp.bool_), jnp.zeros(keys.shape, keys.dtype))
    else:
        first = _tile(opening, worlds)
    first = jax.device_put(first, device)
    step = jax.jit(batch.step).lower(*first, jax.ShapeDtypeStruct((worlds,), jnp.int32)).compile()
    views, elsewhere = jax.jit(jax.vmap(world.views)), device.platform != "cpu"
    return Program(first=first, begin=begin, step=step, views=views, elsewhere=elsewhere)


def _tile(opening: tuple[Worlds, Seen], worlds: int) -> tuple[Worlds, Seen]:
    """Return a batch in which every world is the same."""
    state, view = opening
    lines = [
        jnp.broadcast_to(jnp.expand_dims(leaf, axis), (*leaf.shape[:axis], worlds, *leaf.shape[axis:]))
        for leaf, axis in zip(view, LINES, strict=True)
    ]
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (worlds, *leaf.shape)), state), Seen(*lines)


@lru_cache(maxsize=2)
def alone(id: str) -> tuple[Callable[[Any], Any], Callable[[Any, Any, Any, Any], Any]]:
    """Return one world of Pgx, without anything of ours: how it begins with a key, and how it steps."""
    env = pgx.make(id)

    def step(state: Any, action: Any, key: Any, number: Any) -> Any:
        return env.step(state, action, _random(key, number))

    return jax.jit(lambda key: env.init(_random(key, 0))), jax.jit(step)
