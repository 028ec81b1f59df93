import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pytest

from league.policies.layout import PolicyConfig, board_patches, describe, initial, policy_from
from league.policies.numpy_actor import NumpyActor
from league.spec import Array, EnvSpec, Seat


def board(shape=(6, 7, 2), dtype="int8", actions=7) -> EnvSpec:
    return EnvSpec(
        name="board",
        agents=("a", "b"),
        seats=(Seat(agents=(0,)), Seat(agents=(1,))),
        observation=Array(shape=shape, dtype=dtype),
        actions=actions,
    )


@dataclass(frozen=True)
class Paper:
    policy: dict[str, Any]
    signature: str


def test_acting_needs_no_torch():
    program = "import sys, league.policies.numpy_actor; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_initial_weights_are_orthogonal_with_their_gains():
    config, spec = PolicyConfig(hidden=[32, 16]), board()
    views = describe(config, spec).views(initial(config, spec, seed=3))
    hidden, policy, value = views["hidden_0.weight"], views["policy.weight"], views["value.weight"]
    np.testing.assert_allclose(hidden @ hidden.T, 2 * np.eye(32), atol=1e-5)
    np.testing.assert_allclose(policy @ policy.T, 1e-4 * np.eye(7), atol=1e-8)
    np.testing.assert_allclose(value @ value.T, np.eye(1), atol=1e-5)
    assert all(not view.any() for name, view in views.items() if name.endswith("bias"))


def test_initial_weights_depend_on_the_seed_only():
    config, spec = PolicyConfig(name="board_conv"), board()
    assert np.array_equal(initial(config, spec, 1), initial(config, spec, 1))
    assert not np.array_equal(initial(config, spec, 1), initial(config, spec, 2))


def test_layout_fills_the_flat_vector_exactly():
    layout = describe(PolicyConfig(name="board_conv", hidden=[8], channels=3), board())
    flat = np.zeros(layout.size, dtype=np.float32)
    for view in layout.views(flat).values():
        assert not view.any()
        view[:] = 1
    assert flat.all()


def test_weights_of_another_size_are_refused():
    with pytest.raises(ValueError, match="another policy config or environment"):
        NumpyActor(PolicyConfig(), board(), np.zeros(5, dtype=np.float32))


def test_convolution_equals_the_slow_definition():
    spec, config = (
        board((5, 4, 2), "float32"),
        PolicyConfig(name="board_conv", hidden=[], kernel=[3, 2], channels=3),
    )
    rng = np.random.default_rng(0)
    flat = rng.standard_normal(describe(config, spec).size).astype(np.float32)
    views = describe(config, spec).views(flat)
    seen = rng.standard_normal((4, 5, 4, 2)).astype(np.float32)
    expected = []
    for picture in seen:
        kernel = views["conv.weight"].reshape(3, 3, 2, 2)
        places = [(picture[r : r + 3, c : c + 2], kernel) for r in range(3) for c in range(3)]
        features = [max(0, (p * k[ch]).sum() + views["conv.bias"][ch]) for p, k in places for ch in range(3)]
        features = np.concatenate([features, picture.ravel()])
        expected.append(views["policy.weight"] @ features + views["policy.bias"])
    np.testing.assert_allclose(NumpyActor(config, spec, flat).outputs(seen), expected, atol=1e-4)


@pytest.mark.parametrize("shape", [(84,), (7, 6, 2, 1)])
def test_board_conv_refuses_what_is_no_board(shape):
    with pytest.raises(ValueError, match=r"policy\.name=mlp"):
        describe(PolicyConfig(name="board_conv"), board(shape))


def test_board_conv_refuses_a_kernel_larger_than_the_board():
    with pytest.raises(ValueError, match=r"policy\.kernel smaller"):
        board_patches((3, 3, 2), [4, 4])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "transformer"}, "Known: mlp, board_conv"),
        ({"activation": "gelu"}, "Known: tanh, relu"),
        ({"hidden": [0]}, "must be positive"),
        ({"kernel": [4]}, "height and a width"),
    ],
)
def test_a_wrong_config_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        PolicyConfig(**wrong)


def test_a_plain_dict_becomes_the_config_it_was():
    config = PolicyConfig(name="board_conv", hidden=[16], kernel=[2, 2])
    assert policy_from(asdict(config)) == config
    with pytest.raises(ValueError, match="another version"):
        policy_from({"name": "mlp", "layers": 3})


def test_a_snapshot_refuses_another_environment_and_names_both_signatures():
    config, spec, other = PolicyConfig(), board(), board((3, 3, 2), actions=9)
    flat = initial(config, spec, 0)
    paper = Paper(asdict(config), spec.signature)
    actor = NumpyActor.from_snapshot({"flat": flat}, paper, spec)
    seen = np.ones((2, 6, 7, 2), dtype=np.int8)
    np.testing.assert_array_equal(actor.outputs(seen), NumpyActor(config, spec, flat).outputs(seen))
    with pytest.raises(ValueError, match=f"{spec.signature}.*{other.signature}"):
        NumpyActor.from_snapshot({"flat": flat}, paper, other)
    with pytest.raises(ValueError, match="no policy"):
        NumpyActor.from_snapshot({}, paper, spec)
