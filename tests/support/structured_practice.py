"""Practice on the games of examples/structured_games.py."""

import sys
from pathlib import Path

from benchmarks.curves import Practice
from collectors.envs.config import EnvConfig, make_environment
from league.policies.binding import bind
from league.policies.layout import PolicyConfig
from learners.algorithms.ppo_config import PPOConfig

EXAMPLES = str(Path(__file__).parents[2] / "examples")
ALGO = PPOConfig(batch=512, minibatch=128, lr=2e-3, gamma=0.0)


def practice_on(game, network, slots=64, **kwargs):
    """Return the practice of a network on one of the games."""
    if EXAMPLES not in sys.path:
        sys.path.append(EXAMPLES)
    env = make_environment(EnvConfig(name="gymnasium", id=f"structured_games:{game}"), slots, ["structured_games"])
    return Practice(env, bind(PolicyConfig(name=network, kwargs=kwargs), env.spec, []), ALGO)
