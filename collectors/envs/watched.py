"""An environment that announces each stage before it begins, so that an observer knows where it crashed or hangs.

env = Watched(make_environment(config, 2), tell=print)
env.start(slots, seeds)                     # prints "reset", and then resets
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.plan import Plan
from collectors.envs.rows import (
    BuildsSlots,
    BuildTold,
    CanRehearse,
    Compiles,
    Ends,
    Environment,
    HasGuesses,
    IntArray,
    Rows,
)

Tell = Callable[[str], None]

BUILD, RESET, STEP, CLOSE = "build", "reset", "step", "close"
TESTS, LOOP = "PettingZoo's own tests", "its own loop"


def silent(stage: str) -> None:
    """Announce nothing."""


class Watched:
    """An `Environment` that calls `tell` with the name of each stage before it begins."""

    def __init__(self, env: Environment, tell: Tell) -> None:
        self.spec, self.slots = env.spec, env.slots
        self._env, self._tell = env, tell

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these slots, which may build environments."""
        self._tell(RESET)
        self._env.start(slots, seeds)

    def rows(self) -> Rows:
        """Return the rows of the environment, as a part of the stage `step`."""
        self._tell(STEP)
        return self._env.rows()

    def step(self, actions: npt.NDArray[Any]) -> Ends:
        """Take the actions."""
        self._tell(STEP)
        return self._env.step(actions)

    def rehearse(self) -> bool:
        """Rehearse the outcome of the environment, if it can."""
        self._tell(STEP)
        return self._env.rehearse() if isinstance(self._env, CanRehearse) else True

    def prepare(self) -> str:
        """Compile the environment, as a part of the stage `build`."""
        self._tell(BUILD)
        return self._env.prepare() if isinstance(self._env, Compiles) else ""

    def build_slots(self, tell: BuildTold) -> float:
        """Build every slot, where each has an environment of its own; each is announced."""
        if not isinstance(self._env, BuildsSlots):
            return 0.0
        self._tell(BUILD)

        def announced(built: int, slots: int, left: float) -> None:
            self._tell(BUILD)
            tell(built, slots, left)

        return self._env.build_slots(announced)

    @property
    def guesses(self) -> tuple[str, ...]:
        """What was guessed about seats and sides."""
        return self._env.guesses if isinstance(self._env, HasGuesses) else ()

    def render(self, slot: int) -> str:
        """Return the environment's text of a position."""
        return self._env.render(slot)

    def close(self) -> None:
        """Close the environment."""
        self._tell(CLOSE)
        self._env.close()


def watched(made: Plan, tell: Tell) -> Plan:
    """Return the same plan, with environments that announce their stages."""

    def build(slots: int) -> Environment:
        tell(BUILD)
        return Watched(made.build(slots), tell)

    return replace(
        made,
        build=build,
        returns=_announced(made.returns, LOOP, tell),
        complaints=_announced(made.complaints, TESTS, tell),
        spaces=_announced(made.spaces, BUILD, tell),
        outside=_announced(made.outside, LOOP, tell),
        payments=_announced(made.payments, LOOP, tell),
    )


def _announced(work: Callable[..., Any] | None, stage: str, tell: Tell) -> Callable[..., Any] | None:
    if work is None:
        return None

    def announced(*arguments: Any) -> Any:
        tell(stage)
        return work(*arguments)

    return announced
