"""Which runs are compared, and which of them differ in their seed only."""

import json
import shutil

import pytest

from launch.comparisons.milestones import CompareError
from launch.comparisons.run_groups import find_runs, grouped
from launch.config.config import stored, to_plain
from league.store.run_directory import RunDirectory, RunError


def another(run, name, **changes):
    """Return a copy of a run under another name, with other settings."""
    copy = RunDirectory(run.root.parent / name)
    shutil.copytree(run.root, copy.root)
    config = stored(copy)
    config.name = name
    for key, value in changes.items():
        setattr(config, key, value)
    copy.write_config(to_plain(config))
    return copy


def test_runs_that_differ_in_the_seed_are_one_group(run):
    second = another(run, "first.seed=2", seed=2)
    other = another(run, "other")
    config = stored(other)
    config.algo["lr"] = 0.1
    other.write_config(to_plain(config))
    found = grouped(find_runs([str(run.root), str(second.root), str(other.root)]))
    assert {label: [one.name for one in members] for label, members in found.items()} == {
        "first": ["first", "first.seed=2"],
        "other": ["other"],
    }


def test_seeds_of_one_config_are_compared_with_each_other(run):
    second = another(run, "second", seed=2)
    assert list(grouped(find_runs([str(run.root), str(second.root)]))) == ["first", "second"]


def test_the_directory_of_a_sweep_stands_for_its_runs(run):
    another(run, "second", seed=2)
    place = run.root.parent / "sweeps" / "today"
    place.mkdir(parents=True)
    (place / "summary.json").write_text(json.dumps({"runs": [{"name": "first"}, {"name": "second"}]}))
    assert [one.name for one in find_runs([str(place)])] == ["first", "second"]
    (place / "summary.json").write_text("[]")
    with pytest.raises(RunError, match="it is not the summary of a sweep"):
        find_runs([str(place)])


def test_leagues_of_a_sweep_that_were_pruned_or_never_began_are_left_out(run):
    another(run, "second", seed=2)
    another(run, "poor", seed=3)
    place = run.root.parent / "sweeps" / "today"
    place.mkdir(parents=True)
    ends = {"first": "over", "second": "failed", "poor": "pruned", "refused": "failed"}
    every = [{"name": name, "status": status} for name, status in ends.items()]
    (place / "summary.json").write_text(json.dumps({"runs": every}))
    assert [one.name for one in find_runs([str(place)])] == ["first", "second"]


def test_one_run_is_no_comparison(run):
    with pytest.raises(CompareError, match="a comparison needs at least two runs, got first"):
        find_runs([str(run.root), str(run.root)])
    empty = RunDirectory(run.root.parent / "empty").create()
    empty.write_config(run.read_config())
    with pytest.raises(CompareError, match="the league empty has not begun yet"):
        find_runs([str(run.root), str(empty.root)])


def test_runs_on_different_games_are_refused(run, bid):
    with pytest.raises(CompareError, match="first plays tic_tac_toe, but bidding plays"):
        find_runs([str(run.root), str(bid.root)])
    second = another(run, "second")
    plain = second.read_config()
    plain["env"]["kwargs"] = {"size": 4}
    second.write_config(plain)
    with pytest.raises(CompareError, match="play tic_tac_toe with other options"):
        find_runs([str(run.root), str(second.root)])
