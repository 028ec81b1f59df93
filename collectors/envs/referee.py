"""The referee: an environment whose END rows have ranks.

env = Referee(env, judge=resolve(...), margin=0.5)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.outcomes import (
    Floats,
    OutcomeError,
    checked_scores,
    rank_agents,
    rank_sides,
    seated_agents,
    winner_scores,
)
from collectors.envs.return_sums import ReturnSums
from collectors.envs.rows import (
    BoolArray,
    BuildsSlots,
    BuildTold,
    Compiles,
    Ends,
    Environment,
    HasGuesses,
    HasInfos,
    HasPicture,
    HasRenderModes,
    HasSpaces,
    IntArray,
    Rows,
    SlotFault,
)
from league.agent_spaces import AgentSpaces, plain_spaces
from league.errors import message_of
from league.spec import EnvSpec


@dataclass(frozen=True, slots=True)
class Finished:
    """An episode that is over, for the user's function."""

    returns: dict[str, float]  # of each agent
    infos: Mapping[str, Mapping[str, Any]]  # the last info of each agent that has one
    length: int  # moves
    present: tuple[str, ...] = ()  # the agents that took part: others have no score and no rank


Judge = Callable[[Finished], Mapping[str, float]]
"""From a finished episode to a score for each agent, higher is better. A side has the mean of its agents."""


class UnreadInfos(Mapping[str, Any]):
    """Empty infos of a made-up episode, which record whether they were read."""

    def __init__(self, agents: Sequence[str]) -> None:
        self._agents, self.read = agents, False

    def __getitem__(self, agent: str) -> Mapping[str, Any]:
        self.read = True
        return {}

    def __iter__(self) -> Iterator[str]:
        self.read = True
        return iter(self._agents)

    def __len__(self) -> int:
        self.read = True
        return len(self._agents)


