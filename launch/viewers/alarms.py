"""Alarms: what in a league needs attention, what it means, and what to do. Pure: whoever shows them brings the facts.

    alarms = find_alarms(state, Signs(live=True, elapsed=600.0, collector_wait=0.5))
    for alarm in bell.new(alarms):                  # each rings once
        print(alarm.line)

The dashboard, the terminal and the trackers ask here, so that all of them say the same. "Surely" means that a bound
says so which holds at every look (`league.sequential`), shared among all opponents that are looked at.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from league.ids import PlayerId
from league.player import Player
from league.sequential import upper_bound
from league.state import OVER, LeagueState

ALPHA = 0.025  # how often all looks together may find that a player loses though it does not
WAITING = 1 / 3  # of its time: a process that waits for longer is not worth its core
WARM_SECONDS = 300.0  # of play before waits count: in a short league there is nothing to gain by another set-up
ROOM = 1 << 30  # bytes on the disk
SMALLEST_TRAIL = 16  # points of a rating before one can say that it stands still
STALLED = 0.1  # of the interval's width: a rating that rose by less in the last quarter stands still
LONGEST_TRAIL = 256  # points that are kept


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that needs attention; two of the same name are the same alarm with other numbers."""

    name: str
    what: str
    meaning: str
    advice: str

    @property
    def line(self) -> str:
        """The alarm in one line."""
        return f"alarm: {self.what}. {self.meaning} {self.advice}"


class RatingPoint(msgspec.Struct, frozen=True, array_like=True):
    """A rating with its interval, when the league had played so many env steps."""

    env_steps: int
    rating: float
    low: float
    high: float


