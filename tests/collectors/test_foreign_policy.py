"""The example for weights of other projects: a player like any other."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from collectors.envs.config import EnvConfig, make_environment

PATH = Path(__file__).parents[2] / "examples" / "foreign_policy.py"


@pytest.fixture(scope="module")
def example():
    found = importlib.util.spec_from_file_location("foreign_policy", PATH)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def weights(tmp_path):
    """A network without hidden layers that likes the centre of the board best."""
    path = tmp_path / "w.npz"
    bias = np.zeros(9, np.float32)
    bias[4] = 50.0
    np.savez(path, w0=np.zeros((18, 9), np.float32), b0=bias)
    return path


def test_it_plays_by_its_weights_within_the_mask(example, weights):
    spec = make_environment(EnvConfig(name="tic_tac_toe"), 1).spec
    player = example.ForeignPolicy(spec, weights)
    seen, mask = np.zeros((40, 3, 3, 2), np.float32), np.ones((40, 9), bool)
    actions, log_probs = player.act(seen, mask, np.random.default_rng(1))
    assert set(actions.tolist()) == {4}
    assert log_probs == pytest.approx(0.0, abs=1e-6)
    mask[:, 4] = False
    actions, log_probs = player.act(seen, mask, np.random.default_rng(1))
    assert 4 not in actions
    assert len(set(actions.tolist())) == 8
    assert log_probs == pytest.approx(np.log(1 / 8), abs=1e-5)


def test_weights_of_another_game_are_refused(example, weights):
    spec = make_environment(EnvConfig(name="connect_four"), 1).spec
    with pytest.raises(ValueError, match="from 18 numbers to 9 actions, but connect_four has 84 and 7"):
        example.ForeignPolicy(spec, weights)
