"""Atari games with the usual preprocessing, so that scores can be compared with those of papers.

env = make(slots=16, id="ALE/Pong-v5")

Up to 30 no-ops at the start, each action for 4 frames, the last two of them merged, grey, 84 x 84, the last 4
pictures as channels (rows, columns, pictures), 108,000 frames at most. Rewards and lives are as the game has them.
`env.kwargs` are those of the game (`repeat_action_probability`, `full_action_space`, `difficulty`) and of the
preprocessing: `noop_max`, `frame_skip`, `screen_size`, `stack`, `terminal_on_life_loss`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import ale_py
import gymnasium
import numpy as np
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation, TransformObservation

from collectors.envs.adapter import Adapter
from collectors.envs.gymnasium import solo
from collectors.envs.pettingzoo import adapt
from league.plugins import PluginError

PREPROCESSING = ("noop_max", "frame_skip", "screen_size", "terminal_on_life_loss")


def make(slots: int, id: str = "", kwargs: Mapping[str, Any] | None = None, **options: Any) -> Adapter:
    """Return a batch of slots of the game that `id` names; see the module's docstring."""
    return adapt(solo(builder(id, kwargs)), slots, name=id, **options)


def builder(id: str, kwargs: Mapping[str, Any] | None = None, allow: Any = ()) -> Callable[[], Any]:
    """Return the function that builds the game of this id, with its preprocessing."""
    gymnasium.register_envs(ale_py)
    game = dict(kwargs or {})
    stack = game.pop("stack", 4)
    usual = {key: game.pop(key) for key in PREPROCESSING if key in game}
    try:
        gymnasium.spec(id)
    except gymnasium.error.Error as error:
        raise PluginError(f"unknown Atari game {id!r}: {' '.join(str(error).split())}") from error
    return partial(_build, id, game, usual, stack)


def _build(id: str, game: Mapping[str, Any], usual: Mapping[str, Any], stack: int) -> Any:
    env = gymnasium.make(id, frameskip=1, disable_env_checker=True, **game)
    env = FrameStackObservation(AtariPreprocessing(env, **usual), stack)
    pictures, *size = env.observation_space.shape or ()
    last: Any = gymnasium.spaces.Box(0, 255, (*size, pictures), np.dtype(np.uint8))
    return TransformObservation(env, lambda seen: np.moveaxis(seen, 0, -1), last)
