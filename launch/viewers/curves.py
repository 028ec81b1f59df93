"""From events and metrics to the points of curves. Whoever reads the ledger again gets the same points.

    curves = Curves(config.track, rows.append)
    read_offline(run, watcher=curves)
    for row in rows:
        for axis, step, name, value in row.points(): ...

Points come in rows that are numbered without a gap, so whoever knows how many rows it has knows what is missing.
Nothing here depends on when or how often it was asked: which matches have a point follows from their number.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from launch.config.track import TrackConfig
from launch.viewers.episodes import Episodes
from launch.viewers.payoff_matrix import relevant
from launch.viewers.probe_reports import ProbeReport
from launch.viewers.tables import all_standings, appraisal_of, candidate_scores
from launch.viewers.variant_view import VariantFolds
from league.appraisal import Appraisal
from league.events import Event, PhaseBegan, PlayerFrozen, ResultCounted
from league.ids import Hash, PlayerId
from league.metrics import (
    CYCLE_STRENGTH,
    ELO,
    MARGIN,
    MISFIT,
    NASH_ENTROPY,
    OVER_MEDIAN,
    PROBE_SCORE,
    RETURN_CURVE,
    SPEED,
    VARIANT,
    curve_name,
)
from league.standings import PayoffTable, Standing, payoff_table
from league.state import OVER, LeagueState
from league.store.ledger import Measured
from league.ticket import Purpose, Ticket

MATCHES, ENV_STEPS = "league/matches", "league/env_steps"
DENSE = 256  # points of a rating curve before they come half as often, and again whenever the league has doubled
SHOWN = 24  # players in a payoff table at most
FILMS = 32  # videos before they come half as often

Point = tuple[str, int, str, float]


class Ancestor(msgspec.Struct, frozen=True, array_like=True):
    """One line of the family tree."""

    player: PlayerId
    kind: str
    parent: PlayerId | None
    snapshot: str | None


class RecordedEpisode(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluation episode of which a video is made: all that is needed to play it again."""

    ticket: Ticket
    attempt: int
    episode: int
    actions: bytes
    seed: int  # of the run

    @property
    def name(self) -> str:
        """What `ludus replay` calls it."""
        return f"{self.ticket.number}.{self.episode}"

    @property
    def title(self) -> str:
        """Who plays."""
        return " v ".join(entry.player for entry in self.ticket.entries)


class CurveRow(msgspec.Struct, frozen=True, kw_only=True):
    """Values that were measured together, in their places on both axes."""

    number: int
    seq: int  # the newest event, and the newest row of metrics, that it includes
    measured: int
    axis: str  # the natural one of these values
    matches: int
    env_steps: int
    elapsed: float | None  # seconds of play; None if no process measured it
    values: dict[str, float]
    payoff: PayoffTable | None = None
    lineage: tuple[Ancestor, ...] = ()
    frozen: PlayerId | None = None  # who was born,
    snapshot: Hash | None = None  # and its weights
    recorded: RecordedEpisode | None = None  # what a video is made of
    filmed: int = 0  # matches when the last one was made
    gathered: int = 0  # the newest event whose episodes are in a row

    @property
    def step(self) -> int:
        """Where this row stands on its axis."""
        return self.matches if self.axis == MATCHES else self.env_steps

    def points(self) -> Iterator[Point]:
        """Yield (axis, step, name, value)."""
        for name, value in self.values.items():
            yield self.axis, self.step, name, value


class Position(msgspec.Struct, frozen=True):
    """How far a tracker is: the number of its next row, and the last event, metrics and video behind it.

    Episodes after the event `gathered` wait for the next point of their curve: whoever goes on gathers them again.
    """

    number: int = 0
    seq: int = 0
    measured: int = 0
    filmed: int = 0
    gathered: int = 0


