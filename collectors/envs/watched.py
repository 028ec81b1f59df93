"""An environment that says what it is about to do: whoever looks on knows where it crashed, or that it hangs.

env = Watched(make_environment(config, 2), tell=print)
env.start(slots, seeds)                     # prints "reset", and then resets
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.plan import Plan
from collectors.envs.rows import CanRehearse, Ends, Environment, IntArray, Rows

Tell = Callable[[str], None]

BUILD, RESET, STEP, CLOSE = "build", "reset", "step", "close"
TESTS, LOOP = "PettingZoo's own tests", "its own loop"


def silent(stage: str) -> None:
    """Tell nobody."""


class Watched:
    """An `Environment` that tells of everything before it does it."""

    def __init__(self, env: Environment, tell: Tell) -> None:
        self.spec, self.slots = env.spec, env.slots
        self._env, self._tell = env, tell

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these slots; this may build environments, too."""
        self._tell(RESET)
        self._env.start(slots, seeds)

    def rows(self) -> Rows:
        """Return the rows of the environment: a part of its step."""
        self._tell(STEP)
        return self._env.rows()

    def step(self, actions: npt.NDArray[Any]) -> Ends:
        """Take the actions."""
        self._tell(STEP)
        return self._env.step(actions)

    def rehearse(self) -> bool:
        """Ask a referee about an episode that nobody played, if there is one."""
        self._tell(STEP)
        return self._env.rehearse() if isinstance(self._env, CanRehearse) else True

    def render(self, slot: int) -> str:
        """Return the position as the environment shows it."""
        return self._env.render(slot)

    def close(self) -> None:
        """Close the environment."""
        self._tell(CLOSE)
        self._env.close()


def watched(made: Plan, tell: Tell) -> Plan:
    """Return the same plan, of environments that tell what they are about to do."""

    def build(slots: int) -> Environment:
        tell(BUILD)
        return Watched(made.build(slots), tell)

    return Plan(
        build=build,
        returns=_telling(made.returns, LOOP, tell),
        complaints=_telling(made.complaints, TESTS, tell),
        spaces=_telling(made.spaces, BUILD, tell),
        outside=_telling(made.outside, LOOP, tell),
    )


def _telling(work: Callable[..., Any] | None, stage: str, tell: Tell) -> Callable[..., Any] | None:
    if work is None:
        return None

    def telling(*arguments: Any) -> Any:
        tell(stage)
        return work(*arguments)

    return telling
