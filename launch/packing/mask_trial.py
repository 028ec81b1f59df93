"""Whether options of a game are illegal at times: its card says so, and a player that gets no mask there refuses.

masks = has_masks(env, spaces)
"""

from collections.abc import Mapping

import numpy as np

from collectors.envs.adapters.observation_spaces import MASK
from collectors.envs.rows import BoolArray, Environment
from collectors.players.bots import RandomBot
from league.agent_spaces import AgentSpaces, DictForm

STEPS = 400  # of random play without an illegal option after which a game counts as one without masks


def has_masks(env: Environment, spaces: Mapping[str, AgentSpaces]) -> bool:
    """Return whether a mask lies beside observations, or a short random play shows that options come and go."""
    if any(isinstance(one.observation, DictForm) and MASK in dict(one.observation.parts) for one in spaces.values()):
        return True
    bot, rng = RandomBot(env.spec), np.random.default_rng(0)
    free, begun, usual = np.arange(env.slots, dtype=np.int32), 0, dict[int, BoolArray]()
    for _ in range(STEPS):
        env.start(free, np.arange(begun + 1, begun + len(free) + 1, dtype=np.int64))
        begun, rows = begun + len(free), env.rows()
        for agent, mask in zip(rows.agent.tolist(), rows.mask, strict=True):
            if (mask != usual.setdefault(agent, mask)).any():
                return True
        ends = env.step(bot.act(rows.observation, rows.mask, rng)[0])
        free = np.array([*ends.over, *(fault.slot for fault in ends.faults)], np.int32)
    return False
