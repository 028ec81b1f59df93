"""Outcomes: who did best in an episode, told by ranks of seats. Seats of a side share a rank.

The environment's own winner counts if it names one; else a function of the user's (`env.outcome`), if there is one;
else the order of returns. Rewards that are shaped for training never come here: returns are the environment's own.

    env = Referee(env, judge=resolve(...), margin=0.5)      # an environment whose END rows tell the ranks, too
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, Environment, IntArray, Rows, SlotFault
from league.errors import InputError
from league.spec import EnvSpec

Floats = npt.NDArray[np.float64]
WINNER = "winner"  # the key of an info under which a PettingZoo environment may name who won


@dataclass(frozen=True, slots=True)
class Finished:
    """An episode that is over, as the user's function sees it."""

    returns: dict[str, float]  # of each agent
    infos: Mapping[str, Mapping[str, Any]]  # the last info of each agent, where the environment gives one
    length: int  # moves


Judge = Callable[[Finished], Mapping[str, float]]
"""From a finished episode to a score for each agent, the more the better. A side has the mean of its agents."""


class Unread(Mapping[str, Any]):
    """Infos of an episode that nobody played: empty ones, which know whether somebody looked at them."""

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


class OutcomeError(InputError):
    """A winner or a score that means nothing; the message says what was expected."""


def rank_sides(
    totals: Floats, agents: Sequence[int] | Floats, sides: Sequence[int], margin: float = 0.0
) -> npt.NDArray[np.int64]:
    """Return the rank of each seat, 0 for the best: its side's, by the mean of all agents of the side.

    `totals[n, seats]` are sums over the agents of a seat, `agents` how many there are. A side is better than
    another if it is ahead by more than the margin.

    >>> rank_sides(np.array([[1.0, 0.0, 2.0, 2.0]]), [1, 1, 1, 1], [0, 0, 1, 1]).tolist()
    [[1, 1, 0, 0]]
    >>> rank_sides(np.array([[3.0, 2.0]]), [3, 1], [0, 1]).tolist()
    [[1, 0]]
    """
    member = np.equal.outer(list(dict.fromkeys(sides)), list(sides)).astype(np.float64)  # [side, seat]
    means = (totals @ member.T) / (member @ np.asarray(agents, np.float64))
    return rank_alone(means, margin) @ member.astype(np.int64)


def rank_alone(values: Floats, margin: float = 0.0) -> npt.NDArray[np.int64]:
    """Return the rank of each seat where each has one agent and is on its own.

    >>> rank_alone(np.array([[0.0, 1.0, 0.0]])).tolist(), rank_alone(np.array([[0.0, 1.0]]), margin=1.0).tolist()
    ([[1, 0, 1]], [[0, 0]])
    """
    mine, others = values[..., :, None], values[..., None, :]
    better: npt.NDArray[np.int64] = (others - mine > margin if margin else others > mine).sum(axis=-1)
    return better


