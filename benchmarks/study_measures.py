"""What leagues of the study of recipes are worth, once they are over: exact figures, probes and duels of mains.

    figures = measure_all(trials, Path("runs/study"), probe_steps=200_000)
    duels = duels_of(trials, Path("runs/study"), games=1000)

The first figures are at equal env steps; those named equal_... are of the mains as they were when they had made as many
decisions as the main of every other recipe with the same seed.
"""

import itertools
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import ludus
from benchmarks.study_tables import Duel, Estimate, Figures, common_decisions, late
from benchmarks.study_trials import GAMES, Trial
from collectors.envs.enumerating import enumerate_game
from collectors.exact.meta_game import payoff_matrix
from collectors.exact.tree_policy import policy_of
from launch.comparisons.milestones import DECISIONS, Milestone, nearest, read_milestones
from launch.config.config import stored
from launch.config.env_spec import read_spec
from launch.matches.many_games import Arena, Pairing
from launch.viewers.view import open_view
from league.events import CandidateWritten
from league.ids import PlayerId
from league.metrics import NASH_CONV, player_metric
from league.policies.network_actor import actor_from_snapshot
from league.store.ledger import open_copy
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from league.ticket import Entry

MAIN = PlayerId("main")
EVEN = 0.5  # the score of equals


def run_of(trial: Trial, out: Path) -> RunDirectory:
    """Return where the league of a trial is, or will be."""
    return RunDirectory(out / trial.name)


def nash_convs(run: RunDirectory) -> list[tuple[int, float]]:
    """Return (decisions, NashConv) of the candidates of the main that were measured, each once, in order."""
    name, written, found = player_metric(MAIN, NASH_CONV), [], {}
    with open_copy(run.ledger) as ledger:
        for seq, event in ledger.events():
            if isinstance(event, CandidateWritten) and event.player == MAIN:
                written.append((seq, event.decisions))
        for row in ledger.metrics(0, ledger.head):
            if name in row.values:
                found[max(decisions for seq, decisions in written if seq <= row.seq)] = row.values[name]
    return list(found.items())


def measure_all(trials: Sequence[Trial], out: Path, probe_steps: int) -> Figures:
    """Return the figures of leagues that are over, by trial; probes that were trained before are only read."""
    figures = {trial: {"decisions": float(_last(trial, out).decisions)} for trial in trials}
    for trial in trials:
        measure = _exact if GAMES[trial.game].exact else _probed
        figures[trial] |= measure(trial, out, common_decisions(trial, figures), probe_steps)
    return figures


def _last(trial: Trial, out: Path) -> Milestone:
    return read_milestones(run_of(trial, out))[1][-1]


def _exact(trial: Trial, out: Path, common: float, probe_steps: int) -> dict[str, float]:
    """Return the NashConv of the main, late and last, of mixtures, and of the main at equal decisions."""
    league, curve = ludus.open(str(out / trial.name)), nash_convs(run_of(trial, out))
    mixtures = ("pool", "nash") if GAMES[trial.game].mixtures else ()
    return {
        "late": late(curve, curve[-1][0]),
        "last": curve[-1][1],
        **{name: league.exploit(name).figures.nash_conv for name in mixtures},
        "equal_late": late(curve, common),
    }


def probed_player(trial: Trial, out: Path, common: float) -> Milestone:
    """Return the snapshot of a main that is nearest to a number of its decisions."""
    return nearest(read_milestones(run_of(trial, out))[1], DECISIONS, int(common))


def _probed(trial: Trial, out: Path, common: float, probe_steps: int) -> dict[str, float]:
    """Return what a probe scores in the end, and on average while it trains, against the last main and the equal."""
    league, mark = ludus.open(str(out / trial.name)), probed_player(trial, out, common)
    found = {"": league.probe("main", probe_steps), "equal_": league.probe(mark.label, probe_steps)}
    scores = {f"{name}probe": report.score.score for name, report in found.items()}
    rises = {f"{name}probe_rise": statistics.mean(p.score for p in report.curve) for name, report in found.items()}
    return {**scores, **rises, "equal_decisions": float(mark.decisions)}


# --- head to head --------------------------------------------------------------------------------------------


def duels_of(trials: Sequence[Trial], out: Path, games: int) -> list[Duel]:
    """Return what the last mains of each two recipes earn against each other, at the same seed and from both seats."""
    found: dict[tuple[str, str, str, str], list[float]] = {}
    for _, members in itertools.groupby(trials, key=lambda trial: (trial.group, trial.seed)):
        for first, second, value in _meet(list(members), out, games):
            found.setdefault((*first.group, first.recipe, second.recipe), []).append(value)
    return [
        Duel(game, learner, first, second, *_unit(game), Estimate.of(values))
        for (game, learner, first, second), values in found.items()
    ]


def _unit(game: str) -> tuple[str, float]:
    return ("a game", 0.0) if GAMES[game].exact else ("score", EVEN)


def _meet(trials: Sequence[Trial], out: Path, games: int) -> Iterator[tuple[Trial, Trial, float]]:
    """Yield each pair of leagues with the return of the first main, exactly, or with its score in games."""
    if len(trials) < 2:
        return
    places = list(itertools.combinations(range(len(trials)), 2))
    snapshots = [_last(trial, out).snapshot for trial in trials]
    runs = [run_of(trial, out) for trial in trials]
    meet = _returns if GAMES[trials[0].game].exact else _scores
    for (a, b), value in zip(places, meet(runs, snapshots, places, games), strict=True):
        yield trials[a], trials[b], value


def _returns(
    runs: Sequence[RunDirectory], snapshots: Sequence[str], places: Sequence[tuple[int, int]], games: int
) -> list[float]:
    """Return the exact expected return of the first of each pair, as the mean of both seats."""
    spec, tree = read_spec(runs[0]), enumerate_game(stored(runs[0]).env, whole=False)
    weights = [SnapshotStore(run.snapshots).get(name) for run, name in zip(runs, snapshots, strict=True)]
    policies = [policy_of(actor_from_snapshot(one.arrays, one.manifest, spec), tree.sets) for one in weights]
    payoff = payoff_matrix(tree, policies)
    return [float(payoff[a, b]) for a, b in places]


def _scores(
    runs: Sequence[RunDirectory], snapshots: Sequence[str], places: Sequence[tuple[int, int]], games: int
) -> list[float]:
    """Return the score of the first of each pair in games, each start from both seats."""
    state = open_view(runs[0]).state
    entries = [Entry(PlayerId(f"main_{place}"), name) for place, name in enumerate(snapshots)]
    arena = Arena(stored(runs[0]), [run.snapshots for run in runs])
    contests = arena.play([Pairing(state, entries[a], entries[b]) for a, b in places], games, seed=1)
    return [contest.score.score for contest in contests if contest.score is not None]
