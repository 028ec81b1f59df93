"""`ludus duel`: many games between two players, here and now, and the score with its interval.

The league's own evaluation chooses pairs by what is still uncertain; a duel answers one question at once, e.g. whether
the newest prey gets away from predators that caught the first one.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from collectors.envs.names import BACKENDS
from launch.config.config import stored
from launch.matches.match import Match, describe_entry, set_up
from launch.matches.score import Score
from launch.matches.stopping import Stop, StopRule, pair_scores
from launch.terminal.console import Console
from launch.terminal.spinner import Spinner
from league.errors import InputError
from league.ids import derive_seed
from league.interval import quantile
from league.payoff import head_to_head
from league.spec import EnvSpec
from league.store.run_directory import RunDirectory
from league.ticket import Entry, Episode, mean_return, turns

CHANCE = 0.5  # the score of equals: a game has two sides
SLOTS, FOREIGN_SLOTS = 64, 8  # episodes that are played at once; those of other projects take more to set up


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
    half_width: tuple[float, float]  # and half the widths of their 95 % intervals
    stop: Stop | None = None  # why it ended, and the interval that holds there; None: by the number of games
    verdict: str = ""


def duel(
    run: RunDirectory,
    pair: tuple[str, str],
    games: int = 200,
    seed: int = 0,
    as_json: bool = False,
    allow: Collection[str] = (),
    rule: StopRule | None = None,
) -> int:
    """Let two players play many games, from all seats in turn, and print the score."""
    found = contest(run, *pair, games, seed, allow, rule)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(json.dumps(contest_json(found)) if as_json else "\n".join(contest_lines(found)))
    return 0


def contest(
    run: RunDirectory,
    a: str,
    b: str,
    episodes: int,
    seed: int,
    allow: Collection[str],
    rule: StopRule | None = None,
) -> Contest:
    """Let two players play, from all seats in turn; what `ludus duel` prints and `League.play` returns.

    All seatings of one start have the same seed: they are a pair. A rule may stop it between two pairs.
    """
    config = stored(run)
    slots = min(episodes, config.collector.slots, FOREIGN_SLOTS if config.env.name in BACKENDS else SLOTS)
    with set_up(run, a, b, seed=seed, allow=allow, slots=slots) as match:
        spec, entries = match.env.spec, match.ticket.entries
        if rule is not None and len(set(spec.sides)) == 1:
            raise InputError(f"nobody is beaten in {spec.name}, so no score can be sure: give the number of --games")
        outcomes, stop = _played(match, episodes, seed, rule)
        found = count(spec, entries, *match.pair, outcomes)
        if rule is None or stop is None:
            return found
        return replace(found, stop=stop, verdict=rule.verdict(stop, *(entry.player for entry in match.pair)))


def _played(match: Match, episodes: int, seed: int, rule: StopRule | None) -> tuple[list[Episode], Stop | None]:
    """Play batch by batch, until there are enough episodes or the rule stops it."""
    spec, outcomes, scores = match.env.spec, list[Episode](), np.zeros(0)
    own, size = own_entries(match.ticket.entries, *match.pair, spec.sides), turns(spec.roles, spec.sides)
    last, how_far = episodes if rule is None else -(-episodes // size) * size, ""
    with Spinner("duel") as progress:
        while len(outcomes) < last:
            progress.update(f"{len(outcomes)} of {last} games{how_far}")
            until = min(last, len(outcomes) + -(-match.env.slots // size) * size)
            fresh = match.play_all([derive_seed(seed, "play", e // size) for e in range(len(outcomes), until)])
            outcomes += fresh
            if rule is not None:
                scores = np.concatenate([scores, pair_scores(fresh, own, spec.sides, size)])
                how_far = f" at most, {rule.how_far(scores)}"
                if (stop := rule.stop(scores)) is not None:
                    return outcomes, stop
    return outcomes, None if rule is None else rule.report(scores)


def own_entries(entries: Sequence[Entry], first: Entry, second: Entry, sides: Sequence[int]) -> set[int]:
    """Return the entries of the first player; against itself, those of the side of its first seat."""
    own = {i for i, entry in enumerate(entries) if entry == first}
    return {i for i in own if sides[i] == sides[0]} if first == second else own


def count(spec: EnvSpec, entries: Sequence[Entry], first: Entry, second: Entry, outcomes: Sequence[Episode]) -> Contest:
    """Count episodes as the standings do: `league.payoff.head_to_head` defines a game."""
    sides = spec.sides
    own = own_entries(entries, first, second, sides)
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
        half_width=(means[0][1], means[1][1]),
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

    first, second, episodes; returns and half_width: means of both, and half the widths of their intervals. Unless
    nobody is beaten also wins, draws, losses, games, score, low, high, chance: each pair of sides is a game, chance is
    the score of equals; first_places and its first_places_chance: the share of episodes that the first player won. If a
    rule ended it: decision (1 for the higher score, -1 for the lower one, 0 for neither) and verdict.
    """
    plain: dict[str, object] = {"first": found.first.player, "second": found.second.player}
    plain |= {"episodes": found.episodes, "returns": found.returns, "half_width": found.half_width}
    score = found.score
    if score is None:
        return plain
    low, high = _interval(found, score)
    if found.stop is not None:
        plain |= {"decision": found.stop.decision, "verdict": found.verdict}
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


def _interval(found: Contest, score: Score) -> tuple[float, float]:
    """Return the interval that holds where the contest stopped."""
    return score.interval if found.stop is None else (found.stop.low, found.stop.high)


def contest_lines(found: Contest) -> list[str]:
    """Describe a contest."""
    both = [f"{mean:z.4g} ±{half:.2g}" for mean, half in zip(found.returns, found.half_width, strict=True)]
    lines = [describe_entry(found.first), describe_entry(found.second)]
    returns = f"returns {' and '.join(both)}, {found.episodes} episodes"
    score = found.score
    if score is None:
        return [*lines, returns]
    low, high = _interval(found, score)
    lines.append(
        f"{found.first.player} scores {score.score:.1%} ({low:.1%} to {high:.1%}, chance {CHANCE:.0%}): "
        f"{score.wins} won, {score.draws} drawn, {score.losses} lost; {returns}"
    )
    if found.sides > 2:
        lines.append(
            f"{found.second.player} has all {found.sides - 1} other sides, each of them is a game; "
            f"{found.first.player} is first in {found.firsts:.1%} of the episodes (chance {1 / found.sides:.1%})"
        )
    return [*lines, found.verdict] if found.verdict else lines