class Curves:
    """A watcher that emits rows, from a position on."""

    def __init__(
        self, config: TrackConfig, emit: Callable[[CurveRow], None], start: Position | None = None, dense: int = DENSE
    ) -> None:
        self._config, self._emit, self._start, self._dense = config, emit, start or Position(), dense
        self._number = self._start.number
        self._measured, self._group = self._start.measured, dict[str, float]()
        self._filmed, self._ticket = self._start.filmed, None  # type: int, Ticket | None
        self._gathered, self._episodes = self._start.gathered, Episodes()
        self._variants = VariantFolds(config.variants)

    def before(self, seq: int, event: Event, state: LeagueState) -> None:
        """Note the ticket of a result while it is open, and fold the event in its variant."""
        self._variants(seq, event, state)
        if isinstance(event, ResultCounted):
            self._ticket = state.open.get(event.ticket)

    def event(self, seq: int, event: Event, state: LeagueState) -> None:
        """Emit what follows from an event."""
        if isinstance(event, ResultCounted) and self._ticket is not None and seq > self._start.gathered:
            self._episodes.add(self._ticket, event.episodes)
        if seq <= self._start.seq:
            return
        if isinstance(event, ResultCounted):
            spacing = _spacing(sum(state.results.values()), self._config.every, self._dense)
            if sum(state.results.values()) % spacing == 0:
                self._rate(seq, state, spacing * self._config.payoff_every)
            self._film(seq, event, state)
        elif isinstance(event, PhaseBegan) and event.phase == OVER:
            self._rate(seq, state, 1)
        elif isinstance(event, PlayerFrozen):
            self._row(seq, state, MATCHES, size(state), frozen=event.player.id, snapshot=event.player.snapshot)

    def metrics(self, row: Measured, state: LeagueState) -> None:
        """Emit what all processes measured together; the coordinator's row comes last."""
        if row.id <= self._start.measured:
            return
        self._measured = row.id
        self._group |= measured_values(row, self._group)
        if row.source == "coordinator":
            values, self._group = self._group, {}
            self._row(row.seq, state, ENV_STEPS, values, elapsed=row.elapsed)

    def add_probes(self, reports: Iterable[ProbeReport], seq: int, state: LeagueState) -> None:
        """Emit a last row with the best score of any probe against the newest candidate of a main."""
        mains = {candidate.snapshot for player in state.probed() if (candidate := state.candidate(player.id))}
        scores = [report.score.score for report in reports if report.snapshot in mains]
        if scores:
            self._row(seq, state, MATCHES, {PROBE_SCORE: max(scores)})

    def _film(self, seq: int, result: ResultCounted, state: LeagueState) -> None:
        """Emit a recorded episode when a video is due: the first evaluation since then with a learning player."""
        ticket, matches = self._ticket, sum(state.results.values())
        if not self._config.videos or ticket is None or ticket.purpose != Purpose.EVALUATE:
            return
        spacing = _spacing(matches, self._config.videos, FILMS)
        kept = [i for i, episode in enumerate(result.episodes) if episode.actions]
        if matches // spacing == self._filmed // spacing or not kept:
            return
        if not any(e.player in state.population and state.population[e.player].learning for e in ticket.entries):
            return
        self._filmed, actions = matches, result.episodes[kept[0]].actions
        recorded = RecordedEpisode(
            ticket=ticket, attempt=result.attempt, episode=kept[0], actions=actions, seed=state.seed
        )
        self._row(seq, state, MATCHES, size(state), recorded=recorded)

    def _rate(self, seq: int, state: LeagueState, table_every: int) -> None:
        """Emit two rows: over env steps the usual curves of an RL script, and ratings over matches."""
        appraisal = appraisal_of(state)
        standings = all_standings(state, appraisal)
        charts = self._episodes.take() | win_rates(state, standings)
        self._gathered = seq
        if charts:
            self._row(seq, state, ENV_STEPS, charts)
        values = size(state) | league_values(appraisal) | rating_values(state, standings, self._config.frozen)
        for variant, inside in self._variants.states.items():
            values |= variant_values(variant, inside)
        more: dict[str, object] = {}
        if sum(state.results.values()) % table_every == 0:
            more["payoff"] = payoff_table(relevant(state, SHOWN, appraisal), state.evaluation)
            more["lineage"] = tuple(Ancestor(p.id, p.label, p.parent, p.snapshot) for p in state.population)
        self._row(seq, state, MATCHES, values, **more)

    def _row(self, seq: int, state: LeagueState, axis: str, values: dict[str, float], **more: object) -> None:
        plain = {
            "number": self._number,
            "seq": seq,
            "measured": self._measured,
            "axis": axis,
            "matches": sum(state.results.values()),
            "env_steps": state.env_steps,
            "elapsed": None,
            "values": values,
            "filmed": self._filmed,
            "gathered": self._gathered,
        }
        self._number += 1
        self._emit(CurveRow(**(plain | more)))  # type: ignore[arg-type]


