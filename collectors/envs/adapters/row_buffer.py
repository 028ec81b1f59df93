"""The row buffer: preallocated arrays for every agent in every slot. Slots write into them, rows are copies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import BoolArray, Ends, Idle, Late, Rows, SlotFault
from collectors.envs.slots import Index, no_option
from league.spec import EnvSpec

LARGEST = float(np.finfo(np.float32).max)  # rewards travel as float32


@dataclass(slots=True)
class PendingEnds:
    """What the next END rows will report.

    END rows as (slot, agent, truncated), slots that are over, slots that broke, rewards of agents that never acted or
    had their END row before, and, for slots that are over in which somebody did not take part, who did.
    """

    ends: list[tuple[int, int, bool]] = field(default_factory=list)
    over: list[int] = field(default_factory=list)
    faults: dict[int, str] = field(default_factory=dict)
    idle: list[Idle] = field(default_factory=list)
    late: list[Late] = field(default_factory=list)
    present: dict[int, list[bool]] = field(default_factory=dict)


Shapes = dict[str, tuple[tuple[int, ...], str]]


def row_shapes(spec: EnvSpec, slots: int) -> Shapes:
    """Return the shape and dtype of each array of a row buffer."""
    size = (slots, len(spec.agents))
    shapes: Shapes = {
        "observation": ((*size, *spec.observation.shape), spec.observation.dtype),
        "mask": ((*size, spec.actions), "bool"),
        "reward": (size, "float64"),
        "ready": (size, "bool"),
        "acted": (size, "bool"),
    }
    return shapes if spec.state is None else shapes | {"state": ((slots, *spec.state.shape), spec.state.dtype)}


def row_arrays(spec: EnvSpec, slots: int) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a row buffer, all zero."""
    return {name: np.zeros(shape, dtype) for name, (shape, dtype) in row_shapes(spec, slots).items()}


class RowBuffer:
    """The arrays of all agents in all slots, `[s, a]` everywhere."""

    def __init__(self, spec: EnvSpec, slots: int, arrays: Mapping[str, npt.NDArray[Any]] | None = None) -> None:
        """Take the arrays that are given, such as those in shared memory, or make them."""
        given = row_arrays(spec, slots) if arrays is None else arrays
        self.spec = spec
        self.observation = given["observation"]
        self.mask = given["mask"]
        self.reward = given["reward"]  # since the agent's last decision
        self.ready = given["ready"]  # must act now
        self.acted = given["acted"]
        self.state = given.get("state")
        self.pending = PendingEnds()

    def clear(self, slot: int) -> None:
        """Forget the episode of a slot."""
        for array in (self.observation, self.mask, self.reward, self.ready, self.acted):
            array[slot] = 0

    def index(self) -> Index:
        """Return the flat index of all agents that must act now."""
        return np.flatnonzero(self.ready)

    def rows(self, index: Index) -> Rows:
        """Return the ACT rows of these agents, as arrays of their own."""
        slot, agent = np.divmod(index, self.ready.shape[1])
        return Rows(
            slot=slot,
            agent=agent,
            observation=self._observations(index),
            mask=self.masks(index),
            reward=self.reward.reshape(-1)[index].astype(np.float32),
            first=~self.acted.reshape(-1)[index],
            state=None if self.state is None else self.state[slot],
        )

    def _observations(self, index: Index) -> npt.NDArray[np.generic]:
        return self.observation.reshape(-1, *self.spec.observation.shape).take(index, axis=0)

    def masks(self, index: Index) -> npt.NDArray[np.bool_]:
        """Return the masks of these agents."""
        return self.mask.reshape(self.ready.size, self.spec.actions).take(index, axis=0)

    def act(self, index: Index) -> None:
        """Mark these agents as acting: their rewards start from zero."""
        self.ready.reshape(-1)[index] = False
        self.acted.reshape(-1)[index] = True
        self.reward.reshape(-1)[index] = 0

    def find_faults(self) -> None:
        """Find slots with an empty mask or a number that is not finite, among acting and ended agents.

        Checking whole arrays after all slots have moved costs far less than checking every move.
        """
        index = self.index()
        self._fault(index, no_option(self.spec, self.masks(index)), "its action mask allows no action")
        ends = [slot * self.ready.shape[1] + agent for slot, agent, _ in self.pending.ends]
        index = np.concatenate([index, np.array(ends, dtype=np.intp)]) if ends else index
        self._check_rewards(index)
        seen = self.observation.reshape(-1, *self.spec.observation.shape)
        self._check_finite(
            index, index, seen, "its observation holds NaN or infinity, or a number too large for float32"
        )
        if self.state is not None:
            self._check_finite(index, index // self.ready.shape[1], self.state, "state() holds NaN or infinity")

    def _check_rewards(self, index: Index) -> None:
        """Note a fault for each of these agents, and for each that never acted, whose reward is no float32."""
        idle = [one.slot * self.ready.shape[1] + one.agent for one in self.pending.idle]
        index = np.concatenate([index, np.array(idle, dtype=np.intp)]) if idle else index
        rewards = self.reward.reshape(-1).take(index)
        fits = np.abs(rewards) <= LARGEST
        if np.count_nonzero(fits) < len(index):
            self._fault(index, np.asarray(~np.isfinite(rewards)), "its reward is NaN or infinite")
            self._fault(index, np.asarray(~fits), f"its reward does not fit into float32, which ends at {LARGEST:.2g}")

    def _check_finite(self, index: Index, rows: Index, values: npt.NDArray[Any], reason: str) -> None:
        """Note a fault for each of these agents whose row of the values has a number that is not finite."""
        if values.dtype.kind == "f":
            finite = np.isfinite(values.take(rows, axis=0))
            self._fault(index, np.asarray(~finite.all(axis=tuple(range(1, finite.ndim)))), reason)

    def _fault(self, index: Index, wrong: npt.NDArray[np.bool_], reason: str) -> None:
        if np.count_nonzero(wrong):
            for place in index[wrong].tolist():
                slot, agent = divmod(place, self.ready.shape[1])
                self.pending.faults.setdefault(slot, f"{self.spec.name}: agent {self.spec.agents[agent]!r}: {reason}")

    def take_ends(self) -> Ends:
        """Return the END rows since the last call. A slot that broke has none and is not over."""
        pending, self.pending = self.pending, PendingEnds()
        ends = [end for end in pending.ends if end[0] not in pending.faults]
        slot, agent, truncated = np.array(ends, dtype=np.intp).reshape(-1, 3).T.copy()
        index = slot * self.ready.shape[1] + agent
        over = [one for one in pending.over if one not in pending.faults]
        return Ends(
            slot=slot,
            agent=agent,
            reward=self.reward.reshape(-1)[index].astype(np.float32),
            truncated=truncated.astype(np.bool_),
            observation=self._observations(index),
            over=np.array(over, dtype=np.intp),
            faults=tuple(SlotFault(slot, reason) for slot, reason in pending.faults.items()),
            idle=tuple(one for one in pending.idle if one.slot not in pending.faults),
            late=tuple(one for one in pending.late if one.slot not in pending.faults),
            present=self._present(over, pending.present),
            state=None if self.state is None else self.state[slot],
        )

    def _present(self, over: Sequence[int], known: Mapping[int, Sequence[bool]]) -> BoolArray | None:
        """Return who took part in the slots that are over; None if everybody did in all of them."""
        if not known:
            return None
        everybody = [True] * self.ready.shape[1]
        return np.array([known.get(slot, everybody) for slot in over], np.bool_).reshape(len(over), len(everybody))
