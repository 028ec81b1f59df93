from dataclasses import asdict, replace

import numpy as np
import pytest

from learners.algorithms.ppo import PPO
from learners.algorithms.ppo_config import PPOConfig
from learners.checkpoint import Checkpoint, CheckpointError, load, save


@pytest.fixture
def checkpoint(spec, policy, fresh):
    rng = np.random.default_rng(7)
    rng.random(3)
    return Checkpoint(
        player="hero",
        incarnation=2,
        version=17,
        decisions=123_456,
        candidate="ab" * 32,
        algorithm="PPO",
        policy=asdict(policy),
        signature=spec.signature,
        rng=rng.bit_generator.state,
        arrays=PPO(PPOConfig(), policy, spec, fresh).state(),
    )


def test_what_was_saved_is_loaded(tmp_path, checkpoint):
    path = tmp_path / "deep" / "hero.safetensors"
    save(path, checkpoint)
    loaded = load(path)
    assert replace(loaded, arrays={}) == replace(checkpoint, arrays={})
    assert loaded.arrays.keys() == checkpoint.arrays.keys()
    for name, array in checkpoint.arrays.items():
        np.testing.assert_array_equal(loaded.arrays[name], array)
        assert (loaded.arrays[name].dtype, loaded.arrays[name].shape) == (array.dtype, array.shape)
    rng, same = np.random.default_rng(), np.random.default_rng()
    rng.bit_generator.state, same.bit_generator.state = loaded.rng, checkpoint.rng
    assert rng.random() == same.random()


def test_no_file_is_no_checkpoint(tmp_path):
    assert load(tmp_path / "none.safetensors") is None


def test_a_newer_checkpoint_replaces_the_older(tmp_path, checkpoint):
    path = tmp_path / "hero.safetensors"
    save(path, checkpoint)
    save(path, replace(checkpoint, version=18))
    assert load(path).version == 18
    assert list(tmp_path.iterdir()) == [path]


def test_every_flipped_bit_and_every_torn_file_is_found(tmp_path, checkpoint):
    path = tmp_path / "hero.safetensors"
    save(path, checkpoint)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(data) * 8, 100).tolist():
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(CheckpointError, match="Restore it from a copy"):
            load(path)
    for length in (0, 5, 100, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(CheckpointError, match="Restore it from a copy"):
            load(path)


def test_another_algorithm_policy_or_environment_is_refused(checkpoint, spec, policy):
    right = {"algorithm": "PPO", "policy": asdict(policy), "signature": spec.signature}
    checkpoint.refuse_other(**right)
    for wrong in ({"algorithm": "DQN"}, {"policy": asdict(policy) | {"hidden": [9]}}, {"signature": "0" * 16}):
        with pytest.raises(CheckpointError, match="Resume with the config of the run"):
            checkpoint.refuse_other(**right | wrong)


def test_fields_that_came_later_are_read_as_their_defaults(checkpoint, spec, policy):
    asked = {"algorithm": "PPO", "signature": spec.signature}
    older = replace(checkpoint, policy={"name": policy.name, "hidden": policy.hidden, "activation": policy.activation})
    older.refuse_other(policy=asdict(policy), **asked)
    with pytest.raises(CheckpointError, match=r"under policy.memory none, but the config says gru. Resume with"):
        older.refuse_other(policy=asdict(policy) | {"memory": "gru"}, **asked)
    newer = replace(checkpoint, policy=asdict(policy) | {"attention": 8})
    with pytest.raises(CheckpointError, match=r"unknown fields \['attention'\].* Restore it from a copy"):
        newer.refuse_other(policy=asdict(policy), **asked)
