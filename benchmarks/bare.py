"""Environments alone: random legal play in their own project's loop, the yardstick of the sweep's speeds.

Every loop keeps one environment and begins the next episode in it; it reads what an agent sees and what it may do,
as every player must. Pgx steps as many worlds at once as the sweep has slots.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.batched import bare as bare_pgx
from benchmarks.measure import Measure, Slice, timed
from collectors.envs.config import EnvConfig

Play = Callable[[], int]  # one episode; returns its decisions


def bare(config: EnvConfig, slots: int) -> Measure:
    """Return the measure of an environment in its own loop, in decisions."""
    if config.name == "pgx":
        return bare_pgx(config.id, slots)
    rng = np.random.default_rng(0)
    if config.name == "openspiel":
        return _episodes(_openspiel(config, rng))
    if config.name == "pettingzoo":
        from collectors.envs.adapters.pettingzoo import builder

        env = builder(config.id, config.kwargs)()
        return _episodes(_aec(env, rng) if hasattr(env, "agent_iter") else _parallel(env, rng))
    return _episodes(_gymnasium(config, rng))


def _episodes(play: Play) -> Measure:
    """Return the measure of episodes, the last of which ends after its time."""

    def work(until: float) -> int:
        decisions = 0
        while time.perf_counter() < until:
            decisions += play()
        return decisions

    def measure(seconds: float) -> Slice:
        return timed(work, seconds)

    return measure


def _action(space: Any, seen: Any, info: Any, rng: np.random.Generator) -> Any:
    """Return a random legal action of one agent."""
    mask = seen.get("action_mask") if isinstance(seen, dict) else None
    mask = info.get("action_mask") if mask is None and isinstance(info, dict) else mask
    if mask is None or isinstance(mask, tuple | dict):
        return space.sample()
    legal = np.flatnonzero(mask)
    return int(legal[rng.integers(len(legal))])


def _aec(env: Any, rng: np.random.Generator) -> Play:
    def play() -> int:
        env.reset(seed=int(rng.integers(2**31)))
        decisions = 0
        for agent in env.agent_iter():
            seen, _, terminated, truncated, info = env.last()
            over = terminated or truncated
            env.step(None if over else _action(env.action_space(agent), seen, info, rng))
            decisions += not over
        return decisions

    return play


def _parallel(env: Any, rng: np.random.Generator) -> Play:
    def play() -> int:
        seen, info = env.reset(seed=int(rng.integers(2**31)))
        decisions = 0
        while env.agents:
            chosen = {agent: _action(env.action_space(agent), seen[agent], info[agent], rng) for agent in env.agents}
            seen, _, _, _, info = env.step(chosen)
            decisions += len(chosen)
        return decisions

    return play


def _gymnasium(config: EnvConfig, rng: np.random.Generator) -> Play:
    """Return how to play an episode of Gymnasium, also of one with a tuple of agents, or with Atari's wrappers."""
    from collectors.envs.adapters import atari, gymnasium, gymnasium_multi

    builders = {"atari": atari.builder, "gymnasium_multi": gymnasium_multi.builder, "gymnasium": gymnasium.builder}
    env = builders[config.name](config.id, config.kwargs)()
    agents = len(env.action_space) if config.name == "gymnasium_multi" else 1

    def play() -> int:
        seen, info = env.reset(seed=int(rng.integers(2**31)))
        decisions, over = 0, False
        while not over:
            seen, _, terminated, truncated, info = env.step(_action(env.action_space, seen, info, rng))
            decisions, over = decisions + agents, bool(np.any(terminated) or np.any(truncated))
        return decisions

    return play


def _openspiel(config: EnvConfig, rng: np.random.Generator) -> Play:
    from collectors.envs.adapters.openspiel import builder, sample_chance

    loaded = builder(config.id, config.kwargs)()

    def choose(state: Any, player: int) -> int:
        getattr(state, f"{loaded.kind}_tensor")(player)
        legal = state.legal_actions(player)
        return int(legal[rng.integers(len(legal))])

    def play() -> int:
        state, decisions = loaded.game.new_initial_state(), 0
        while not state.is_terminal() and not (config.max_steps and decisions >= config.max_steps):
            if state.is_chance_node():
                state.apply_action(sample_chance(state, rng))  # as rows do: numpy's choice() is slower than most games
            elif state.is_simultaneous_node():
                players = range(state.num_players())
                state.apply_actions([choose(state, player) for player in players])
                decisions += len(players)
            else:
                state.apply_action(choose(state, state.current_player()))
                decisions += 1
        return decisions

    return play
