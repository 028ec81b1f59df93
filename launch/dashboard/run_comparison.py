"""Several runs side by side: groups of seeds, their figures, curves with intervals across seeds, and configs.

    compare_json(runs, samples, courses)

Runs that differ only in their seed are a group, as for `ludus compare`. Nothing is played here; results
of tournaments (`ludus tournament`) between players of these runs are shown if there are any.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from launch.comparisons.run_groups import ALIKE, grouped, label_of
from launch.config.changes import differences
from launch.config.config import stored, to_plain
from launch.sweeps.comparing import CONFIDENCE, RunSample, compare
from league.errors import LudusError
from league.ids import Hash
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore

GRID = 100  # points of a mean curve

Floats = npt.NDArray[np.float64]
Course = tuple[Sequence[float], Sequence[float]]  # env steps, values


def compare_json(
    runs: Sequence[RunDirectory], samples: Mapping[str, Any], courses: Mapping[str, Mapping[str, Course]]
) -> dict[str, Any]:
    """Return a comparison.

    groups: label and names of runs; figures: rows of means as in the summary of a sweep; curves: for each name and
    label env_steps, mean, low, high (null where there is one run); changes: of each run to the first one.
    `samples` has the figures of each run, `courses` the curves of each run by name.
    """
    changes = _changes(runs)
    groups = {label: [run.name for run in members] for label, members in grouped(runs).items()}
    if all(change["key"] == "seed" for found in changes.values() for change in found):
        names = [run.name for run in runs]
        groups = {label_of(names): names}  # they are seeds of one config: one mean, not a curve each
    listed = [
        RunSample(run=name, settings=label, figures=samples[name]) for label, names in groups.items() for name in names
    ]
    curves = list(dict.fromkeys(name for run in courses.values() for name in run))
    return {
        "groups": groups,
        "figures": msgspec.to_builtins(compare(listed)),
        "curves": {name: _curves(name, groups, courses) for name in curves},
        "changes": changes,
    }


def _curves(
    name: str, groups: Mapping[str, Sequence[str]], courses: Mapping[str, Mapping[str, Course]]
) -> dict[str, Any]:
    found = {
        label: [courses[run][name] for run in members if len(courses.get(run, {}).get(name, ((), ()))[0]) > 1]
        for label, members in groups.items()
    }
    return {label: mean_course(some) for label, some in found.items() if some}


def tournament_rows(
    rows: Sequence[Mapping[str, Any]], snapshots: Mapping[str, Hash], runs: Sequence[RunDirectory]
) -> list[dict[str, Any]]:
    """Return the standings of a tournament with the run that each player is from; none if fewer than two runs met.

    `rows` are those of the standings, `snapshots` those of its players: a player is from the run that has its weights.
    """
    stores = {run.name: SnapshotStore(run.snapshots) for run in runs}
    origin = {
        player: next((name for name, store in stores.items() if snapshot in store), None)
        for player, snapshot in snapshots.items()
    }
    if len({name for name in origin.values() if name is not None}) < 2:
        return []
    kept = ("place", "player", "rating", "low", "high", "by", "games")
    return [{key: row[key] for key in kept} | {"run": origin.get(row["player"])} for row in rows]


def is_tournament(run: RunDirectory) -> bool:
    """Whether nobody learns in a run; one that cannot be read says so on its own page."""
    try:
        return stored(run).league.tournament.enabled
    except (LudusError, OSError):
        return False


def mean_course(courses: Sequence[Course]) -> dict[str, Any]:
    """Return the mean of several courses and its t interval, over the env steps that all of them have.

    >>> mean_course([([0, 10], [0.0, 1.0]), ([0, 10], [0.0, 3.0])])["mean"][-1]
    2.0
    """
    first = max(steps[0] for steps, _ in courses)
    last = min(steps[-1] for steps, _ in courses)
    grid: Floats = np.linspace(first, max(first, last), GRID)
    values = np.array([np.interp(grid, steps, numbers) for steps, numbers in courses])
    mean = values.mean(axis=0)
    plain: dict[str, Any] = {"env_steps": grid.tolist(), "mean": mean.tolist(), "runs": len(courses)}
    if len(courses) < 2:
        return plain | {"low": None, "high": None}
    reach = stdtrit(len(courses) - 1, (1 + CONFIDENCE) / 2) * values.std(axis=0, ddof=1) / np.sqrt(len(courses))
    return plain | {"low": (mean - reach).tolist(), "high": (mean + reach).tolist()}


def _changes(runs: Sequence[RunDirectory]) -> dict[str, list[dict[str, Any]]]:
    """Return for each run but the first one which settings it has differently."""
    first, *others = ((run.name, to_plain(stored(run))) for run in runs)
    skipped = [key for key in ALIKE if key != "seed"]
    return {
        name: [
            {"key": change.key, "first": change.old, "other": change.new}
            for change in differences(first[1], plain)
            if change.key.partition(".")[0] not in skipped
        ]
        for name, plain in others
    }
