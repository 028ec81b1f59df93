"""Rows: how an environment speaks. An environment is a batch of slots, each with an episode of its own.

A collector drives it like this, and nothing else is needed:

    env = resolve(config)                       # constructors open nothing
    env.start(slots, seeds)                     # an episode begins in each of these slots
    while env.active:
        rows = env.rows()                       # every agent that must act now, in all slots at once
        ends = env.step(choose(rows))           # one action for each row
        env.start(ends.over, next_seeds)        # slots whose episode is over are free again
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from league.spec import EnvSpec

IntArray = npt.NDArray[np.int32 | np.intp]  # intp indexes arrays as it is, which saves conversions
FloatArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rows:
    """ACT rows: one for each agent that must act now. Arrays are the caller's to keep."""

    slot: IntArray  # [n]
    agent: IntArray  # [n]
    observation: npt.NDArray[Any]  # [n, *observation]
    mask: BoolArray  # [n, actions] legal options of all choices; each choice has at least one
    reward: FloatArray  # [n] since that agent's last decision
    first: BoolArray  # [n] the agent has not acted in this episode yet
    state: npt.NDArray[Any] | None = None  # [n, *state] of the whole slot, if the spec tells of one

    def __len__(self) -> int:
        return len(self.slot)


@dataclass(frozen=True, slots=True)
class Ends:
    """END rows: every agent that acted in an episode gets exactly one, also the one that did not move last.

    `over` lists the slots whose whole episode ended. An agent may end before its episode does (it died).
    """

    slot: IntArray  # [m]
    agent: IntArray  # [m]
    reward: FloatArray  # [m] since that agent's last decision
    truncated: BoolArray  # [m] bootstrap from the final observation; otherwise the agent terminated
    observation: npt.NDArray[Any]  # [m, *observation] final; only read where truncated
    over: IntArray  # [k] slots whose episode is complete; they are free again
    ranks: npt.NDArray[np.int64] | None = None  # [k, seats] 0 for the best, if the environment tells; else by returns
    faults: tuple["SlotFault", ...] = ()  # slots whose episode broke; they are free, too, and have no END rows
    idle: tuple["Idle", ...] = ()  # agents that never acted in an episode that is over, and yet were paid
    state: npt.NDArray[Any] | None = None  # [m, *state] final, of the whole slot; only read where truncated


def together(ends: Sequence[Ends]) -> Ends:
    """Return END rows of whole episodes, of several ticks, as one. None of them tells of ranks, faults or the idle."""
    return Ends(
        slot=np.concatenate([one.slot for one in ends]),
        agent=np.concatenate([one.agent for one in ends]),
        reward=np.concatenate([one.reward for one in ends]),
        truncated=np.concatenate([one.truncated for one in ends]),
        observation=np.concatenate([one.observation for one in ends]),
        over=np.concatenate([one.over for one in ends]),
        state=None if ends[0].state is None else np.concatenate([one.state for one in ends if one.state is not None]),
    )


@dataclass(frozen=True, slots=True)
class Idle:
    """What an agent earned that never acted, e.g. because all others folded: it counts, but teaches nothing."""

    slot: int
    agent: int
    reward: float


@dataclass(frozen=True, slots=True)
class SlotFault:
    """The environment broke its own rules in one slot (raised, NaN, wrong shape, empty mask).

    Faults of `start` and `rows` are told by the next `step`: until then the slot has no rows. The collector
    voids the ticket of that slot, with this reason; all other slots play on.
    """

    slot: int
    reason: str


class Environment(Protocol):
    """A batch of slots. See the loop in the module's docstring."""

    spec: EnvSpec
    slots: int

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots, with its own seed."""

    def rows(self) -> Rows:
        """Return the ACT rows of all slots. Slots without an episode have none."""

    def step(self, actions: npt.NDArray[Any]) -> Ends:
        """Take one action for each row that `rows` returned last, in the same order.

        int32 [n] if `spec.single`; else float32 [n, parts]: the option of each choice, then numbers in [-1, 1].
        """

    def render(self, slot: int) -> str:
        """Return the slot's position as text, for a terminal."""

    def close(self) -> None:
        """Release what the environment holds."""
