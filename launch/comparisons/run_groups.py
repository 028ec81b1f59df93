"""Which runs are compared: those that differ only in their seed form a group.

for label, runs in grouped(find_runs(["a", "b", "runs/sweeps/2026-11-17_12-00-00"])).items(): ...
"""

import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec

from launch.comparisons.milestones import CompareError
from launch.config.config import stored, to_plain
from launch.config.env_spec import read_spec
from league.store.plain_json import read_json
from league.store.run_directory import RunDirectory, RunError

SUMMARY = "summary.json"  # in the directory of a sweep
ALIKE = ("name", "runs", "seed", "launch", "track")  # settings that do not make another group


def find_runs(names: Sequence[str]) -> list[RunDirectory]:
    """Return the runs that are named, and all runs of sweeps that are named by their directory; each once."""
    found: dict[Path, RunDirectory] = {}
    for name in names:
        for run in _runs_of(name):
            if not run.ledger.exists() or not run.env.exists():
                raise CompareError(f"the league {run.name} has not begun yet: there is nothing to compare")
            found.setdefault(run.root.resolve(), run)
    if len(found) < 2:
        raise CompareError(f"a comparison needs at least two runs, got {', '.join(run.name for run in found.values())}")
    _refuse_different(list(found.values()))
    return list(found.values())


def _runs_of(name: str) -> list[RunDirectory]:
    place = Path(name)
    home = place.resolve().parent.parent
    if not (place / SUMMARY).is_file():
        return [RunDirectory.find(name)]
    try:
        every = read_json(place / SUMMARY, dict[str, Any])["runs"]
        runs = [str(one["name"]) for one in every if not _left_out(one, home)]
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:
        raise RunError(f"cannot read {place / SUMMARY}: it is not the summary of a sweep ({error!r})") from error
    return [RunDirectory.find(run, home) for run in runs]


def _left_out(league: Mapping[str, Any], home: Path) -> bool:
    """Whether a league of a sweep is not compared: it played less than the budget, or failed before it began."""
    status = league.get("status")
    return status == "pruned" or (status == "failed" and not (home / str(league["name"])).exists())


def _refuse_different(runs: Sequence[RunDirectory]) -> None:
    """Refuse runs on different games, or on the same one with other options or another spec."""
    first = runs[0]
    env, spec = to_plain(stored(first))["env"], read_spec(first)
    for run in runs[1:]:
        other = read_spec(run)
        if spec.name != other.name:
            raise CompareError(f"{first.name} plays {spec.name}, but {run.name} plays {other.name}: nothing to compare")
        if spec.signature != other.signature or to_plain(stored(run))["env"] != env:
            raise CompareError(
                f"{first.name} and {run.name} play {spec.name} with other options (env.kwargs), observations or "
                "actions: their players cannot meet"
            )


def grouped(runs: Sequence[RunDirectory]) -> dict[str, list[RunDirectory]]:
    """Return the runs by group, under a label for each; if all differ only in their seeds, each is a group."""
    groups: dict[str, list[RunDirectory]] = {}
    for run in runs:
        plain = {key: value for key, value in to_plain(stored(run)).items() if key not in ALIKE}
        plain["league"] = {key: value for key, value in plain["league"].items() if key != "probe"}
        groups.setdefault(json.dumps(plain, sort_keys=True), []).append(run)
    parts = list(groups.values()) if len(groups) > 1 else [[run] for run in runs]
    labels = [label_of([run.name for run in members]) for members in parts]
    return {
        label if labels.count(label) == 1 else f"{label} ({place + 1})": members
        for place, (label, members) in enumerate(zip(labels, parts, strict=True))
    }


def label_of(names: Sequence[str]) -> str:
    """Return what the names of a group have in common, without what is left of the seed.

    >>> label_of(["try.league=pfsp,seed=1", "try.league=pfsp,seed=2"]), label_of(["first"]), label_of(["a1", "b2"])
    ('try.league=pfsp', 'first', 'a1')
    """
    if len(names) == 1:
        return names[0]
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in alike).removesuffix("seed=").rstrip(".,-_=") or names[0]