class Referee:
    """An environment that tells who did best: `Ends.ranks` has a rank for each seat of each slot that is over.

    Without a winner, a user's function and a margin there are no ranks: who gets them goes by returns.
    """

    def __init__(self, env: Environment, judge: Judge | None = None, margin: float = 0.0, name: str = "") -> None:
        self.spec: EnvSpec = env.spec
        self.slots = env.slots
        self._env, self._judge, self._margin, self._name = env, judge, margin, name
        self._rows: Rows | None = None
        self._infos: Callable[[int], dict[str, Mapping[str, Any]]] | None = getattr(env, "infos", None)
        self._listens = judge is not None or self._infos is not None  # else nobody can name a winner
        self._returns = np.zeros((env.slots, len(env.spec.agents)))
        self._length = np.zeros(env.slots, np.int64)
        self._seated = np.zeros((len(env.spec.agents), len(env.spec.seats)))  # [agent, seat]
        for number, seat in enumerate(env.spec.seats):
            self._seated[list(seat.agents), number] = 1.0

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these slots."""
        self._returns[slots] = 0.0
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
        if np.count_nonzero(rows.reward):  # an agent has one row at most
            self._returns[rows.slot, rows.agent] += rows.reward
        if self._judge is not None:
            self._length[np.unique(rows.slot)] += 1
        ends = self._env.step(actions)
        if len(ends.slot):
            self._returns[ends.slot, ends.agent] += ends.reward
        for idle in ends.idle:
            self._returns[idle.slot, idle.agent] += idle.reward
        return self._judged(ends) if len(ends.over) else ends

    def _judged(self, ends: Ends) -> Ends:
        """Add ranks to END rows, unless returns alone decide; an outcome that means nothing is a fault of its slot."""
        if ends.ranks is not None:
            return ends
        named: dict[int, npt.NDArray[np.int64]] = {}
        faults = []
        for i, slot in enumerate(ends.over.tolist() if self._listens else ()):
            try:
                if (ranks := self._rank(slot)) is not None:
                    named[i] = ranks
            except OutcomeError as error:
                faults.append(SlotFault(slot, f"{self.spec.name}: {error}"))
        if named or self._margin:
            earned = self._returns[ends.over] @ self._seated
            ranked = rank_sides(earned, self._seated.sum(axis=0), self.spec.sides, self._margin)
            for i, ranks in named.items():
                ranked[i] = ranks
            ends = replace(ends, ranks=ranked)
        return _without(ends, faults) if faults else ends

    def _rank(self, slot: int) -> npt.NDArray[np.int64] | None:
        """Return the ranks by the winner that the environment names, or by the user's function; None without both."""
        agents = self.spec.agents
        infos = {} if self._infos is None else self._infos(slot)
        scores = winner_scores(agents, infos)
        if scores is None:
            if self._judge is None:
                return None
            returns = dict(zip(agents, self._returns[slot].tolist(), strict=True))
            scores = self._judgement(Finished(returns, infos, int(self._length[slot])))
        totals, counts = self._seats(scores)
        ranks: npt.NDArray[np.int64] = rank_sides(totals[None], counts, self.spec.sides, self._margin)[0]
        return ranks

    def rehearse(self) -> bool:
        """Ask the user's function about an episode that nobody played; raise OutcomeError if it answers rubbish.

        Return False if that says nothing: it looked at infos, or raised, and may do well with an episode that is real.
        """
        if self._judge is None:
            return True
        infos = Unread(self.spec.agents)
        returns = {agent: float(number) for number, agent in enumerate(self.spec.agents, start=1)}
        try:
            scores = self._judge(Finished(returns, infos, 1))
        except Exception:
            return False
        if infos.read:
            return False
        checked(scores, self.spec, self._name)
        return True

    def _judgement(self, finished: Finished) -> dict[str, float]:
        assert self._judge is not None
        try:
            scores = self._judge(finished)
        except Exception as error:  # whatever the user's function raises is the user's to mend
            raise OutcomeError(f"env.outcome={self._name} raised {type(error).__name__}: {error}") from error
        return checked(scores, self.spec, self._name)

    def _seats(self, scores: Mapping[str, float]) -> tuple[Floats, list[int]]:
        """Return the sum of the scores of each seat, and how many agents it is of."""
        names = [[self.spec.agents[agent] for agent in seat.agents] for seat in self.spec.seats]
        known = [[scores[name] for name in seat if name in scores] for seat in names]
        return np.array([sum(seat) for seat in known]), [len(seat) for seat in known]

    def render(self, slot: int) -> str:
        """Return the position as the environment shows it."""
        return self._env.render(slot)

    @property
    def render_modes(self) -> tuple[str, ...]:
        """How the environment says it can be rendered."""
        modes: tuple[str, ...] = getattr(self._env, "render_modes", ())
        return modes

    def picture(self, slot: int) -> npt.NDArray[Any] | None:
        """Return the environment's own picture; None if it does not draw any."""
        draw = getattr(self._env, "picture", None)
        return None if draw is None else draw(slot)

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def _without(ends: Ends, faults: Sequence[SlotFault]) -> Ends:
    """Return END rows without those of slots whose outcome means nothing."""
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
        state=None if ends.state is None else ends.state[kept],
        ranks=None if ends.ranks is None else ends.ranks[counted],
    )


