"""The network of docs/your-network.md trains in a league, alone and from a pretrained encoder, and can be installed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from launch.config.compose import compose
from launch.config.config import ConfigError, bound_settings, from_plain, policies_of, to_plain
from launch.config.env_spec import describe_environment
from league.plugins import PluginError
from league.policies.layout import describe, initial
from league.policies.rehearsal import rehearse
from league.store.run_directory import RunDirectory

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "own_network"
ALLOW = ["own_network", "own_memory"]
RUN = """
import json, sys
import ludus

league = ludus.run([
    "env=tic_tac_toe", "experiment=null", "policy=squares", "policy.kwargs.width=16", "launch=inline", "name=own",
    "league=selfplay", "runs=" + sys.argv[1], "collector.slots=32", "algo.batch=512", "algo.lr=3e-3",
    "algo.minibatch=128", "league.budget.env_steps=20000", "learner.candidate_decisions=4096",
    "league.evaluation.final_games=20",
])
print(json.dumps([league.play("main", "random", episodes=1000).score, league.state.candidate("main").version]))
"""


@pytest.fixture
def on_path(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))


def config_of(*more, network="own_network:Squares"):
    return compose(["env=tic_tac_toe", "experiment=null", f"policy={network}", *more], ALLOW)


def bound_of(config, tmp_path):
    spec = describe_environment(config, RunDirectory(tmp_path).create(), [])
    return bound_settings(config, spec, ALLOW).default.policy, spec


@pytest.mark.parametrize("network", ["own_network:Squares", "own_memory:Recurrent"])
def test_the_networks_of_the_page_keep_the_contract(on_path, tmp_path, network):
    rehearse(*bound_of(config_of(network=network), tmp_path))


def test_a_pretrained_encoder_is_loaded_where_the_first_weights_are_made(on_path, tmp_path):
    file = tmp_path / "encoder.safetensors"
    save_file({"weight": torch.full((32, 2), 0.5), "bias": torch.zeros(32)}, file)
    policy, spec = bound_of(config_of(f"policy.kwargs.encoder={file}"), tmp_path / "run")
    views = describe(policy, spec).views(initial(policy, spec, 0))
    np.testing.assert_array_equal(views["encoder.weight"], np.full((32, 2), 0.5, np.float32))
    file.unlink()
    assert policy.blueprint.module() is not None, "nobody else needs the file"


def test_it_needs_leave_and_its_settings_are_checked(on_path, tmp_path):
    with pytest.raises((ConfigError, PluginError), match="--allow own_network"):
        compose(["env=tic_tac_toe", "policy=own_network:Squares"])
    with pytest.raises(ValueError, match="has no setting 'widht'; did you mean 'width'"):
        describe(*bound_of(config_of("policy.kwargs.widht=3"), tmp_path))


def test_who_does_not_have_the_package_reads_the_config_all_the_same(on_path):
    config = config_of("policy.kwargs.width=8", "+algo.groups.fixed={match: 'encoder.*', lr: 0}")
    plain = json.loads(json.dumps(to_plain(config)))
    assert from_plain(plain) == config
    assert plain["policy"]["kwargs"] == {"width": 8}
    assert plain["algo"]["groups"]["fixed"] == {"match": "encoder.*", "lr": 0.0, "max_grad_norm": None}


def test_a_player_with_a_builtin_network_does_not_inherit_the_settings(on_path):
    config = config_of("policy.kwargs.width=8", "league=selfplay", "league.players.main.policy.name=mlp")
    policies = policies_of(config)
    assert (policies["main"].name, policies["main"].kwargs) == ("mlp", {})
    assert policies["other"].kwargs == {"width": 8}


@pytest.mark.slow
def test_an_installed_package_brings_its_network(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "source")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", tmp_path / "site", tmp_path / "source"], check=True, timeout=100)
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path / 'site'}", **threads}
    said = subprocess.run(
        [sys.executable, "-c", RUN, tmp_path], env=environment, capture_output=True, text=True, check=True, timeout=110
    ).stdout.splitlines()
    score, version = json.loads(said[-1])
    assert score > 0.6, "random play has 0.5; the deviation of 1,000 games is 0.016"
    assert version > 20
