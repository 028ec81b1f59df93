"""Atari games with the usual preprocessing, so that scores can be compared with those of papers.

env = make(slots=16, id="ALE/Pong-v5")

Up to 30 no-ops at the start, each action for 4 frames, the last two of them merged, grey, 84 x 84, the last 4
pictures as channels (rows, columns, pictures), 108,000 frames at most. Rewards and lives are as the game has them.
`env.kwargs` are those of the game (`repeat_action_probability`, `full_action_space`, `difficulty`) and of the
preprocessing: `noop_max`, `frame_skip`, `screen_size`, `stack`, `terminal_on_life_loss`.

ALE plays many games at once in C++, with the same pictures as Gymnasium's wrappers one at a time (only the no-ops of a
seed differ), and nearly twice as fast. What it cannot do, such as rendering, the wrappers do.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import ale_py
import gymnasium
import numpy as np
import numpy.typing as npt
from ale_py.vector_env import AtariVectorEnv
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation, TransformObservation

from collectors.envs.adapters.gymnasium import AGENT, solo
from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.known import plain
from collectors.envs.rows import Ends, Environment, IntArray, Rows
from collectors.envs.slots import Index, check_actions, check_start
from league.plugins import PluginError
from league.spec import EnvSpec

PREPROCESSING = ("noop_max", "frame_skip", "screen_size", "terminal_on_life_loss")
BATCHED = {
    "frame_skip": "frameskip",
    "full_action_space": "full_action_space",
    "max_num_frames_per_episode": "max_num_frames_per_episode",
    "noop_max": "noop_max",
    "repeat_action_probability": "repeat_action_probability",
    "stack": "stack_num",
}
"""The options of ALE's own batches, besides the size of the screen, and their names there."""

Batches = Callable[[int], AtariVectorEnv]


def make(slots: int, id: str = "", kwargs: Mapping[str, Any] | None = None, **options: Any) -> Environment:
    """Return a batch of slots of the game that `id` names; see the module's docstring."""
    one_by_one = solo(builder(id, kwargs))
    build = None if options else batches(id, kwargs or {})
    if build is None:
        return adapt(one_by_one, slots, name=id, **options)
    first = adapt(one_by_one, 1, name=id)
    first.close()
    return Atari(first.spec, slots, build)


def batches(id: str, kwargs: Mapping[str, Any]) -> Batches | None:
    """Return the function that builds ALE's own batch of games; None if it lacks one of the options."""
    registered = dict(gymnasium.spec(id).kwargs)
    game, _ = registered.pop("game"), registered.pop("frameskip")  # that of the preprocessing counts
    options = registered | dict(kwargs)
    size = options.pop("screen_size", 84)
    if not options.keys() <= BATCHED.keys() or not isinstance(size, int):
        return None
    named: dict[str, Any] = {BATCHED[key]: value for key, value in options.items()}
    return partial(
        AtariVectorEnv,
        game,
        img_height=size,
        img_width=size,
        num_threads=1,
        use_fire_reset=False,
        reward_clipping=False,
        **named,
    )


def returns(build: Batches, seed: int, ticks: Sequence[Mapping[str, Any]]) -> Mapping[str, float]:
    """Return the return that ALE gives for these actions, as rows have them."""
    env = build(1)
    env.reset(seed=np.array([seed]))
    paid = sum(float(env.step(np.array([int(tick[AGENT])]))[1][0]) for tick in ticks)
    env.close()
    return {AGENT: paid}


