"""Outcomes: who did best in an episode, as ranks of seats. Seats of a side share a rank.

Only agents that took part count: a side has the mean of those, and one of which nobody took part is `ABSENT`.

The winner that the environment names counts; else the user's function (`env.outcome`), if there is one; else the order
of returns. Returns are the environment's own rewards, never those shaped for training.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from league.errors import InputError
from league.limits import ABSENT
from league.spec import EnvSpec

Floats = npt.NDArray[np.float64]
WINNER = "winner"  # the key of an info under which an environment may name the winner


class OutcomeError(InputError):
    """An invalid winner or score; the message says what was expected."""


def rank_sides(
    totals: Floats, agents: Sequence[int] | Floats, sides: Sequence[int], margin: float = 0.0
) -> npt.NDArray[np.int64]:
    """Return the rank of each seat, 0 for the best: its side's, by the mean of all agents of the side.

    `totals[n, seats]` are sums over the agents of a seat, `agents` how many there are, in all episodes or, as
    `[n, seats]`, in each of them. A side is better than another if it is ahead by more than the margin; a side
    without agents is absent.

    >>> rank_sides(np.array([[1.0, 0.0, 2.0, 2.0]]), [1, 1, 1, 1], [0, 0, 1, 1]).tolist()
    [[1, 1, 0, 0]]
    >>> rank_sides(np.array([[3.0, 2.0]]), [3, 1], [0, 1]).tolist()
    [[1, 0]]
    >>> rank_sides(np.array([[-3.0, 0.0, -1.0]]), np.array([[1, 0, 1]]), [0, 1, 2]).tolist()
    [[1, -1, 0]]
    """
    member = np.equal.outer(list(dict.fromkeys(sides)), list(sides)).astype(np.float64)  # [side, seat]
    counts = np.asarray(agents, np.float64) @ member.T
    absent = counts == 0
    means = np.where(absent, -np.inf, (totals @ member.T) / np.where(absent, 1.0, counts))
    return np.where(absent, ABSENT, rank_alone(means, margin)) @ member.astype(np.int64)


def rank_agents(
    totals: Floats, present: npt.NDArray[np.bool_], seated: Floats, sides: Sequence[int], margin: float = 0.0
) -> npt.NDArray[np.int64]:
    """Return the rank of each seat by the returns of agents, `totals[n, agents]`, of those that took part.

    `seated[agents, seats]` is 1 where an agent sits.
    """
    return rank_sides(np.where(present, totals, 0.0) @ seated, present @ seated, sides, margin)


def seated_agents(spec: EnvSpec) -> Floats:
    """Return [agents, seats]: 1 where an agent sits, else 0."""
    seated = np.zeros((len(spec.agents), len(spec.seats)))
    for number, seat in enumerate(spec.seats):
        seated[list(seat.agents), number] = 1.0
    return seated


def rank_alone(values: Floats, margin: float = 0.0) -> npt.NDArray[np.int64]:
    """Return the rank of each seat where each has one agent and is a side of its own.

    >>> rank_alone(np.array([[0.0, 1.0, 0.0]])).tolist(), rank_alone(np.array([[0.0, 1.0]]), margin=1.0).tolist()
    ([[1, 0, 1]], [[0, 0]])
    """
    mine, others = values[..., :, None], values[..., None, :]
    ahead = others > mine + margin if margin else others > mine  # not a difference: absent sides are at -inf
    better: npt.NDArray[np.int64] = ahead.sum(axis=-1)
    return better


def checked_scores(
    scores: object, spec: EnvSpec, name: str, present: Collection[str] | None = None
) -> dict[str, float]:
    """Return the scores of the user's function, or refuse them: finite numbers, for at least one agent of each side.

    Of agents that did not take part, none is needed and none counts; `present` names those that did (None: all).
    """
    playing = set(spec.agents if present is None else present)
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
        seats = [seat for s, seat in zip(spec.sides, spec.seats, strict=True) if s == side]
        team = [spec.agents[a] for seat in seats for a in seat.agents if spec.agents[a] in playing]
        if team and not any(agent in scores for agent in team):
            raise OutcomeError(f"env.outcome={name} returned no score for any of {team}; {wanted}")
    return {agent: float(score) for agent, score in scores.items() if agent in playing}


def winner_scores(agents: tuple[str, ...], infos: Mapping[str, Mapping[str, Any]]) -> dict[str, float] | None:
    """Return 1 for the winners and 0 for the others if an info names them under `winner`, else None.

    A winner is True or False in an agent's own info, or, in any info, a name, a list of names, or a dict with True
    or False for names; None is a draw.

    >>> winner_scores(("a", "b"), {"a": {"winner": "b"}}), winner_scores(("a", "b"), {"a": {}})
    ({'a': 0.0, 'b': 1.0}, None)
    """
    for agent, info in infos.items():
        if not isinstance(info, Mapping):
            raise OutcomeError(f"the last info of agent {agent!r} is {_short(info)}; give a dict, {{}} if it is empty")
    named = {agent: info[WINNER] for agent, info in infos.items() if WINNER in info}
    if not named:
        return None
    won = {name for agent, who in named.items() for name in _winners(agent, who)}
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
    try:
        text = repr(value)
    except Exception:  # of an object of foreign code
        return f"<{type(value).__name__} that cannot be shown>"
    return text if len(text) <= 80 else f"{text[:77]}..."


def team_spirit(
    reward: npt.NDArray[np.float32], team: npt.NDArray[np.intp], spirit: npt.NDArray[np.float32] | float
) -> npt.NDArray[np.float32]:
    """Return rewards for training: a mix of each row's own reward and the mean of its team in this tick.

    `team` numbers the team of each row. With a spirit of 0 everybody is selfish, with 1 all of a team get the same.

    >>> team_spirit(np.array([1.0, 0.0, 5.0], np.float32), np.array([0, 0, 1]), 0.5).tolist()
    [0.75, 0.25, 5.0]
    """
    if not len(reward):
        return reward
    mean = np.bincount(team, reward) / np.maximum(np.bincount(team), 1)
    mixed: npt.NDArray[np.float32] = ((1 - spirit) * reward + spirit * mean[team]).astype(np.float32)
    return mixed
