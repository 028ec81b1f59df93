"""The end of a sweep: which leagues are over, and how they compare across seeds.

conclude(jobs, Path("runs/sweeps/2026-11-17_12-00-00"), options=["--json"])       # prints, and writes summary.json
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from launch.config.config import from_plain
from launch.spawn.exit_code import FAILED, INTERRUPTED
from launch.sweeps.comparing import Figure, RunSample, compare, comparison_table, figures
from launch.terminal.console import Console
from launch.viewers.view import open_view
from league.state import OVER
from league.store.files import publish
from league.store.regular_file import read_text_of
from league.store.run_directory import RunDirectory

PRUNED = 75  # in the file of an exit code: a study ended this league early
WIDE = 160  # columns of a table that no terminal limits


class SweptLeague(msgspec.Struct, frozen=True, kw_only=True):
    """One league of a sweep: its name, the directory of runs, its settings but for the seed, and its overrides."""

    name: str
    runs: str
    seed: int
    settings: str
    overrides: tuple[str, ...]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a league of a sweep ended, and what it measured."""

    job: SweptLeague
    status: str  # over, under way (as jobs of Slurm), pruned (by a study), interrupted, failed, or not finished
    exit_code: int | None  # None: it was never started, or its job was lost
    figures: dict[str, Figure] = {}


def exit_file(place: Path, name: str) -> Path:
    """Return the file in which a job writes the exit code of its league."""
    return place / "exits" / name


def conclude(
    jobs: Sequence[SweptLeague], place: Path, options: Sequence[str] = (), study: dict[str, Any] | None = None
) -> int:
    """Print the comparison of all leagues, write it to a file, name those that failed; return the exit code."""
    outcomes = [outcome(job, exit_file(place, job.name)) for job in jobs]
    plain = summary(outcomes, place) | ({} if study is None else {"study": study})
    file = place / "summary.json"
    publish(file, json.dumps(plain, indent=2, allow_nan=False).encode() + b"\n")
    if "--json" in options:
        sys.stdout.write(json.dumps(plain, allow_nan=False) + "\n")
    elif "--quiet" not in options:
        _print(outcomes)
        sys.stderr.write(f"ludus: the comparison, for programs: {_near(file)}\n")
    return _name_failed(outcomes, again=study is None)


def _name_failed(outcomes: Sequence[Outcome], again: bool) -> int:
    """Return the exit code; `again`: the same command tries those that are not over once more, which no study does."""
    failed = [one for one in outcomes if one.status == "failed"]
    for one in failed:
        sys.stderr.write(f"ludus: failed with exit code {one.exit_code}: {one.job.name}\n")
    ended = all(one.status in ("over", "under way", "pruned") for one in outcomes)
    if again and not ended:
        sys.stderr.write("ludus: the same command again goes on with all leagues that are not over\n")
    return FAILED if failed else 0 if ended else INTERRUPTED


def outcome(job: SweptLeague, file: Path) -> Outcome:
    """Return how a league ended, by its exit code and its ledger."""
    code = int(read_text_of(file)) if file.exists() else None
    if code != 0:
        status = {None: "not finished", INTERRUPTED: "interrupted", PRUNED: "pruned"}.get(code, "failed")
        return Outcome(job=job, status=status, exit_code=code)
    run = RunDirectory(Path(job.runs) / job.name)
    view = open_view(run) if run.ledger.exists() else None
    if view is None or view.state.phase != OVER:
        return Outcome(job=job, status="under way", exit_code=code)
    logical = from_plain(run.read_config()).launch.name == "inline"  # its clock says nothing about speed
    measured = figures(view.state, None if logical else view.elapsed)
    return Outcome(job=job, status="over", exit_code=code, figures=measured)


def summary(outcomes: Sequence[Outcome], place: Path) -> dict[str, Any]:
    """Return the comparison for programs.

    sweep: its directory. rows: for all runs of the same settings, how many there are (runs) and are over (measured),
    and of each figure mean, low, high and the number of its runs. runs: each league with name, settings, seed, status,
    exit_code, and its own figures: value, low, high.
    """
    return {
        "sweep": str(place),
        "rows": [msgspec.to_builtins(row) for row in compare(_samples(outcomes))],
        "runs": [
            {
                "name": one.job.name,
                "settings": one.job.settings,
                "seed": one.job.seed,
                "status": one.status,
                "exit_code": one.exit_code,
                "figures": msgspec.to_builtins(one.figures),
            }
            for one in outcomes
        ],
    }


def _samples(outcomes: Sequence[Outcome]) -> list[RunSample]:
    return [RunSample(run=one.job.name, settings=one.job.settings, figures=one.figures) for one in outcomes]


def _print(outcomes: Sequence[Outcome]) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)
    console.print(comparison_table(compare(_samples(outcomes))))
    for status in ("under way", "pruned", "interrupted", "not finished"):
        names = [one.job.name for one in outcomes if one.status == status]
        if names:
            console.print(f"{status}: {', '.join(names)}", markup=False, highlight=False)


def _near(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