class Atari:
    """An `Environment` of Atari games that ALE plays at once. Free slots play on, unseen."""

    def __init__(self, spec: EnvSpec, slots: int, build: Batches) -> None:
        self.spec, self.slots = spec, slots
        self._games = build(slots)
        self._stack = spec.observation.shape[-1]
        self._seen, _ = self._games.reset(seed=0)
        self._reward = np.zeros(slots, np.float32)  # for the last action
        self._age = np.zeros(slots, np.intp)  # actions in this episode
        self._busy = np.zeros(slots, np.bool_)

    @property
    def active(self) -> bool:
        """Whether any slot plays an episode."""
        return bool(self._busy.any())

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots."""
        index = check_start(self.spec.name, slots, seeds, self._busy)
        if not len(index):
            return
        order = index.argsort()
        self._busy[index] = True
        begun = np.zeros(self.slots, np.bool_)
        begun[index] = True
        # ALE takes seeds of 31 bits; -1 would be none.
        given = (np.asarray(seeds)[order] & 0x7FFFFFFF).astype(np.int64)
        self._seen, _ = self._games.reset(seed=given, options={"reset_mask": begun})
        self._reward[index], self._age[index] = 0, 0

    def rows(self) -> Rows:
        """Return the agent of every slot that plays."""
        slots = np.flatnonzero(self._busy)
        return Rows(
            slot=slots,
            agent=np.zeros(len(slots), np.intp),
            observation=self._views(slots),
            mask=np.ones((len(slots), self.spec.actions), np.bool_),
            reward=self._reward[slots],
            first=self._age[slots] == 0,
        )

    def step(self, actions: IntArray) -> Ends:
        """Take one action in every slot that plays."""
        slots = np.flatnonzero(self._busy)
        legal = np.ones((len(slots), self.spec.actions), np.bool_)
        all_of_them = np.zeros(self.slots, np.int64)
        all_of_them[slots] = check_actions(self.spec.name, actions, slots, legal)
        if len(slots):
            self._seen, reward, terminated, truncated, _ = self._games.step(all_of_them)
            self._reward = reward.astype(np.float32)
            self._age += 1
            over = slots[(terminated | truncated)[slots]]
        else:
            over, terminated = slots, self._busy
        self._busy[over] = False
        return Ends(
            slot=over,
            agent=np.zeros(len(over), np.intp),
            reward=self._reward[over],
            truncated=~terminated[over],
            observation=self._views(over),
            over=over,
        )

    def _views(self, slots: Index) -> npt.NDArray[np.uint8]:
        """Return the last pictures; the first one of an episode is repeated until there are enough."""
        pictures = self._seen[slots]  # [slots, stack, height, width]
        young = np.flatnonzero(self._age[slots] < self._stack - 1)
        oldest = self._stack - 1 - self._age[slots[young]]
        which = np.maximum(np.arange(self._stack), oldest[:, None])
        pictures[young] = pictures[young[:, None], which]
        return np.ascontiguousarray(np.moveaxis(pictures, 1, -1))

    def render(self, slot: int) -> str:
        """Return the newest picture in characters, each for 4 x 2 of its points."""
        shades = " .:-=+*#%@"
        picture = self._seen[slot, -1][::4, ::2]
        return "\n".join("".join(shades[int(grey) * len(shades) // 256] for grey in line) for line in picture)

    def close(self) -> None:
        """Close the games."""
        self._games.close()


def builder(id: str, kwargs: Mapping[str, Any] | None = None, allow: Any = ()) -> Callable[[], Any]:
    """Return the function that builds one game of this id, with its preprocessing."""
    gymnasium.register_envs(ale_py)
    plain("ale_py", "env.kwargs", kwargs or {}, allow)
    game = dict(kwargs or {})
    stack = game.pop("stack", 4)
    usual = {key: game.pop(key) for key in PREPROCESSING if key in game}
    if ":" in id:  # Gymnasium would import the module before the colon
        raise PluginError(f"unknown Atari game {id!r}: an id is written as in ALE/Pong-v5")
    try:
        found = gymnasium.spec(id)
    except gymnasium.error.Error as error:
        raise PluginError(f"unknown Atari game {id!r}: {' '.join(str(error).split())}") from error
    if found.entry_point != "ale_py.env:AtariEnv":
        raise PluginError(f"unknown Atari game {id!r}: it is not one of ale_py's; use env=gymnasium for it")
    return partial(_build, id, game, usual, stack)


def _build(id: str, game: Mapping[str, Any], usual: Mapping[str, Any], stack: int) -> Any:
    env = gymnasium.make(id, frameskip=1, disable_env_checker=True, **game)
    env = FrameStackObservation(AtariPreprocessing(env, **usual), stack)
    pictures, *size = env.observation_space.shape or ()
    last: Any = gymnasium.spaces.Box(0, 255, (*size, pictures), np.dtype(np.uint8))
    return TransformObservation(env, lambda seen: np.moveaxis(seen, 0, -1), last)
