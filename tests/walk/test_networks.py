"""Strangers' networks in a league: each trains, freezes, resets and resumes; the same seed gives the same league."""

import numpy as np
import pytest
from unit_game import UnitGame

import ludus
from launch.config.compose import compose
from launch.config.config import to_plain
from launch.config.env_spec import read_spec
from launch.packing.onnx_export import TOLERANCE, export_onnx
from launch.packing.packing import pack
from launch.processes.inline import play
from league.policies.network_actor import actor_from_snapshot
from league.store.player_file import PlayerFileError, read_player
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from tests.walk.test_inline import fingerprint

ALLOW = ["foreign_networks", "unit_game"]
SMALL = [
    "env=pettingzoo", "env.id=unit_game:UnitGame", "experiment=null", "league=alphastar", "launch=inline",
    "launch.collectors=1", "collector.slots=16", "collector.ticks=8", "collector.flush_decisions=64", "algo.batch=256",
    "algo.minibatch=128", "algo.epochs=2", "algo.lr=3e-3", "learner.candidate_decisions=512",
    "league.promotion.min_decisions=600", "league.promotion.max_decisions=1500", "league.budget.minutes=null",
    "league.evaluation.final_games=10",
]  # fmt: skip


SHORT = ["algo.batch=128", "league.evaluation.final_games=2"]


def start(tmp_path, network, steps, *more):
    config = compose([*SMALL, f"policy={network}", f"league.budget.env_steps={steps}", *more], ALLOW)
    run = RunDirectory(tmp_path).create()
    run.write_config(to_plain(config))
    return config, run


@pytest.mark.slow
@pytest.mark.parametrize("network", ["UnitAttention", "Window", "BatchNormed"])
def test_a_network_of_a_stranger_goes_all_the_way_round(tmp_path, network):
    config, run = start(tmp_path / "first", f"foreign_networks:{network}", 3000)
    state = play(config, run, allow=ALLOW)
    assert state.voids == 0
    assert len(state.population.frozen_of("main")) >= 1
    assert any(state.incarnations[player.id] for player in state.population.learning()), "nobody was reset"
    before = {player: candidate.version for player, candidate in state.candidates.items()}

    config, run = start(tmp_path / "first", f"foreign_networks:{network}", 4000)
    state = play(config, run, allow=ALLOW)
    assert state.candidates["main"].version > before["main"], "it resumed"

    store, spec = SnapshotStore(run.snapshots), read_spec(run)
    found = store.get(state.candidates["main"].snapshot)
    actor = actor_from_snapshot(found.arrays, found.manifest, spec, allow=ALLOW)
    assert actor.foreign
    assert np.isfinite(actor.outputs(np.zeros((3, *spec.observation.shape), np.float32))).all()

    path = pack(run, "main", tmp_path / "main.safetensors", allow=ALLOW)
    with pytest.raises(PlayerFileError, match="is not allowed"):
        ludus.load(path)
    player, game = ludus.load(path, allow=ALLOW, seed=1), UnitGame()
    seen, _ = game.reset(seed=3)
    while game.agents:
        assert np.isfinite(player.value(seen["red"], agent="red"))
        assert player.probabilities(seen["blue"], agent="blue").sum() == pytest.approx(1)
        seen, *_ = game.step(player.act_all(seen))
    assert export_onnx(read_player(path), tmp_path / "main.onnx", ALLOW) <= TOLERANCE


@pytest.mark.slow
def test_the_same_seed_gives_the_same_league_here_and_with_central_inference(tmp_path):
    found = []
    for name, more in (("one", ()), ("two", ()), ("central", ("collector.inference=central",))):
        config, run = start(tmp_path / name, "foreign_networks:Window", 300, *SHORT, *more)
        play(config, run, allow=ALLOW)
        found.append(fingerprint(run))
    assert found[0] == found[1]
    assert found[0][1] == found[2][1], "other events differ: the config is part of them"


@pytest.mark.parametrize("network", ["structured", "entities"])
def test_networks_that_come_with_ludus_need_no_permission(tmp_path, network):
    config, run = start(tmp_path / "run", network, 300, "policy.kwargs.width=16", *SHORT)
    state = play(config, run, allow=["unit_game"])
    assert state.candidates["main"].version > 0
    player = ludus.load(pack(run, "main", tmp_path / "main.safetensors", allow=["unit_game"]), seed=1)
    seen, _ = UnitGame().reset(seed=3)
    assert player.probabilities(seen["red"], agent="red").sum() == pytest.approx(1)


@pytest.mark.slow
def test_a_builtin_network_plays_the_same_games_in_torch(tmp_path):
    flats = []
    for act_in in ("numpy", "torch"):
        config = compose([*SMALL, "league.budget.env_steps=600", f"collector.act_in={act_in}"], ALLOW)
        run = RunDirectory(tmp_path / act_in).create()
        run.write_config(to_plain(config))
        state = play(config, run, allow=ALLOW)
        flats.append(SnapshotStore(run.snapshots).get(state.candidates["main"].snapshot).arrays["flat"])
    np.testing.assert_allclose(*flats, atol=1e-4)
