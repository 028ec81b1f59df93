"""What some episodes of random play show about who wins: each observation with its reason and what to set instead.

    rule, notes = look_at_outcomes(spec, played, config)        # "the highest return wins", [OutcomeNote(...), ...]

Nothing here decides anything. Returns do not show whether agents compete: so what looks as if ratings would mean
nothing is said before a league begins.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from collectors.envs.config import EnvConfig
from collectors.played_episodes import Floats, PlayedEpisodes
from league.spec import EnvSpec

ENOUGH = 8  # episodes from which on something that was so in all of them is said: by chance it is so once in 256 times
CLOSE = 0.9  # correlation of returns from which on two agents seem to play together
SAME = 1e-4


@dataclass(frozen=True, slots=True)
class OutcomeNote:
    """Something to know; `grave` if ratings may mean nothing."""

    text: str
    grave: bool = False


def look_at_outcomes(spec: EnvSpec, played: PlayedEpisodes, config: EnvConfig | None) -> tuple[str, list[OutcomeNote]]:
    """Return who wins an episode, by the settings and as far as these episodes show it, and what to know about that."""
    outcome, margin = (None, 0.0) if config is None else (config.outcome, config.draw_margin)
    if margin and not outcome:
        played = played.ranked_by_return()
    rule = outcome_rule(outcome, margin, named=not played.by_return and not outcome)
    return rule, outcome_notes(spec, played, rule)


def outcome_notes(spec: EnvSpec, played: PlayedEpisodes, rule: str) -> list[OutcomeNote]:
    """Return what to know about the outcomes of these episodes; `rule` says who wins."""
    notes = [*_taking_part(spec, played)]
    if spec.cooperative or not played.returns.any():
        return notes
    together = [] if not played.by_return else _all_together(spec, played) or _teams(spec, played)
    if together:
        return notes + together
    if played.by_return:
        notes += _always_ahead(spec, played)
    return notes + _general_sum(spec, played, rule)


def _taking_part(spec: EnvSpec, played: PlayedEpisodes) -> list[OutcomeNote]:
    notes = []
    for agent in sorted(played.late, key=spec.agents.index):
        notes.append(
            OutcomeNote(f"agent {agent!r} got rewards after its end; they count for its return and its last decision")
        )
    absent = (~played.present).sum(axis=0)
    for agent, episodes in zip(spec.agents, absent.tolist(), strict=True):
        if episodes:
            notes.append(
                OutcomeNote(
                    f"agent {agent!r} did not take part in {episodes} of {len(played)} episodes; it has no rank there"
                )
            )
    return notes


def _all_together(spec: EnvSpec, played: PlayedEpisodes) -> list[OutcomeNote]:
    """Note agents on different sides that always get the same, or whose returns rise and fall together."""
    sides = json.dumps(["all"] * len(spec.seats))
    remedy = f"If they play together: env.sides='{sides}' league=cooperative"
    there = np.where(played.present, played.returns, np.nan)
    if bool((np.nanmax(there, axis=1) - np.nanmin(there, axis=1) <= SAME).all()):
        what = f"all agents got the same return in each of {len(played)} episodes, so every game is a draw"
        return [OutcomeNote(f"{what}. Co-operative? {remedy}", grave=True)]
    close = _correlation(played)
    if len(played) >= ENOUGH and close.min() > CLOSE:
        what = f"the returns of all agents rise and fall together (correlation at least {close.min():.2f})"
        return [OutcomeNote(f"{what}. Co-operative? {remedy}", grave=True)]
    return []


def _correlation(played: PlayedEpisodes) -> Floats:
    """Return the correlation of the returns of each two agents; 0 with one that always gets the same, or was away."""
    off = played.returns - played.returns.mean(axis=0)
    scale = np.sqrt((off**2).sum(axis=0))
    scale[(scale < SAME) | ~played.present.all(axis=0)] = np.inf
    close: Floats = (off / scale).T @ (off / scale)
    np.fill_diagonal(close, 1.0)
    return close


def _teams(spec: EnvSpec, played: PlayedEpisodes) -> list[OutcomeNote]:
    """Note agents of different sides whose returns go together, and against the others."""
    if len(played) < ENOUGH or len(spec.agents) < 3:
        return []
    near = _correlation(played) > CLOSE
    teams = list(dict.fromkeys(tuple(np.flatnonzero(row).tolist()) for row in near))
    if sum(map(len, teams)) != len(spec.agents) or len(teams) == 1:  # no clear teams, or all together
        return []
    side_of = {agent: side for seat, side in zip(spec.seats, spec.sides, strict=True) for agent in seat.agents}
    split = [team for team in teams if len({side_of[agent] for agent in team}) > 1]
    if not split:
        return []
    names = " and ".join(spec.agents[agent] for agent in split[0])
    what = f"the returns of {names} go together (correlation above {CLOSE}), but they are on different sides"
    return [OutcomeNote(f"{what}. If they are a team: {_as_settings(spec, teams)}", grave=True)]


def _as_settings(spec: EnvSpec, teams: Sequence[tuple[int, ...]]) -> str:
    """Return the settings that make these teams sides."""
    team_of = {agent: number for number, team in enumerate(teams) for agent in team}
    names = [spec.agents[team[0]] for team in teams]
    whole = all(len({team_of[agent] for agent in seat.agents}) == 1 for seat in spec.seats)
    if whole:
        return f"env.sides='{json.dumps([names[team_of[seat.agents[0]]] for seat in spec.seats])}'"
    seats = [[spec.agents[agent] for agent in team] for team in teams]
    return f"env.seats='{json.dumps(seats)}'"


def _always_ahead(spec: EnvSpec, played: PlayedEpisodes) -> list[OutcomeNote]:
    """Note sides of different roles of which one returned more in every episode."""
    if len(played) < ENOUGH:
        return []
    means = side_means(spec, played)
    kinds = spec.side_kinds
    found: dict[tuple[str, str], None] = {}  # ordered, each once
    for i, j in combinations(range(len(kinds)), 2):
        gap = means[:, i] - means[:, j]
        if kinds[i] != kinds[j] and not np.isnan(gap).any() and ((gap > SAME).all() or (gap < -SAME).all()):
            found.setdefault((kinds[i], kinds[j]) if gap[0] > 0 else (kinds[j], kinds[i]), None)
    return [
        OutcomeNote(
            f"{ahead} returned more than {behind} in all of {len(played)} episodes: returns of these roles are not "
            "comparable. Players are compared within a role; or say who won: env.outcome=package.module:function",
            grave=True,
        )
        for ahead, behind in found
    ]


def side_means(spec: EnvSpec, played: PlayedEpisodes) -> Floats:
    """Return [episodes, sides] the mean return of the agents of a side that took part; nan if nobody did."""
    found = []
    for side in dict.fromkeys(spec.sides):
        seats = [seat for seat, where in zip(spec.seats, spec.sides, strict=True) if where == side]
        agents = [agent for seat in seats for agent in seat.agents]
        there = played.present[:, agents]
        count = there.sum(axis=1)
        total = np.where(there, played.returns[:, agents], 0.0).sum(axis=1)
        found.append(np.where(count > 0, total / np.maximum(count, 1), np.nan))
    return np.stack(found, axis=1)


def constant_sum(played: PlayedEpisodes) -> bool:
    """Return whether returns add up to the same in all episodes: what one gains, others lose."""
    sums = played.returns.sum(axis=1)
    return not len(sums) or float(np.ptp(sums)) <= SAME * max(1.0, float(np.abs(played.returns).max()))


def _general_sum(spec: EnvSpec, played: PlayedEpisodes, rule: str) -> list[OutcomeNote]:
    """Note that what one side gains, no other one loses."""
    if constant_sum(played):
        return []
    return [OutcomeNote(f"not zero-sum: {rule}; returns are shown beside the ratings (another rule: env.outcome)")]


def outcome_rule(outcome: str | None, margin: float, named: bool) -> str:
    """Say who wins an episode.

    >>> outcome_rule(None, 0.5, named=False), outcome_rule("mine:judge", 0.0, named=False)
    ('the highest return wins, by more than 0.5', 'the highest score of mine:judge wins')
    """
    ahead = f", by more than {margin:g}" if margin else ""
    rule = f"the highest score of {outcome}" if outcome else "the highest return"
    return f"the winner that its infos name wins, else {rule}{ahead}" if named else f"{rule} wins{ahead}"
