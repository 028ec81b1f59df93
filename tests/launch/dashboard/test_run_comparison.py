import shutil

import numpy as np
import pytest
from asgi_client import ask

from launch.config.config import stored, to_plain
from launch.dashboard.dashboard_runs import Runs
from launch.dashboard.run_comparison import compare_json, is_tournament, mean_course, tournament_rows
from launch.dashboard.site import make_site
from launch.sweeps.comparing import figures
from league.store.run_directory import RunDirectory
from league.store.snapshots import Manifest, SnapshotStore


@pytest.fixture(scope="module")
def three(played, tmp_path_factory):
    """Return a folder with three runs: two seeds of one config, and another one."""
    folder = tmp_path_factory.mktemp("three")
    for name, seed, lr in (("a1", 1, 0.001), ("a2", 2, 0.001), ("b", 1, 0.5)):
        shutil.copytree(played[0].root, folder / name)
        run = RunDirectory(folder / name)
        config = stored(run)
        config.name, config.seed, config.algo["lr"] = name, seed, lr
        run.write_config(to_plain(config))
    return [RunDirectory(folder / name) for name in ("a1", "a2", "b")]


def test_seeds_are_groups_and_settings_are_differences(three, state):
    samples = {run.name: figures(state, None) for run in three}
    found = compare_json(three, samples, {})
    assert list(found["groups"].values()) == [["a1", "a2"], ["b"]]
    assert found["figures"][0]["means"]["elo/main"]["runs"] == 2
    assert found["changes"]["a2"] == [{"key": "seed", "first": 1, "other": 2}]
    assert found["changes"]["b"] == [{"key": "algo.lr", "first": 0.001, "other": 0.5}]


def test_seeds_of_one_config_are_one_group(three, state):
    two = three[:2]
    found = compare_json(two, {run.name: figures(state, None) for run in two}, {})
    assert list(found["groups"].values()) == [["a1", "a2"]]


def test_the_interval_of_a_mean_is_that_of_student():
    courses = [([0, 100], [value, value]) for value in (1.0, 2.0, 3.0)]
    found = mean_course(courses)
    assert found["mean"][0] == pytest.approx(2.0)
    assert found["high"][0] - 2.0 == pytest.approx(4.302653 * 1.0 / np.sqrt(3), rel=1e-5)
    assert mean_course(courses[:1])["low"] is None


def test_a_mean_covers_only_what_all_have():
    found = mean_course([([10, 50], [0.0, 1.0]), ([0, 30], [0.0, 1.0])])
    assert (found["env_steps"][0], found["env_steps"][-1]) == (10.0, 30.0)


def test_the_site_compares(three, patiently):
    runs = Runs(folder=three[0].root.parent)
    site = make_site(runs)
    query = "run=a1&run=a2&run=b&name=elo/main"
    answer = patiently(
        lambda: (found := ask(site, "/api/compare", query=query)).status == 200 and found.json["complete"] and found,
        60,
        "the comparison",
    ).json
    assert len(answer["curves"]["elo/main"]) == 2
    assert answer["figures"][0]["runs"] == 2
    assert ask(site, "/api/compare", query="run=a1").status == 400
    runs.close()


def test_a_tournament_names_the_run_of_each_player(three, tmp_path):
    row = {"place": 1, "rating": 10.0, "low": 0.0, "high": 20.0, "by": "outcome", "games": 4.0}
    rows = [row | {"player": name} for name in ("x", "y", "bot")]
    stores = [RunDirectory(tmp_path / name).create() for name in ("one", "two")]
    snapshots = {}
    for player, run in zip(("x", "y"), stores, strict=True):
        store = SnapshotStore(run.snapshots)
        manifest = Manifest(signature="s", policy={}, player=player, version=0, incarnation=0, decisions=0)
        snapshots[player] = store.put({"flat": np.full(3, len(player) + ord(player), np.float32)}, manifest)
    found = tournament_rows(rows, snapshots, stores)
    assert [(one["player"], one["run"]) for one in found] == [("x", "one"), ("y", "two"), ("bot", None)]
    assert tournament_rows(rows, snapshots, stores[:1]) == []
    assert not is_tournament(three[0])
