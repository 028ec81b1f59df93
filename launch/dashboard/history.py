"""What happened in a run, from its first event on: the points of curves, births and resets, and who met whom when.

    history = History(run)
    history.look()
    history.series(["elo/main"], since=0)       # columns of numbers
    history.tree(), history.opponents("main")

It is a watcher as trackers have one, in a thread of its own: a page that needs only the newest state waits for none of
it, and what is read already can be seen meanwhile.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from launch.config.track import TrackConfig
from launch.dashboard.follower import Follower
from launch.viewers.alarms import RatingPoint
from launch.viewers.curves import CurveRow, Curves
from launch.viewers.view import View
from league.events import CandidateWritten, Event, PlayerFrozen, PlayerReset, ResultCounted, TicketVoided
from league.ids import PlayerId
from league.metrics import ELO, MARGIN
from league.state import LeagueState
from league.store.ledger import Measured
from league.store.run_directory import RunDirectory
from league.ticket import Purpose, Ticket

DENSE = 64  # points of a rating curve before they come half as often
POINTS = 1000  # of a series in one answer, at most
BUCKETS = 64  # of the time over which opponents are counted, at most: then two become one
REASONS = 20  # void tickets whose reasons are kept, the newest


@dataclass(slots=True)
class Series:
    """The points of one curve, as columns."""

    rows: list[int] = field(default_factory=list)  # the number of the row that each point is of
    matches: list[int] = field(default_factory=list)
    env_steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def json(self, since: int, upto: int) -> dict[str, list[Any]]:
        """Return the points of the rows from `since` up to `upto`; of many, some at even distances and the newest.

        Rows from `upto` on may just be written by another thread.
        """
        first, end = bisect_left(self.rows, since), bisect_left(self.rows, upto)
        stride = max(1, (end - first + POINTS - 1) // POINTS)
        picked = range(end - 1, first - 1, -stride)[::-1]
        columns: dict[str, Sequence[float]] = {
            "matches": self.matches,
            "env_steps": self.env_steps,
            "values": self.values,
        }
        return {name: [column[i] for i in picked] for name, column in columns.items()}


class OpponentCounts:
    """How often a learning player was matched with each other one, over time: as many buckets as are worth showing."""

    def __init__(self) -> None:
        self._width = 1  # matches in a bucket
        self._counts: dict[PlayerId, dict[int, Counter[PlayerId]]] = defaultdict(lambda: defaultdict(Counter))
        self._last = 0

    def add(self, ticket: Ticket, match: int) -> None:
        """Count the episodes of a training ticket for each player that it trains."""
        self._last = match
        while match // self._width >= BUCKETS:
            self._halve()
        for trained in ticket.trains:
            met = Counter(entry.player for entry in ticket.entries)
            met[trained] -= 1
            bucket = self._counts[trained][match // self._width]
            for player, count in met.items():
                if count:
                    bucket[player] += ticket.episodes

    def _halve(self) -> None:
        self._width *= 2
        for player, buckets in self._counts.items():
            merged: dict[int, Counter[PlayerId]] = defaultdict(Counter)
            for place, counter in buckets.items():
                merged[place // 2].update(counter)
            self._counts[player] = merged

    def json(self, player: PlayerId) -> dict[str, Any]:
        """Return width: matches in a bucket; buckets: first match, and episodes with each opponent."""
        buckets = sorted(self._counts.get(player, {}).items())
        return {
            "width": self._width,
            "buckets": [{"match": place * self._width, "episodes": dict(counter)} for place, counter in buckets],
        }


class Chronicle:
    """A watcher that keeps what pages show of the past."""

    def __init__(self, track: TrackConfig) -> None:
        self.series: dict[str, Series] = {}
        self.next = 0  # the number of the next row
        self.births: dict[str, dict[str, Any]] = {}
        self.resets: list[dict[str, Any]] = []
        self.voids: list[dict[str, Any]] = []
        self.opponents = OpponentCounts()
        self._curves = Curves(track, self._keep, dense=DENSE)

    def before(self, seq: int, event: Event, state: LeagueState) -> None:
        """Note what an event closes while it is open."""
        self._curves.before(seq, event, state)
        match = sum(state.results.values())
        if isinstance(event, ResultCounted):
            ticket = state.open[event.ticket]
            if ticket.purpose == Purpose.TRAIN:
                self.opponents.add(ticket, match)
        elif isinstance(event, TicketVoided):
            players = [entry.player for entry in state.open[event.ticket].entries]
            self.voids = [*self.voids, {"ticket": event.ticket, "players": players, "why": event.why}][-REASONS:]

    def event(self, seq: int, event: Event, state: LeagueState) -> None:
        """Note births and resets."""
        self._curves.event(seq, event, state)
        at = {"match": sum(state.results.values()), "env_steps": state.env_steps}
        if isinstance(event, PlayerFrozen):
            self.births[event.player.id] = {**at, "why": event.why, "decisions": event.decisions}
        elif isinstance(event, PlayerReset):
            self.resets.append({**at, "player": event.player, "incarnation": event.incarnation, "start": event.start})
        elif isinstance(event, CandidateWritten) and event.player not in self.births:
            self.births[event.player] = {**at, "why": "", "decisions": 0}

    def metrics(self, row: Measured, state: LeagueState) -> None:
        """Pass a row of metrics on."""
        self._curves.metrics(row, state)

    def _keep(self, row: CurveRow) -> None:
        for name, value in row.values.items():
            one = self.series.get(name)
            if one is None:
                one = self.series[name] = Series()
            one.rows.append(row.number)
            one.matches.append(row.matches)
            one.env_steps.append(row.env_steps)
            one.values.append(value)
        self.next = row.number + 1


class History:
    """The chronicle of a run, kept up to date while somebody looks."""

    def __init__(self, run: RunDirectory, ready: Callable[[], bool] = lambda: True) -> None:
        self.chronicle = Chronicle(TrackConfig(every=10, payoff_every=1 << 40))
        self._follower = Follower(run, self._take, self.chronicle, ready)
        self.complete = False  # whether all events were read once

    def _take(self, view: View) -> None:
        self.complete = True

    def look(self) -> None:
        """Note that somebody looks at the past of this run."""
        self._follower.look()

    def close(self) -> None:
        """Stop to read."""
        self._follower.close()

    def names(self) -> dict[str, Any]:
        """Return the names of all curves; next: the row after the newest; reading: events read, and of how many."""
        read, head = self._follower.reading
        return {
            "names": sorted(self.chronicle.series),
            "next": self.chronicle.next,
            "complete": self.complete,
            "reading": [read, head],
            "problem": self._follower.problem,
        }

    def curves(self, names: list[str], since: int = 0) -> dict[str, Any]:
        """Return the points of some curves after a row, and the row to ask from next time."""
        upto = self.chronicle.next
        found = {name: one.json(since, upto) for name in names if (one := self.chronicle.series.get(name)) is not None}
        return {"next": upto, "complete": self.complete, "reading": self._follower.reading, "series": found}

    def courses(self, names: Sequence[str]) -> dict[str, tuple[list[int], list[float]]]:
        """Return some curves over env steps."""
        series = self.chronicle.series
        found = {name: one for name in names if (one := series.get(name)) is not None}
        counts = {name: len(one.values) for name, one in found.items()}  # what is appended last is whole
        return {name: (one.env_steps[: counts[name]], one.values[: counts[name]]) for name, one in found.items()}

    def trails(self, players: Sequence[str]) -> dict[str, list[RatingPoint]]:
        """Return how the ratings of some players went, as far as it is known."""
        series, found = self.chronicle.series, {}
        for player in players:
            scale = ELO if f"{ELO}{player}" in series else MARGIN
            columns = [series.get(f"{scale}{player}{end}") for end in ("", "_low", "_high")]
            mid = columns[0]
            if mid is not None and all(one is not None and len(one.values) == len(mid.values) for one in columns):
                rows = zip(mid.env_steps, *(one.values for one in columns if one is not None), strict=False)
                found[player] = [RatingPoint(*row) for row in rows]
        return found

    def tree(self, state: LeagueState) -> dict[str, Any]:
        """Return who was frozen from whom and when, which exploiter broke whom, and who was reset."""
        births = self.chronicle.births
        players = [
            {
                "player": player.id,
                "kind": player.kind,
                "status": player.status.value,
                "parent": player.parent,
                "match": births.get(player.id, {}).get("match"),
                "why": births.get(player.id, {}).get("why", ""),
                "broke": state.exploits.get(player.id, {}),
            }
            for player in state.population
        ]
        return {"players": players, "resets": list(self.chronicle.resets), "complete": self.complete}
