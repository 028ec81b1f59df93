"""`ludus compare`: mains of several runs head to head, against anchors and against probes, at equal budgets.

    comparison = compare_runs(find_runs(["a", "b"]), CompareOrder(probe_steps=100_000))
    comparison.budgets[0].rows                          # means over seeds, as in the summary of a sweep

Everybody is compared twice: at equal env steps of the whole league, and at equal decisions of the main. For each run
the snapshot nearest to the common budget plays; fresh games decide, and nothing is written into the ledgers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import msgspec
from scipy.special import stdtrit

from launch.comparisons.milestones import DECISIONS, ENV_STEPS, Milestone, common, nearest, read_milestones
from launch.comparisons.run_groups import grouped
from launch.config.config import stored
from launch.config.env_spec import read_spec
from launch.matches.many_games import Arena, Pairing
from launch.probes.probe_config import ProbeOrder
from launch.probes.probing import probe, score_of
from launch.sweeps.comparing import CONFIDENCE, SCORE, ComparisonRow, Figure, Mean, RunSample, compare
from launch.viewers.probe_reports import ProbeScore
from league.errors import InputError
from league.ids import PlayerId
from league.mixture import MOST
from league.player import SCRIPTED
from league.state import LeagueState
from league.store.run_directory import RunDirectory
from league.ticket import Entry, Member


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOrder:
    """How much is played and trained for a comparison."""

    games: int = 200  # of each pair of runs, and of each run against each anchor
    probe_steps: int = 100_000  # env steps of a probe against each main; 0: no probes
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse counts that are none."""
        if self.games < 1 or self.probe_steps < 0:
            raise InputError(
                f"--games must be at least 1, --probe-steps not negative; got {self.games}, {self.probe_steps}"
            )


class ComparedSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Which snapshot of a run was compared, and what it scored."""

    run: str
    group: str
    milestone: Milestone
    anchors: dict[str, ProbeScore] = {}
    probe: ProbeScore | None = None  # of the probe against it: less is better


class GroupDuel(msgspec.Struct, frozen=True, kw_only=True):
    """What the first group scores against the second one, over all pairs of their runs."""

    first: str
    second: str
    score: Mean
    games: int


class BudgetComparison(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison at one budget: `axis` says of what."""

    axis: str
    budget: int
    snapshots: list[ComparedSnapshot]
    rows: list[ComparisonRow]
    duels: list[GroupDuel]  # between mains
    mixture_duels: list[GroupDuel]  # between the uniform mixtures of all mains up to the budget


class RunComparison(msgspec.Struct, frozen=True, kw_only=True):
    """All that `ludus compare` found."""

    game: str
    groups: dict[str, list[str]]  # the names of runs, by group
    budgets: list[BudgetComparison]


