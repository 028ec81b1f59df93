"""A tape of one episode: every decision of every agent, with what it saw, did and earned.

tape = RowTape(env)                             # an environment with one slot
outcome_of(replay(tape, ticket, attempt, episode, recorded.actions, run_seed))
steps = tape.take()
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, Environment, IntArray, Rows
from league.spec import EnvSpec


@dataclass(frozen=True, slots=True)
class TapedSteps:
    """The decisions of one episode, in the order in which they were made."""

    agent: npt.NDArray[np.int16]  # [n]
    observation: npt.NDArray[Any]  # [n, *observation]
    mask: npt.NDArray[np.bool_]  # [n, actions]
    action: npt.NDArray[Any]  # [n] or [n, parts]
    reward: npt.NDArray[np.float32]  # [n] earned by this decision: until the agent's next one, or its end
    last: npt.NDArray[np.bool_]  # [n] the agent's last decision of the episode
    truncated: npt.NDArray[np.bool_]  # [n] the game would have gone on after it


class RowTape:
    """An environment of one slot that records what passes through it."""

    def __init__(self, env: Environment) -> None:
        self.spec: EnvSpec = env.spec
        self.slots = env.slots
        self._env = env
        self._rows: list[Rows] = []
        self._actions: list[npt.NDArray[Any]] = []
        self._ends: list[Ends] = []

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode, and forget what was recorded."""
        self._rows, self._actions, self._ends = [], [], []
        self._env.start(slots, seeds)

    def rows(self) -> Rows:
        """Return the rows of the environment."""
        rows = self._env.rows()
        self._rows.append(rows)
        return rows

    def step(self, actions: npt.NDArray[Any]) -> Ends:
        """Take the actions."""
        self._actions.append(np.array(actions))
        ends = self._env.step(actions)
        self._ends.append(ends)
        return ends

    def render(self, slot: int) -> str:
        """Return nothing: nobody looks on."""
        return ""

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def take(self) -> TapedSteps:
        """Return the decisions of the episode that has ended."""
        agent = _joined([rows.agent for rows in self._rows]).astype(np.int16)
        before = _joined([rows.reward for rows in self._rows])
        reward, last = np.zeros(len(agent), np.float32), np.ones(len(agent), np.bool_)
        truncated = np.zeros(len(agent), np.bool_)
        ended = {a: (r, t) for ends in self._ends for a, r, t in _ends(ends)}
        for one in np.unique(agent).tolist():
            mine = np.flatnonzero(agent == one)
            reward[mine[:-1]], last[mine[:-1]] = before[mine[1:]], False
            reward[mine[-1]], truncated[mine[-1]] = ended.get(one, (0.0, False))
            reward[mine[-1]] += sum(late.reward for ends in self._ends for late in ends.late if late.agent == one)
        return TapedSteps(
            agent=agent,
            observation=_joined([rows.observation for rows in self._rows]),
            mask=_joined([rows.mask for rows in self._rows]),
            action=_joined(self._actions),
            reward=reward,
            last=last,
            truncated=truncated,
        )


def _ends(ends: Ends) -> Sequence[tuple[int, float, bool]]:
    return list(zip(ends.agent.tolist(), ends.reward.tolist(), ends.truncated.tolist(), strict=True))


def _joined(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate(parts)