def _spacing(matches: int, every: int, dense: int = DENSE) -> int:
    """Return how many matches lie between two points: more, the longer the league.

    >>> _spacing(100, 20), _spacing(20 * 256 + 1, 20), _spacing(20 * 1024, 20)
    (20, 40, 80)
    """
    spacing = every
    while matches > spacing * dense:
        spacing *= 2
    return spacing


def size(state: LeagueState) -> dict[str, float]:
    """Return how large the league is."""
    return {
        "league/size": float(len(state.population)),
        "league/frozen": float(len(state.population.frozen())),
        "league/void": float(state.voids),
    }


def league_values(appraisal: Appraisal | None) -> dict[str, float]:
    """Return what describes all ratings together: how diverse the league is, and how well one number each says it."""
    if appraisal is None:
        return {}
    misfit = appraisal.fit.dispersion.misfit
    values = {NASH_ENTROPY: appraisal.nash.entropy, CYCLE_STRENGTH: appraisal.cyclic.strength}
    return values if misfit is None else values | {MISFIT: misfit}


def rating_values(state: LeagueState, standings: Sequence[Standing], frozen: int) -> dict[str, float]:
    """Return how strong everybody is: all but the older frozen players."""
    pasts = state.population.frozen()
    dropped = {player.id for player in pasts[: max(0, len(pasts) - frozen)]}
    values: dict[str, float] = {}
    for row in standings:
        if row.player not in dropped:
            values |= _strength(row)
        if state.population[row.player].learning:
            for anchor, (score, *_) in candidate_scores(state, row.player).items():
                values[f"score/{row.player}_v_{anchor}"] = score
    return values


def variant_values(variant: str, state: LeagueState) -> dict[str, float]:
    """Return the ratings and scores of learning players by their games in one variant, as `variant/NAME/CURVE`."""
    rows = [row for row in all_standings(state) if state.population[row.player].learning and row.games]
    found = {
        name: value for row in rows for name, value in _strength(row).items() if not name.startswith("elo_online/")
    }
    for row in rows:
        for anchor, (score, *_) in candidate_scores(state, row.player).items():
            found[f"score/{row.player}_v_{anchor}"] = score
    return {f"{VARIANT}{variant}/{name}": value for name, value in found.items()}


def win_rates(state: LeagueState, standings: Sequence[Standing]) -> dict[str, float]:
    """Return what learning players score against each anchor: their newest candidate and the one before it."""
    learning = [row for row in standings if state.population[row.player].learning]
    return {
        f"charts/win_rate/{row.player}_v_{anchor}": score
        for row in learning
        for anchor in row.anchors
        if (score := state.evaluation.recent_share(row.player, anchor)) is not None
    }


def _strength(row: Standing) -> dict[str, float]:
    named = {"": row.rating, "_low": row.low, "_high": row.high}
    scale = ELO if row.by == "outcome" else MARGIN
    values = {f"{scale}{row.player}{end}": value for end, value in named.items() if value is not None}
    for name, found in (("own", row.own), ("cross", row.cross)):  # in co-operation, instead of a rating
        if found is not None:
            values[f"return/{row.player}_{name}"] = found.mean
    for role, kept in (row.returns or {}).items():
        name = f"{row.player}_as_{role}" if len(row.returns or {}) > 1 else row.player
        for curve, found in ((RETURN_CURVE, kept.mean), (OVER_MEDIAN, kept.over)):
            if found is not None:
                values |= {f"{curve}{name}": found.mean}
            if found is not None and found.low is not None and found.high is not None:
                values |= {f"{curve}{name}_low": found.low, f"{curve}{name}_high": found.high}
    return values if row.online is None else values | {f"elo_online/{row.player}": row.online}


def measured_values(row: Measured, group: dict[str, float]) -> dict[str, float]:
    """Return what one process measured, under the names of curves; speeds add up over the group.

    >>> row = Measured(1, 9, 5.0, "learner-0", {"player/main/losses/entropy": 1.2, "wait_share": 0.1})
    >>> measured_values(row, {})
    {'losses/entropy/main': 1.2, 'wait/learner-0': 0.1}
    """
    values: dict[str, float] = {}
    for name, value in row.values.items():
        curve = curve_name(name, row.source)
        if curve is not None:
            values[curve] = value + (group.get(curve, 0.0) if curve == SPEED else 0.0)
    return values