def checked(scores: object, spec: EnvSpec, name: str) -> dict[str, float]:
    """Return what the user's function said, or refuse it: a finite number for each agent, at least one of a side."""
    example = {agent: 1.0 if i == 0 else 0.0 for i, agent in enumerate(spec.agents[:2])}
    wanted = f"expected a number for each agent, like {example}"
    if not isinstance(scores, Mapping):
        raise OutcomeError(f"env.outcome={name} returned {_short(scores)}; {wanted}")
    for agent, score in scores.items():
        if agent not in spec.agents:
            raise OutcomeError(f"env.outcome={name} returned a score for {agent!r}; the agents are {list(spec.agents)}")
        if not isinstance(score, int | float | np.number) or not math.isfinite(score):
            raise OutcomeError(f"env.outcome={name} returned {_short(score)} for {agent!r}; {wanted}")
    for side in set(spec.sides):
        team = [
            spec.agents[a] for s, seat in zip(spec.sides, spec.seats, strict=True) if s == side for a in seat.agents
        ]
        if not any(agent in scores for agent in team):
            raise OutcomeError(f"env.outcome={name} returned no score for any of {team}; {wanted}")
    return {agent: float(score) for agent, score in scores.items()}


def winner_scores(agents: tuple[str, ...], infos: Mapping[str, Mapping[str, Any]]) -> dict[str, float] | None:
    """Return 1 for the winners and 0 for the others if an info names them under `winner`, else None.

    A winner is True or False in an agent's own info, or, in any info, a name, a list of names, or a dict with True
    or False for names; None is a draw.

    >>> winner_scores(("a", "b"), {"a": {"winner": "b"}}), winner_scores(("a", "b"), {"a": {}})
    ({'a': 0.0, 'b': 1.0}, None)
    """
    for agent, info in infos.items():
        if not isinstance(info, Mapping):
            raise OutcomeError(
                f"the last info of agent {agent!r} is {_short(info)}; give a dict, {{}} if it has no news"
            )
    told = {agent: info[WINNER] for agent, info in infos.items() if WINNER in info}
    if not told:
        return None
    won = {name for agent, who in told.items() for name in _winners(agent, who)}
    if unknown := won - set(agents):
        raise OutcomeError(f"its info names the winner {sorted(unknown)}; the agents are {list(agents)}")
    return {agent: float(agent in won) for agent in agents}


def _winners(agent: str, who: object) -> list[str]:
    """Return the winners that the info of an agent names.

    >>> _winners("a", True), _winners("a", ["a", "b"]), _winners("a", {"a": False, "b": True}), _winners("a", None)
    (['a'], ['a', 'b'], ['b'], [])
    """
    if isinstance(who, Mapping) and all(isinstance(won, bool | np.bool_) for won in who.values()):
        return _winners(agent, [name for name, won in who.items() if won])
    if isinstance(who, bool | np.bool_):
        return [agent] if who else []
    if who is None:
        return []
    given = list(who) if isinstance(who, list | tuple | set | frozenset) else [who]
    names = [name for name in given if isinstance(name, str)]
    if len(names) < len(given):
        raise OutcomeError(
            f"the info of agent {agent!r} names the winner {_short(who)}; give the name of an agent, a list of names, "
            "a dict with True or False for names, True or False for the agent itself, or None for a draw"
        )
    return names


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def team_spirit(
    reward: npt.NDArray[np.float32], team: npt.NDArray[np.intp], spirit: npt.NDArray[np.float32] | float
) -> npt.NDArray[np.float32]:
    """Return rewards for training: each row's own share, and the mean of all rows of its team in this tick.

    `team` numbers the team of each row. With a spirit of 0 everybody is selfish, with 1 all of a team get the same.

    >>> team_spirit(np.array([1.0, 0.0, 5.0], np.float32), np.array([0, 0, 1]), 0.5).tolist()
    [0.75, 0.25, 5.0]
    """
    if not len(reward):
        return reward
    mean = np.bincount(team, reward) / np.maximum(np.bincount(team), 1)
    mixed: npt.NDArray[np.float32] = ((1 - spirit) * reward + spirit * mean[team]).astype(np.float32)
    return mixed
