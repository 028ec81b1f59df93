"""Pgx in JAX: the compiled functions that begin and step all worlds of a game at once.

    program = compile_program("backgammon", 256)                        # takes seconds
    now = opening = program.fresh(keys)                                 # uint32 [256, 2]
    now, seen = program.step(now, opening, which, actions)              # bool [256], int32 [256]

A step first replaces the worlds of `which` by those of `opening`, so that a tick needs one call of JAX. It moves in
every world, whether anybody plays there or not. Where all episodes begin alike, `opening` is only their keys.

JAX is imported here and nowhere else: import this module only where a game is played, and call `bound_threads` of
`collectors.envs.adapters.pgx` before, because JAX reads the number of its threads once.

An episode depends on its key alone: each move of chance has a key of its own, made of that key and the number of the
move. Agents are numbered by who moves first; Pgx tosses a coin for that, but in a league the seating decides it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

# In the thread of the caller, who waits for the result anyway. Pgx makes arrays when it is imported, so this comes
# first.
jax.config.update("jax_cpu_enable_async_dispatch", False)

import pgx  # noqa: E402


class Worlds(NamedTuple):
    """The worlds of a batch, or a single one, as arrays of JAX."""

    state: tuple[Any, ...]  # the leaves of Pgx's state: JAX takes these apart much faster than Pgx's own classes
    key: Any  # uint32 [worlds, 2]
    moves: Any  # int32 [worlds] since the episode began
    first: Any  # int32 [worlds] the player of Pgx that moved first: agent 0


class Seen(NamedTuple):
    """What a step shows."""

    mover: Any  # int32 [worlds] the agent that moves next
    reward: Any  # float32 [worlds, agents] for this move
    over: Any  # bool [worlds]


@dataclass(frozen=True, slots=True)
class Program:
    """A game, compiled for a number of worlds; each function takes all of them."""

    fresh: Callable[[Any], Worlds]  # keys -> worlds at the start of an episode
    step: Callable[[Worlds, Any, Any, Any], tuple[Worlds, Seen]]
    views: Callable[[Worlds], Any]  # worlds -> what each agent sees; compiled when it is first called
    observation: int  # the place of each of these among the leaves of a state
    legal: int
    terminated: int


class World:
    """One world of a game, in functions that JAX can compile for many."""

    def __init__(self, id: str) -> None:
        self._env = pgx.make(id)
        self._players = self._env.num_players
        shape = jax.eval_shape(self._env.init, jax.ShapeDtypeStruct((2,), jnp.uint32))
        self._structure = jax.tree.structure(shape)
        self.places = jax.tree.unflatten(self._structure, range(self._structure.num_leaves))

    def fresh(self, key: Any) -> Worlds:
        """Return the world at the start of an episode."""
        state = self._env.init(_random(key, 0))
        return Worlds(tuple(jax.tree.leaves(state)), key, jnp.int32(0), state.current_player)

    def step(self, now: Worlds, action: Any) -> tuple[Worlds, Seen]:
        """Return the world after a move, and what the move shows; a world that is over stays as it is."""
        moves = now.moves + 1
        state = self._env.step(self._state(now), action, _random(now.key, moves))
        mover = (state.current_player - now.first) % self._players
        seen = Seen(mover, state.rewards[self._numbered(now)], state.terminated | state.truncated)
        return now._replace(state=tuple(jax.tree.leaves(state)), moves=moves), seen

    def views(self, now: Worlds) -> Any:
        """Return what each agent sees."""
        return jax.vmap(self._env._observe, in_axes=(None, 0))(self._state(now), self._numbered(now))

    def _state(self, now: Worlds) -> Any:
        return jax.tree.unflatten(self._structure, now.state)

    def _numbered(self, now: Worlds) -> Any:
        """Return the player of Pgx that each agent is."""
        return (now.first + jnp.arange(self._players)) % self._players


def _random(key: Any, number: Any) -> Any:
    return jax.random.fold_in(jax.random.wrap_key_data(key, impl="threefry2x32"), number)


@lru_cache(maxsize=8)
def compile_program(id: str, worlds: int, deals: bool = True) -> Program:
    """Return a game compiled for this number of worlds; the same one again if this process has it.

    Unless it `deals`, all episodes begin alike.
    """
    world = World(id)
    keys = jax.ShapeDtypeStruct((worlds, 2), jnp.uint32)
    fresh = jax.jit(jax.vmap(world.fresh)).lower(keys).compile()
    usual = fresh(jnp.zeros(keys.shape, keys.dtype))

    def step(now: Worlds, opening: Any, which: Any, action: Any) -> tuple[Worlds, Seen]:
        opened = opening if deals else usual._replace(key=opening)
        begun = jax.tree.map(lambda new, old: jnp.where(_along(which, new), new, old), opened, now)
        stepped: tuple[Worlds, Seen] = jax.vmap(world.step)(begun, action)
        return stepped

    which, actions = jax.ShapeDtypeStruct((worlds,), jnp.bool_), jax.ShapeDtypeStruct((worlds,), jnp.int32)
    return Program(
        fresh=fresh,
        step=jax.jit(step).lower(usual, usual if deals else keys, which, actions).compile(),
        views=jax.jit(jax.vmap(world.views)),
        observation=world.places.observation,
        legal=world.places.legal_action_mask,
        terminated=world.places.terminated,
    )


def _along(which: Any, values: Any) -> Any:
    """Return a flag for each world in a form that fits its values."""
    return which.reshape(which.shape + (1,) * (values.ndim - 1))


@lru_cache(maxsize=2)
def alone(id: str) -> tuple[Callable[[Any], Worlds], Callable[[Worlds, Any], tuple[Worlds, Seen]]]:
    """Return one world without a batch: how it begins, and how it steps."""
    world = World(id)
    return jax.jit(world.fresh), jax.jit(world.step)
