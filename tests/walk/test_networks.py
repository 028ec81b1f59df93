"""Strangers' networks in a league: each trains, freezes, resets and resumes, and the same seed gives the same league."""

import numpy as np
import pytest

from launch.config.compose import compose
from launch.config.config import to_plain
from launch.config.env_spec import read_spec
from launch.processes.inline import play
from launch.verify.verify import verify
from league.policies.layout import describe
from league.policies.network_actor import actor_from_snapshot
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


def start(tmp_path, network, steps, *more):
    config = compose([*SMALL, f"policy=foreign_networks:{network}", f"league.budget.env_steps={steps}", *more], ALLOW)
    run = RunDirectory(tmp_path).create()
    run.write_config(to_plain(config))
    return config, run


@pytest.mark.parametrize("network", ["UnitAttention", "Window", "BatchNormed"])
def test_a_network_of_a_stranger_goes_all_the_way_round(tmp_path, network):
    config, run = start(tmp_path / "first", network, 3000)
    state = play(config, run, allow=ALLOW)
    assert state.voids == 0
    assert len(state.population.frozen_of("main")) >= 1
    assert any(state.incarnations[player.id] for player in state.population.learning()), "nobody was reset"
    before = {player: candidate.version for player, candidate in state.candidates.items()}

    config, run = start(tmp_path / "first", network, 4000)
    state = play(config, run, allow=ALLOW)
    assert state.candidates["main"].version > before["main"], "it resumed"

    store, spec = SnapshotStore(run.snapshots), read_spec(run)
    found = store.get(state.candidates["main"].snapshot)
    actor = actor_from_snapshot(found.arrays, found.manifest, spec, allow=ALLOW)
    assert actor.foreign
    assert np.isfinite(actor.outputs(np.zeros((3, *spec.observation.shape), np.float32))).all()
