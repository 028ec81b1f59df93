"""Makers of third-party games whose constructors want objects, which a config cannot hold; needs nothing of Ludus.

ludus check-env third_party_games:generals env.python=OTHER/bin/python --allow third_party_games
"""

from __future__ import annotations

from typing import Any


def generals(truncation: int = 200) -> Any:
    """Return Generals for two, of generals-bots."""
    from generals.envs.pettingzoo_generals import PettingZooGenerals

    return PettingZooGenerals(agents=["red", "blue"], truncation=truncation)


def pogema(agents: int = 4, size: int = 8, steps: int = 64) -> Any:
    """Return path finding on a grid, of POGEMA."""
    from pettingzoo import ParallelEnv
    from pogema import GridConfig, pogema_v0

    env = pogema_v0(GridConfig(integration="PettingZoo", num_agents=agents, size=size, max_episode_steps=steps))
    env.__class__ = type("Pogema", (type(env), ParallelEnv), {})  # it has the methods, and does not say so
    return env


def mettagrid(agents: int = 4, steps: int = 100) -> Any:
    """Return a small arena of MettaGrid."""
    from mettagrid.builder.envs import make_arena
    from mettagrid.envs.pettingzoo_env import MettaGridPettingZooEnv
    from mettagrid.simulator import Simulator

    config = make_arena(num_agents=agents)
    config.game.max_steps = steps
    return MettaGridPettingZooEnv(Simulator(), config)


def multigrid(agents: int = 2, steps: int = 50) -> Any:
    """Return an empty room of MultiGrid, with integers as agents."""
    from multigrid.envs import EmptyEnv
    from multigrid.pettingzoo import to_pettingzoo_env

    return to_pettingzoo_env(EmptyEnv, metadata={"name": "empty_v0"})(agents=agents, max_steps=steps)


def sumo(seconds: int = 200) -> Any:
    """Return two crossings in a row, of SUMO-RL with the networks that it ships."""
    import os
    from pathlib import Path

    import sumo

    os.environ.setdefault("SUMO_HOME", sumo.SUMO_HOME)
    import sumo_rl

    nets = Path(sumo_rl.__file__).parent / "nets" / "2x2grid"
    return sumo_rl.parallel_env(
        net_file=str(nets / "2x2.net.xml"), route_file=str(nets / "2x2.rou.xml"), num_seconds=seconds
    )


def flatland(agents: int = 2) -> Any:
    """Return trains on a small grid of Flatland."""
    from flatland.env_generation.env_generator import env_generator
    from flatland.ml.observations.flatten_tree_observation_for_rail_env import FlattenedNormalizedTreeObsForRailEnv
    from flatland.ml.pettingzoo.pettingzoo_parallel_rail_env import PettingzooParallelRailEnv

    made, _, _ = env_generator(
        n_agents=agents, obs_builder_object=FlattenedNormalizedTreeObsForRailEnv(max_depth=2), seed=1
    )
    return PettingzooParallelRailEnv(made)