class RatingTrail:
    """The course of one rating: as many points as are needed, at even distances."""

    def __init__(self) -> None:
        self.points: list[RatingPoint] = []

    def note(self, point: RatingPoint) -> None:
        """Keep the next point."""
        self.points.append(point)
        if len(self.points) > LONGEST_TRAIL:
            self.points = self.points[::2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What the state of a league does not say: how its processes and its machine are, and how ratings went."""

    live: bool = False
    elapsed: float = 0.0
    collector_wait: float | None = None
    learner_wait: float | None = None
    free: int | None = None  # bytes on the disk of the run
    trails: Mapping[str, Sequence[RatingPoint]] = field(default_factory=dict)


class Bell:
    """Rings once for each alarm."""

    def __init__(self) -> None:
        self._rung: set[str] = set()

    def new(self, alarms: Iterable[Alarm]) -> list[Alarm]:
        """Return the alarms that have not rung yet."""
        fresh = [alarm for alarm in alarms if alarm.name not in self._rung]
        self._rung.update(alarm.name for alarm in fresh)
        return fresh


def find_alarms(state: LeagueState, signs: Signs) -> list[Alarm]:
    """Return everything that needs attention now, the gravest first."""
    return [*_disk(signs), *_voids(state), *_lost_strength(state), *_stalls(state, signs), *_waits(state, signs)]


# --- strength ------------------------------------------------------------------------------------------------


def _lost_strength(state: LeagueState) -> Iterator[Alarm]:
    if state.env is not None and state.env.cooperative:
        return  # nobody is beaten
    for main in state.mains():
        yield from _past(state, main)
        yield from _exploited(state, main)


def _past(state: LeagueState, main: Player) -> Iterator[Alarm]:
    pasts = [player.id for player in state.population.frozen() if player.parent == main.id]
    if (found := _worst(state, main.id, pasts)) is None:
        return
    past, score, most = found
    yield Alarm(
        name=f"past/{main.id}",
        what=f"{main.id} surely loses to its own past: {score:.0%} against {past}, at most {most:.0%}",
        meaning="Training has unlearned something: an older snapshot is stronger than the newest candidate.",
        advice=f"Lower algo.lr, or let it meet its past more often (league=pfsp); {past} can be used instead of it.",
    )


def _exploited(state: LeagueState, main: Player) -> Iterator[Alarm]:
    exploiters = {player.id for player in state.population.learning()} - {player.id for player in state.mains()}
    frozen = [player.id for player in state.population.frozen() if player.parent in exploiters]
    if (found := _worst(state, main.id, [*exploiters, *frozen])) is None:
        return
    exploiter, score, most = found
    yield Alarm(
        name=f"exploited/{main.id}",
        what=f"{exploiter} surely beats {main.id}, which scores {score:.0%} against it, at most {most:.0%}",
        meaning="An exploiter has found a weakness. That is its purpose, as long as the main learns to answer it.",
        advice=f"See in Why or with ludus explain whether {main.id} meets {exploiter}; if it stays, train on.",
    )


def _worst(state: LeagueState, player: PlayerId, others: Sequence[PlayerId]) -> tuple[PlayerId, float, float] | None:
    """Return against whom a player surely loses most, its score, and what that is at most; None if against nobody."""
    if not others:
        return None
    evaluation = state.evaluation
    row, rows = evaluation.find(player), evaluation.find_all(others)
    wins, draws = evaluation.matrix["wins"], evaluation.matrix["draws"]
    counts = np.stack([wins[row, rows], draws[row, rows], wins[rows, row]], axis=-1)
    most = upper_bound(counts, ALPHA / len(others))
    worst = int(np.argmin(most))
    if most[worst] >= 0.5 or not counts[worst].sum():
        return None
    won, drawn, lost = counts[worst].tolist()
    return others[worst], (won + drawn / 2) / (won + drawn + lost), float(most[worst])


def _stalls(state: LeagueState, signs: Signs) -> Iterator[Alarm]:
    for main in state.mains():
        gained = stalled(signs.trails.get(main.id, ()))
        if gained is not None and state.phase != OVER:
            yield Alarm(
                name=f"stalled/{main.id}",
                what=f"the rating of {main.id} stands still: {gained:+.3g} in the last quarter of its env steps",
                meaning="It no longer gets better against this league, or the league has nobody left to learn from.",
                advice="Compare with other seeds; try a lower algo.lr, a larger network, or more exploiters.",
            )


def stalled(trail: Sequence[RatingPoint]) -> float | None:
    """Return by how much a rating rose from the third to the last quarter if it stands still, else None.

    >>> flat = [RatingPoint(step, 500.0, 480.0, 520.0) for step in range(40)]
    >>> stalled(flat), stalled([RatingPoint(p.env_steps, 10.0 * p.env_steps, 0.0, 40.0) for p in flat])
    (0.0, None)
    """
    if len(trail) < SMALLEST_TRAIL:
        return None
    end = trail[-1].env_steps
    third = [point for point in trail if end / 2 <= point.env_steps < 3 * end / 4]
    last = [point for point in trail if 3 * end / 4 <= point.env_steps]
    if not third or not last:
        return None
    before, after = (float(np.mean([point.rating for point in part])) for part in (third, last))
    width = float(np.mean([point.high - point.low for point in last]))
    return after - before if after - before < STALLED * width else None


# --- processes and the machine -------------------------------------------------------------------------------


def _waits(state: LeagueState, signs: Signs) -> Iterator[Alarm]:
    if not signs.live or signs.elapsed < WARM_SECONDS or state.phase == OVER or state.paused:
        return
    if signs.collector_wait is not None and signs.collector_wait > WAITING:
        yield Alarm(
            name="wait/collectors",
            what=f"collectors wait for {signs.collector_wait:.0%} of their time",
            meaning="Learners cannot keep up with what is played: cores that collectors have to themselves stand idle.",
            advice="Use fewer collectors (ludus scale), a GPU or more ranks for learners, or fewer epochs.",
        )
    if signs.learner_wait is not None and signs.learner_wait > WAITING:
        yield Alarm(
            name="wait/learners",
            what=f"learners wait for {signs.learner_wait:.0%} of their time",
            meaning="Too little is played for them: they could learn more in the same time.",
            advice="Add collectors (ludus scale) or cores, or raise collector.slots.",
        )


def _voids(state: LeagueState) -> Iterator[Alarm]:
    if not state.voids:
        return
    count = "a ticket is" if state.voids == 1 else f"{state.voids:,} tickets are"
    yield Alarm(
        name="void",
        what=f"{count} void",
        meaning="Each failed in all its attempts, so nobody wins it: an environment or a player breaks.",
        advice="The reasons are in Matches and in ludus matches; ludus check-env tries the environment.",
    )


def _disk(signs: Signs) -> Iterator[Alarm]:
    if signs.free is not None and signs.free < ROOM:
        yield Alarm(
            name="disk",
            what=f"only {signs.free / 1e9:.2g} GB are left on the disk of the run",
            meaning="A league that cannot write its ledger stops to hand out tickets until there is room.",
            advice="Make room there. league.archive compresses old events, and old runs may be moved.",
        )
