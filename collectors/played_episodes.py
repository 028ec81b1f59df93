"""Episodes of random play: what each agent returned, who took part, and who won.

watch = PlayWatch(env.spec)
watch.add(ends, earned.totals[ends.over])           # after each tick
watch.episodes().returns                            # [episodes, agents]

turns = TurnWatch(env.spec, env.slots)
turns.add(env.rows())                               # in each tick
turns.seats()                                       # [1]: the agents of seat 1 never acted at the same time
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from collectors.conformance import Transcript
from collectors.envs.rows import Ends, Rows
from league.spec import EnvSpec

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PlayedEpisodes:
    """Episodes of random play. `ranks` has those of seats where more than returns decides, else None."""

    returns: Floats  # [episodes, agents]
    present: npt.NDArray[np.bool_]  # [episodes, agents] who took part
    ranks: Sequence[tuple[int, ...] | None]
    late: frozenset[str] = frozenset()  # agents that got a reward after their end

    def __len__(self) -> int:
        return len(self.returns)

    @property
    def by_return(self) -> bool:
        """Whether returns alone decide who did best."""
        return all(ranks is None for ranks in self.ranks)

    def ranked_by_return(self) -> "PlayedEpisodes":
        """Return the same episodes without ranks: a draw margin ranks by returns."""
        return replace(self, ranks=[None] * len(self))


class PlayWatch:
    """Collects the returns and outcomes of episodes as they end."""

    def __init__(self, spec: EnvSpec) -> None:
        self._agents = spec.agents
        self._returns: list[Floats] = []
        self._present: list[npt.NDArray[np.bool_]] = []
        self._ranks: list[tuple[int, ...] | None] = []
        self._late: set[str] = set()

    def add(self, ends: Ends, returns: Floats) -> None:
        """Add the episodes that are over, with the returns of their agents."""
        self._returns += list(returns.copy())
        everybody = np.ones(returns.shape, np.bool_)
        self._present += list(everybody if ends.present is None else ends.present)
        self._ranks += [None] * len(returns) if ends.ranks is None else [tuple(one) for one in ends.ranks.tolist()]
        self._late |= {self._agents[late.agent] for late in ends.late}

    def episodes(self) -> PlayedEpisodes:
        """Return all of them."""
        shape = (len(self._returns), len(self._agents))
        return PlayedEpisodes(
            returns=np.array(self._returns, np.float64).reshape(shape),
            present=np.array(self._present, np.bool_).reshape(shape),
            ranks=self._ranks,
            late=frozenset(self._late),
        )


class TurnWatch:
    """Notices seats of several agents of which only one acts at a time."""

    def __init__(self, spec: EnvSpec, slots: int) -> None:
        self._slots = slots
        self._seat_of = np.empty(len(spec.agents), np.int64)
        for number, seat in enumerate(spec.seats):
            self._seat_of[list(seat.agents)] = number
        self._at_once = np.zeros(len(spec.seats), np.int64)  # the most agents of a seat that acted in one tick
        self._acted = np.zeros(len(spec.agents), np.bool_)

    def add(self, rows: Rows) -> None:
        """Add the agents that act in this tick."""
        acting = np.zeros((self._slots, len(self._at_once)), np.int64)
        np.add.at(acting, (rows.slot, self._seat_of[rows.agent]), 1)
        self._at_once = np.maximum(self._at_once, acting.max(axis=0))
        self._acted[rows.agent] = True

    def seats(self) -> list[int]:
        """Return the seats whose agents act in turns."""
        several = np.bincount(self._seat_of[self._acted], minlength=len(self._at_once)) > 1
        return np.flatnonzero(several & (self._at_once == 1)).tolist()


def from_transcripts(spec: EnvSpec, episodes: Sequence[Transcript]) -> PlayedEpisodes:
    """Return the episodes of some transcripts, of which there may be none."""
    shape = (len(episodes), len(spec.agents))
    returns = [[episode.returns.get(agent, 0.0) for agent in spec.agents] for episode in episodes]
    present = [[agent not in episode.absent for agent in spec.agents] for episode in episodes]
    return PlayedEpisodes(
        returns=np.array(returns, np.float64).reshape(shape),
        present=np.array(present, np.bool_).reshape(shape),
        ranks=[episode.ranks for episode in episodes],
        late=frozenset(agent for episode in episodes for agent in episode.late),
    )