@dataclass(frozen=True, slots=True)
class _Entrant:
    """A run of a group."""

    run: RunDirectory
    group: str
    state: LeagueState
    milestones: list[Milestone]

    def entry(self, milestone: Milestone) -> Entry:
        """Return the entry of a milestone; its name tells runs apart."""
        return Entry(PlayerId(f"{self.run.name[:24]}:{milestone.label}"[-64:]), milestone.snapshot)

    def mixture(self, milestone: Milestone) -> Entry:
        """Return the uniform mixture of all milestones up to one, at most `MOST` of them."""
        past = self.milestones[: self.milestones.index(milestone) + 1]
        kept = past if len(past) <= MOST else [past[place * len(past) // MOST] for place in range(MOST)]
        members = tuple(Member(PlayerId(mark.label), 1 / len(kept), mark.snapshot) for mark in kept)
        return Entry(PlayerId(f"{self.run.name[:24]}:mixture"), members=members)


def compare_runs(runs: Sequence[RunDirectory], order: CompareOrder, allow: Sequence[str] = ()) -> RunComparison:
    """Compare runs of the same game at equal env steps and at equal decisions of their mains."""
    groups = grouped(runs)
    entrants = [_Entrant(run, group, *read_milestones(run)) for group, members in groups.items() for run in members]
    first = entrants[0].run
    arena = Arena(stored(first), [run.snapshots for run in runs], allow)
    return RunComparison(
        game=read_spec(first).name,
        groups={group: [run.name for run in members] for group, members in groups.items()},
        budgets=[_at(axis, entrants, arena, order, allow) for axis in (ENV_STEPS, DECISIONS)],
    )


def _at(
    axis: str, entrants: Sequence[_Entrant], arena: Arena, order: CompareOrder, allow: Sequence[str]
) -> BudgetComparison:
    budget = common([one.milestones for one in entrants], axis)
    chosen = [nearest(one.milestones, axis, budget) for one in entrants]
    pairs = list(zip(entrants, chosen, strict=True))
    snapshots = _against_anchors(entrants, chosen, arena, order)
    if order.probe_steps:
        ordered = ProbeOrder(steps=order.probe_steps, games=max(order.games, 200), seed=order.seed)
        scores = [probe(one.run, mark.label, ordered, allow=allow, quiet=False).score for one, mark in pairs]
        snapshots = [msgspec.structs.replace(one, probe=p) for one, p in zip(snapshots, scores, strict=True)]
    return BudgetComparison(
        axis=axis,
        budget=budget,
        snapshots=snapshots,
        rows=compare(map(_sample, snapshots)),
        duels=_duels(entrants, [one.entry(mark) for one, mark in pairs], arena, order),
        mixture_duels=_duels(entrants, [one.mixture(mark) for one, mark in pairs], arena, order),
    )


def _against_anchors(
    entrants: Sequence[_Entrant], chosen: Sequence[Milestone], arena: Arena, order: CompareOrder
) -> list[ComparedSnapshot]:
    """Play each snapshot against the bots that are anchors in all runs."""
    anchors = shared_anchors([one.state for one in entrants])
    pairs = list(zip(entrants, chosen, strict=True))
    pairings = [Pairing(one.state, one.entry(mark), anchor) for one, mark in pairs for anchor in anchors]
    scores = iter(map(score_of, arena.play(pairings, order.games, order.seed, "games against anchors")))
    return [
        ComparedSnapshot(
            run=one.run.name,
            group=one.group,
            milestone=mark,
            anchors={str(anchor.player): next(scores) for anchor in anchors},
        )
        for one, mark in pairs
    ]


def shared_anchors(states: Sequence[LeagueState]) -> list[Entry]:
    """Return the scripted anchors that all leagues have, under the same name."""
    found = [{(p.id, p.bot) for p in state.population.anchors() if p.kind == SCRIPTED and p.bot} for state in states]
    return [Entry(name, None, bot) for name, bot in sorted(set.intersection(*found))]


def _sample(one: ComparedSnapshot) -> RunSample:
    figures = {f"{SCORE}main_v_{anchor}": Figure(s.score, s.low, s.high) for anchor, s in one.anchors.items()}
    if one.probe is not None:
        figures[f"{SCORE}probe_v_main"] = Figure(one.probe.score, one.probe.low, one.probe.high)
    return RunSample(run=one.run, settings=one.group, figures=figures)


def _duels(
    entrants: Sequence[_Entrant], entries: Sequence[Entry], arena: Arena, order: CompareOrder
) -> list[GroupDuel]:
    """Let every run of a group, for which its entry plays, meet every run of the others."""
    members: dict[str, list[tuple[_Entrant, Entry]]] = {}
    for one, entry in zip(entrants, entries, strict=True):
        members.setdefault(one.group, []).append((one, entry))
    sides = list(combinations(members, 2))
    pairs = [(a, b) for first, second in sides for a in members[first] for b in members[second]]
    pairings = [Pairing(a.state, entry, other) for (a, entry), (_, other) in pairs]
    scores = iter(map(score_of, arena.play(pairings, order.games, order.seed, "games between runs")))
    found = []
    for first, second in sides:
        table = [[next(scores) for _ in members[second]] for _ in members[first]]
        games = sum(score.games for row in table for score in row)
        found.append(GroupDuel(first=first, second=second, score=crossed_mean(table), games=games))
    return found


def crossed_mean(table: Sequence[Sequence[ProbeScore]]) -> Mean:
    """Return the mean score of one group of runs against another one, rows against columns, with its interval.

    Both groups are samples of seeds: the variance of the mean is that of the row means over the number of rows, plus
    that of the column means over the number of columns; the t interval has the degrees of freedom of the smaller one.
    Of two single runs the interval is that of their games.
    """
    scores = [[one.score for one in row] for row in table]
    rows, columns = len(scores), len(scores[0])
    if rows == columns == 1:
        only = table[0][0]
        return Mean(mean=only.score, low=only.low, high=only.high, runs=1)
    means = [sum(row) / columns for row in scores], [sum(column) / rows for column in zip(*scores, strict=True)]
    mean = sum(means[0]) / rows
    variance = sum(_variance(part) / len(part) for part in means if len(part) > 1)
    freedom = min(len(part) for part in means if len(part) > 1) - 1
    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * variance**0.5
    return Mean(mean=mean, low=max(0.0, mean - reach), high=min(1.0, mean + reach), runs=rows * columns)


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)
