"""`ludus duel`: many games between two players, here and now, and what came of them with its interval.

The league's own evaluation goes on drawing pairs by what it still wants to know; a duel answers one question at once,
e.g. whether the newest prey gets away from predators that caught the first one.
"""

import json
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt
from rich.console import Console

from collectors.envs.config import make_environment
from collectors.replay import outcome_of, play
from launch.api import Score
from launch.config import from_plain
from launch.playing import casting, describe, find_entry, seat
from launch.progress import Progress
from launch.view import open_view
from league.ids import derive_seed
from league.interval import quantile
from league.store.run_directory import RunDirectory
from league.ticket import Entry, Episode


@dataclass(frozen=True, slots=True)
class Tally(Score):
    """What came of a duel, as the first player sees it."""

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
    """Let two players play many games, from all seats in turn, and tell the score."""
    config, state = from_plain(run.read_config()), open_view(run).state
    first, second = find_entry(state, a), find_entry(state, b)
    with closing(make_environment(config.env, 1, allow)) as env:
        ticket = msgspec.structs.replace(seat(state, env.spec, first, second), episodes=games)
        choose = casting(config, run, env.spec, ticket, seed, allow)
        outcomes = []
        with Progress("duel") as progress:
            for episode in range(games):
                progress.tell(f"{episode} of {games} games")
                outcomes.append(outcome_of(play(env, ticket, episode, derive_seed(seed, "duel", episode), choose)))
        _tell(tally(ticket.entries, first, outcomes), first, second, env.spec.cooperative, as_json)
    return 0


def tally(entries: Collection[Entry], first: Entry, outcomes: Collection[Episode]) -> Tally:
    """Count the games of a duel. In a game of one seat, or with oneself, there is nobody to beat."""
    mine = np.array([entry == first for entry in entries])
    ranks = np.array([outcome.ranks for outcome in outcomes])
    returns = np.array([outcome.returns for outcome in outcomes])
    mean, reach = zip(*(_mean(returns[:, who]) for who in (mine, mine if mine.all() else ~mine)), strict=True)
    if mine.all():
        return Tally(0, len(outcomes), 0, mean, reach)
    ahead = ranks[:, ~mine].min(axis=1) - ranks[:, mine].min(axis=1)
    return Tally(
        wins=int((ahead > 0).sum()),
        draws=int((ahead == 0).sum()),
        losses=int((ahead < 0).sum()),
        returns=mean,
        reach=reach,
    )


def _mean(returns: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean over games of what some seats returned, and how far its interval reaches."""
    games = returns.mean(axis=1)
    deviation = games.std(ddof=1) if len(games) > 1 else 0.0
    return float(games.mean()), float(quantile(0.95) * deviation / len(games) ** 0.5)


def _tell(found: Tally, first: Entry, second: Entry, together: bool, as_json: bool) -> None:
    low, high = found.interval
    console = Console(highlight=False, markup=False, soft_wrap=True)
    if as_json:
        about = {"first": first.player, "second": second.player, "games": found.games}
        about |= {"returns": found.returns, "reach": found.reach}
        beaten = {"wins": found.wins, "draws": found.draws, "losses": found.losses, "score": found.score}
        console.print(json.dumps(about if together else about | beaten | {"low": low, "high": high}))
        return
    console.print(f"{describe(first)}\n{describe(second)}")
    both = [f"{mean:.4g} ±{reach:.2g}" for mean, reach in zip(found.returns, found.reach, strict=True)]
    told = f"returns {' and '.join(both)}, {found.games} games"
    if together:
        console.print(told)
        return
    console.print(
        f"{first.player} scores {100 * found.score:.1f} % ({100 * low:.1f} to {100 * high:.1f}): {found.wins} won, "
        f"{found.draws} drawn, {found.losses} lost; {told}"
    )
