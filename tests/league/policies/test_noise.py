"""Noisy layers: the noise of the paper, the same in numpy and torch, fresh in each row, and none when frozen."""

import numpy as np
import pytest
import torch

from league.policies.flat_policy import Observed
from league.policies.layout import NOISE, PolicyConfig, describe, initial
from league.policies.module_policy import make_policy
from league.policies.network_actor import make_actor
from league.policies.noise import sample_noise
from league.spec import Array, EnvSpec, Seat

SPEC = EnvSpec(name="toy", agents=("a",), seats=(Seat((0,)),), observation=Array((5,), "float32"), actions=3)
IMAGE = EnvSpec(name="toy", agents=("a",), seats=(Seat((0,)),), observation=Array((8, 8, 1), "uint8"), actions=3)
PLAIN = PolicyConfig(hidden=[6, 7], head="values", noisy=0.5)
POLICIES = [
    (PLAIN, SPEC),
    (PolicyConfig(hidden=[6], head="atoms", atoms=4, duelling=True, noisy=0.5, activation="relu"), SPEC),
    (PolicyConfig(hidden=[6], head="quantiles", atoms=4, noisy=0.5), SPEC),
    (PolicyConfig(hidden=[6], head="values", memory="gru", memory_size=4, noisy=0.5), SPEC),
    (PolicyConfig(name="cnn", hidden=[6], head="atoms", atoms=3, duelling=True, noisy=0.5, agent_id=True), IMAGE),
]
IDS = ["mlp", "atoms", "quantiles", "gru", "cnn"]


def shaken(policy, spec, seed=0):
    size = describe(policy, spec).size
    return (np.random.default_rng(seed).standard_normal(size) * 0.3).astype(np.float32)


def rows_of(spec, rows=9):
    return np.random.default_rng(1).integers(0, 3, (rows, *spec.observation.shape)).astype(spec.observation.dtype)


def test_noise_is_factorised_gaussian():
    noise = sample_noise(describe(PLAIN, SPEC), 4000, np.random.default_rng(0))
    assert {name: (n.inputs.shape, n.outputs.shape) for name, n in noise.items()} == {
        "hidden_1": ((4000, 6), (4000, 7)),
        "policy": ((4000, 7), (4000, 3)),
        "value": ((4000, 7), (4000, 1)),
    }
    normal = np.sign(noise["policy"].inputs) * noise["policy"].inputs ** 2  # f(z) = sign(z) sqrt(|z|), undone
    assert abs(normal.mean()) < 0.03
    assert abs(normal.std() - 1) < 0.03


def test_initial_noise_is_that_of_the_paper():
    views = describe(PLAIN, SPEC).views(initial(PLAIN, SPEC, 0))
    np.testing.assert_allclose(views[f"hidden_1{NOISE}.weight"], 0.5 / np.sqrt(6), rtol=1e-6)
    np.testing.assert_allclose(views[f"hidden_1{NOISE}.bias"], 0.5 / np.sqrt(6), rtol=1e-6)


def test_a_noisy_layer_adds_the_product_of_both_factors_to_each_weight():
    """Fortunato et al. 2018, equations 9 to 11, weight by weight."""
    policy, rng = PLAIN, np.random.default_rng(0)
    flat, x = shaken(policy, SPEC), rows_of(SPEC, 1)
    views = {name: view.astype(float) for name, view in describe(policy, SPEC).views(flat).items()}
    noise = sample_noise(describe(policy, SPEC), 1, np.random.default_rng(3))
    y = np.tanh(views["hidden_0.weight"] @ x[0] + views["hidden_0.bias"])  # the encoder has none
    for name in ("hidden_1", "policy"):
        (e_in,), (e_out,) = noise[name]
        weight, bias = views[f"{name}.weight"].copy(), views[f"{name}.bias"].copy()
        for i in range(len(weight)):
            for j in range(weight.shape[1]):
                weight[i, j] += views[f"{name}{NOISE}.weight"][i, j] * e_out[i] * e_in[j]
            bias[i] += views[f"{name}{NOISE}.bias"][i] * e_out[i]
        y = weight @ y + bias
        y = np.tanh(y) if name == "hidden_1" else y
    found = make_actor(policy, SPEC, flat).explore(x, np.random.default_rng(3))
    np.testing.assert_allclose(found[0], y, rtol=1e-4, atol=1e-5)
    assert np.abs(make_actor(policy, SPEC, flat).explore(x, rng) - y).max() > 1e-3