class Referee:
    """An environment that ranks: `Ends.ranks` has a rank for each seat of each slot that is over.

    Without a winner, a user's function and a margin there are no ranks: then returns decide.
    """

    def __init__(self, env: Environment, judge: Judge | None = None, margin: float = 0.0, name: str = "") -> None:
        self.spec: EnvSpec = env.spec
        self.slots = env.slots
        self._env, self._judge, self._margin, self._name = env, judge, margin, name
        self._rows: Rows | None = None
        self._infos = env.infos if isinstance(env, HasInfos) else None
        self._names_winners = judge is not None or self._infos is not None
        self._returns = ReturnSums(env.slots, len(env.spec.agents))
        self._length = np.zeros(env.slots, np.int64)
        self._everybody = np.ones(len(env.spec.agents), np.bool_)
        self._seated = seated_agents(env.spec)

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these slots."""
        self._returns.clear(slots)
        self._length[slots] = 0
        self._env.start(slots, seeds)

    def rows(self) -> Rows:
        """Return the rows of the environment."""
        self._rows = self._env.rows()
        return self._rows

    def step(self, actions: IntArray) -> Ends:
        """Take the actions, and judge the episodes that end with them."""
        rows = self._env.rows() if self._rows is None else self._rows
        self._rows = None
        self._returns.add_rows(rows)
        if self._judge is not None:
            self._length[np.unique(rows.slot)] += 1
        ends = self._env.step(actions)
        self._returns.add_ends(ends)
        return self._judged(ends) if len(ends.over) else ends

    def _judged(self, ends: Ends) -> Ends:
        """Add ranks to END rows, unless returns alone decide; an invalid outcome is a fault of its slot."""
        if ends.ranks is not None:
            return ends
        named: dict[int, npt.NDArray[np.int64]] = {}
        faults = []
        for i, slot in enumerate(ends.over.tolist() if self._names_winners else ()):
            try:
                present = self._everybody if ends.present is None else ends.present[i]
                if (ranks := self._rank(slot, present)) is not None:
                    named[i] = ranks
            except OutcomeError as error:
                faults.append(SlotFault(slot, f"{self.spec.name}: {message_of(error)}"))
        if named or self._margin:
            took_part = np.tile(self._everybody, (len(ends.over), 1)) if ends.present is None else ends.present
            ranked = rank_agents(
                self._returns.totals[ends.over], took_part, self._seated, self.spec.sides, self._margin
            )
            for i, ranks in named.items():
                ranked[i] = ranks
            ends = replace(ends, ranks=ranked)
        return _without(ends, faults) if faults else ends

    def _rank(self, slot: int, present: BoolArray) -> npt.NDArray[np.int64] | None:
        """Return the ranks by the winner that the environment names, or by the user's function; None without both."""
        agents = self.spec.agents
        playing = tuple(agent for agent, there in zip(agents, present.tolist(), strict=True) if there)
        infos = {} if self._infos is None else self._infos(slot)
        scores = winner_scores(agents, infos)
        if scores is None:
            if self._judge is None:
                return None
            returns = dict(zip(agents, self._returns.totals[slot].tolist(), strict=True))
            scores = self._judgement(Finished(returns, infos, int(self._length[slot]), playing))
        elif absent := [agent for agent, won in scores.items() if won and agent not in playing]:
            raise OutcomeError(f"its info names the winner {absent}, but only {list(playing)} took part")
        totals, counts = self._seats({agent: score for agent, score in scores.items() if agent in playing})
        ranks: npt.NDArray[np.int64] = rank_sides(totals[None], counts, self.spec.sides, self._margin)[0]
        return ranks

    def rehearse(self) -> bool:
        """Call the user's function with a made-up episode; raise OutcomeError if its scores are invalid.

        Return False if that proves nothing: it read infos, or raised, and may work with a real episode.
        """
        if self._judge is None:
            return True
        infos = UnreadInfos(self.spec.agents)
        returns = {agent: float(number) for number, agent in enumerate(self.spec.agents, start=1)}
        try:
            scores = self._judge(Finished(returns, infos, 1, self.spec.agents))
        except Exception:
            return False
        if infos.read:
            return False
        checked_scores(scores, self.spec, self._name)
        return True

    def _judgement(self, finished: Finished) -> dict[str, float]:
        assert self._judge is not None
        try:
            scores = self._judge(finished)
        except Exception as error:  # whatever the user's function raises, the user has to fix it
            raise OutcomeError(
                f"env.outcome={self._name} raised {type(error).__name__}: {message_of(error)}"
            ) from error
        return checked_scores(scores, self.spec, self._name, finished.present)

    def _seats(self, scores: Mapping[str, float]) -> tuple[Floats, list[int]]:
        """Return the sum of the scores of each seat, and the number of its agents with a score."""
        names = [[self.spec.agents[agent] for agent in seat.agents] for seat in self.spec.seats]
        known = [[scores[name] for name in seat if name in scores] for seat in names]
        return np.array([sum(seat) for seat in known]), [len(seat) for seat in known]

    def prepare(self) -> str:
        """Compile the environment, if that is needed."""
        return self._env.prepare() if isinstance(self._env, Compiles) else ""

    def build_slots(self, tell: BuildTold) -> float:
        """Build every slot, where each has an environment of its own."""
        return self._env.build_slots(tell) if isinstance(self._env, BuildsSlots) else 0.0

    def render(self, slot: int) -> str:
        """Return the environment's text of a position."""
        return self._env.render(slot)

    @property
    def spaces(self) -> Mapping[str, AgentSpaces]:
        """The spaces of each agent."""
        return self._env.spaces if isinstance(self._env, HasSpaces) else plain_spaces(self.spec)

    @property
    def guesses(self) -> tuple[str, ...]:
        """What was guessed about seats and sides."""
        return self._env.guesses if isinstance(self._env, HasGuesses) else ()

    @property
    def render_modes(self) -> tuple[str, ...]:
        """The render modes of the environment."""
        return self._env.render_modes if isinstance(self._env, HasRenderModes) else ()

    def picture(self, slot: int) -> npt.NDArray[Any] | None:
        """Return the environment's picture of a position; None if it renders none."""
        return self._env.picture(slot) if isinstance(self._env, HasPicture) else None

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def _without(ends: Ends, faults: Sequence[SlotFault]) -> Ends:
    """Return END rows without those of slots with an invalid outcome."""
    broken = [fault.slot for fault in faults]
    kept, counted = ~np.isin(ends.slot, broken), ~np.isin(ends.over, broken)
    return Ends(
        slot=ends.slot[kept],
        agent=ends.agent[kept],
        reward=ends.reward[kept],
        truncated=ends.truncated[kept],
        observation=ends.observation[kept],
        over=ends.over[counted],
        faults=(*ends.faults, *faults),
        idle=tuple(idle for idle in ends.idle if idle.slot not in broken),
        late=tuple(late for late in ends.late if late.slot not in broken),
        present=None if ends.present is None else ends.present[counted],
        state=None if ends.state is None else ends.state[kept],
        ranks=None if ends.ranks is None else ends.ranks[counted],
    )
