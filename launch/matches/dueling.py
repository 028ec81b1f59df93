"""`ludus duel`: many games between two players, here and now, and the score with its interval.

The league's own evaluation chooses pairs by what is still uncertain; a duel answers one question at once, e.g. whether
the newest prey gets away from predators that caught the first one.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from collectors.episode import outcome_of
from launch.matches.match import describe_entry, set_up
from launch.matches.score import Score
from launch.terminal.console import Console
from launch.terminal.spinner import Spinner
from league.ids import derive_seed
from league.interval import quantile
from league.payoff import head_to_head
from league.spec import EnvSpec
from league.store.run_directory import RunDirectory
from league.ticket import Entry, Episode, mean_return

CHANCE = 0.5  # the score of equals: a game has two sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The outcome of many episodes between two players, counted for the first of them."""

    env: str
    first: Entry
    second: Entry
    episodes: int
    sides: int
    score: Score | None  # None: all seats are on one side, nobody is beaten
    firsts: float  # the share of episodes that the first player won; a shared first place is shared
    returns: tuple[float, float]  # means of the first player's and of the second player's,
    reach: tuple[float, float]  # and how far their 95 % intervals reach to each side


def duel(
    run: RunDirectory,
    a: str,
    b: str,
    games: int = 200,
    seed: int = 0,
    as_json: bool = False,
    allow: Collection[str] = (),
) -> int:
    """Let two players play many games, from all seats in turn, and print the score."""
    found = contest(run, a, b, games, seed, allow)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(json.dumps(contest_json(found)) if as_json else "\n".join(contest_lines(found)))
    return 0


def contest(run: RunDirectory, a: str, b: str, episodes: int, seed: int, allow: Collection[str]) -> Contest:
    """Let two players play, from all seats in turn; what `ludus duel` prints and `League.play` returns."""
    with set_up(run, a, b, seed=seed, episodes=episodes, allow=allow) as match:
        outcomes = []
        with Spinner("duel") as progress:
            for episode in range(episodes):
                progress.update(f"{episode} of {episodes} games")
                outcomes.append(outcome_of(match.play(episode, derive_seed(seed, "play", episode))))
        return count(match.env.spec, match.ticket.entries, *match.pair, outcomes)


def count(spec: EnvSpec, entries: Sequence[Entry], first: Entry, second: Entry, outcomes: Sequence[Episode]) -> Contest:
    """Count episodes as the standings do: `league.payoff.head_to_head` defines a game."""
    sides = spec.sides
    own = {i for i, entry in enumerate(entries) if entry == first}
    if first == second:  # the side of its first seat against its other sides
        own = {i for i in own if sides[i] == sides[0]}
    rest = [i for i in range(len(entries)) if i not in own]
    means = [_mean([mean_return(outcome, who) for outcome in outcomes]) for who in (sorted(own), rest or sorted(own))]
    wins, draws, losses = head_to_head(own, sides, (outcome.ranks for outcome in outcomes))
    beaten = len(set(sides)) > 1
    return Contest(
        env=spec.name,
        first=first,
        second=second,
        episodes=len(outcomes),
        sides=len(set(sides)),
        score=Score(wins, draws, losses, len(outcomes)) if beaten else None,
        firsts=sum(_first(outcome.ranks, sides, own) for outcome in outcomes) / len(outcomes),
        returns=(means[0][0], means[1][0]),
        reach=(means[0][1], means[1][1]),
    )


def _first(ranks: Sequence[int], sides: Sequence[int], mine: Collection[int]) -> float:
    """Return a player's share of the first place in one episode: a half if two sides share it.

    >>> _first((0, 1, 2), (0, 1, 2), {0}), _first((0, 0, 1), (0, 1, 2), {0}), _first((1, 1, 0), (0, 1, 2), {0})
    (1.0, 0.5, 0.0)
    """
    best = {sides[i] for i, rank in enumerate(ranks) if rank == 0}
    return len(best & {sides[i] for i in mine}) / len(best)


def _mean(returns: Sequence[float]) -> tuple[float, float]:
    """Return the mean of the returns of some games, and how far its interval reaches."""
    games = np.array(returns)
    deviation = games.std(ddof=1) if len(games) > 1 else 0.0
    return float(games.mean()), float(quantile(0.95) * deviation / len(games) ** 0.5)


def contest_json(found: Contest) -> dict[str, object]:
    """Return a contest as JSON.

    first, second, episodes; returns and reach: means of both, and how far their intervals reach. Unless nobody is
    beaten also wins, draws, losses, games, score, low, high, chance: each pair of sides is a game, chance is the score
    of equals; first_places and its first_places_chance: the share of episodes that the first player won.
    """
    plain: dict[str, object] = {"first": found.first.player, "second": found.second.player}
    plain |= {"episodes": found.episodes, "returns": found.returns, "reach": found.reach}
    score = found.score
    if score is None:
        return plain
    low, high = score.interval
    return plain | {
        "wins": score.wins,
        "draws": score.draws,
        "losses": score.losses,
        "games": score.games,
        "score": score.score,
        "low": low,
        "high": high,
        "chance": CHANCE,
        "first_places": found.firsts,
        "first_places_chance": 1 / found.sides,
    }


def contest_lines(found: Contest) -> list[str]:
    """Describe a contest."""
    both = [f"{mean:z.4g} ±{reach:.2g}" for mean, reach in zip(found.returns, found.reach, strict=True)]
    lines = [describe_entry(found.first), describe_entry(found.second)]
    returns = f"returns {' and '.join(both)}, {found.episodes} episodes"
    score = found.score
    if score is None:
        return [*lines, returns]
    low, high = score.interval
    lines.append(
        f"{found.first.player} scores {score.score:.1%} ({low:.1%} to {high:.1%}, chance {CHANCE:.0%}): "
        f"{score.wins} won, {score.draws} drawn, {score.losses} lost; {returns}"
    )
    if found.sides > 2:
        lines.append(
            f"{found.second.player} has all {found.sides - 1} other sides, each of them is a game; "
            f"{found.first.player} is first in {found.firsts:.1%} of the episodes (chance {1 / found.sides:.1%})"
        )
    return lines