@pytest.mark.parametrize(("policy", "spec"), POLICIES, ids=IDS)
def test_numpy_and_torch_explore_alike(policy, spec):
    flat, seen = shaken(policy, spec), rows_of(spec)
    found = [
        make_actor(policy, spec, flat, act_in=act_in).explore(seen, np.random.default_rng(2), np.zeros(9, np.intp))
        for act_in in ("numpy", "torch")
    ]
    np.testing.assert_allclose(*found, rtol=2e-4, atol=2e-5)
    quiet = [make_actor(policy, spec, flat, act_in=act_in).outputs(seen) for act_in in ("numpy", "torch")]
    np.testing.assert_allclose(*quiet, rtol=2e-4, atol=2e-5)
    assert np.abs(found[0] - quiet[0]).max() > 1e-3


@pytest.mark.parametrize("act_in", ["numpy", "torch"])
@pytest.mark.parametrize(("policy", "spec"), POLICIES, ids=IDS)
def test_each_row_has_noise_of_its_own_and_a_frozen_player_none(policy, spec, act_in):
    flat, seen, rng = shaken(policy, spec), np.repeat(rows_of(spec, 1), 5, axis=0), np.random.default_rng(0)
    live = make_actor(policy, spec, flat, act_in=act_in).explore(seen, rng, np.zeros(5, np.intp))
    assert len(np.unique(live[:, 0])) == 5
    frozen = make_actor(policy, spec, flat, frozen=True, act_in=act_in)
    np.testing.assert_array_equal(frozen.explore(seen, rng), frozen.outputs(seen))
    assert np.ptp(frozen.outputs(seen), axis=0).max() < 1e-5


def test_a_trained_network_has_the_noise_that_was_sampled():
    policy = make_policy(PLAIN, SPEC)
    policy.write(shaken(PLAIN, SPEC))
    seen = Observed(torch.from_numpy(rows_of(SPEC)))
    quiet = policy.outputs(seen)[0]
    policy.sample_noise(np.random.default_rng(0))
    noisy = policy.outputs(seen)[0]
    noisy.sum().backward()
    gradient = describe(PLAIN, SPEC).views(policy.flat.grad.numpy())
    assert all(np.abs(gradient[f"{layer}{NOISE}.weight"]).max() > 0 for layer in ("hidden_1", "policy"))
    assert not torch.allclose(noisy, quiet)
    policy.drop_noise()
    torch.testing.assert_close(policy.outputs(seen)[0], quiet)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"noisy": 0.5}, "needs values of options"),
        ({"noisy": -1.0, "head": "values"}, "must not be negative"),
        ({"noisy": 0.5, "head": "values", "name": "structured"}, "only the networks mlp, board_conv, cnn, resnet have"),
        ({"head": "atoms", "name": "entities"}, "only the networks mlp, board_conv, cnn, resnet have"),
        ({"head": "atoms", "atoms": 1}, "atoms 1 must be 2 to 1000"),
        ({"head": "atoms", "support": [1.0, 1.0]}, "the lowest and the highest return"),
        ({"head": "values", "duelling": True}, "policy.duelling needs policy.head=atoms or quantiles"),
        ({"head": "atoms", "duelling": True, "critic": "central"}, "policy.critic=shared"),
    ],
)
def test_networks_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PolicyConfig(**settings)
