"""The layout of a network: a flat vector, its initial values, and configs that are refused."""

from dataclasses import asdict

import numpy as np
import pytest
from board_spec import board

from league.policies.layout import PolicyConfig, board_patches, describe, initial, policy_from


def test_initial_weights_are_orthogonal_with_their_gains():
    config, spec = PolicyConfig(hidden=[32, 16]), board()
    views = describe(config, spec).views(initial(config, spec, seed=3))
    hidden, policy, value = views["hidden_0.weight"], views["policy.weight"], views["value.weight"]
    np.testing.assert_allclose(hidden @ hidden.T, 2 * np.eye(32), atol=1e-5)
    np.testing.assert_allclose(policy @ policy.T, 1e-4 * np.eye(7), atol=1e-8)
    np.testing.assert_allclose(value @ value.T, np.eye(1), atol=1e-5)
    assert all(not view.any() for name, view in views.items() if name.endswith("bias"))


@pytest.mark.parametrize("head", ["atoms", "quantiles"])
def test_all_numbers_of_a_distribution_begin_alike(head):
    config, spec = PolicyConfig(head=head, atoms=5), board()
    assert not describe(config, spec).views(initial(config, spec, seed=3))["policy.bias"].any()


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
