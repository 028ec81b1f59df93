"""Networks of other packages keep the promises of built-in ones with every kind of algorithm.

The tolerance of the probability ratio is 1e-4: actors and learners run the same module, on batches of other sizes.
"""

import numpy as np
import pytest
from bound_networks import bound
from practising import ratio_of

from benchmarks.curves import Practice
from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.native.particles import SimpleSpread
from collectors.envs.native.recall import Recall
from league.policies.layout import describe
from learners.algorithms.config import GroupConfig
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.impala_config import IMPALAConfig
from learners.algorithms.ppo import PPO
from learners.algorithms.ppo_config import PPOConfig
from learners.algorithms.vdn_config import VDNConfig

ALGO = PPOConfig(batch=128, minibatch=64, lr=3e-3, epochs=2)


def units():
    return make_environment(EnvConfig(name="pettingzoo", id="unit_game:UnitGame"), 4, ["unit_game"])


ENVS = {"recall": lambda: Recall(slots=8), "team": lambda: SimpleSpread(slots=4), "units": units}


def practice(network, env="recall", algo=ALGO, **settings):
    made = ENVS[env]()
    return Practice(made, bound(network, made.spec, **settings), algo, ticks=5)


@pytest.mark.parametrize(
    ("network", "env"),
    [("Window", "recall"), ("Window", "team"), ("BatchNormed", "recall"), ("BatchNormed", "team"),
     ("UnitAttention", "units"), ("Window", "units")],
)  # fmt: skip
def test_the_probability_ratio_is_one_until_weights_change(network, env):
    one = practice(network, env)
    for _ in range(2):
        assert one.update()["losses/rollbacks"] == 0
    one.collect()  # lanes with decisions of older weights
    ratio = ratio_of(one).numpy()
    np.testing.assert_allclose(ratio, 1, atol=1e-4)


@pytest.mark.parametrize("network", ["Window", "BatchNormed"])
@pytest.mark.parametrize("algo", [
    ALGO, IMPALAConfig(batch=128), DQNConfig(batch=64, warmup=64, minibatch=32, replay=1000),
], ids=lambda algo: algo.name)  # fmt: skip
def test_every_kind_of_algorithm_trains_it_and_goes_on_from_its_state(network, algo):
    one = practice(network, algo=algo, head=algo.head)
    start = one.algorithm.flat()
    for _ in range(2):
        assert one.update()["losses/rollbacks"] == 0
    layout = describe(one.policy, one.env.spec)
    changed = {name for name, view in layout.views(one.algorithm.flat() - start).items() if view.any()}
    assert {"policy.weight", "policy.bias"} <= changed
    assert ("body.0.running_mean" in changed) == (network == "BatchNormed")
    other = practice(network, algo=algo, head=algo.head)
    other.algorithm.restore(one.algorithm.state())
    np.testing.assert_array_equal(other.algorithm.flat(), one.algorithm.flat())
    if algo is ALGO:
        batch = one.collect()
        for each in (one, other):
            each.algorithm.update(batch, np.random.default_rng(0))
        np.testing.assert_array_equal(other.algorithm.flat(), one.algorithm.flat())


def test_a_team_learns_joint_values_with_it():
    one = practice("BatchNormed", "team", VDNConfig(batch=64, warmup=64, minibatch=32, replay=1000), head="values")
    assert one.update()["losses/rollbacks"] == 0


class Predicting(PPO):
    """Learns to tell from the extra output of the network how strong units are."""

    def auxiliary(self, extras, data):
        strength = data.observation[:, -8:].reshape(-1, 4, 2)[:, :, 0]
        loss = (extras["strength"] - strength).square().mean()
        return 5 * loss, {"losses/strength": loss.detach()}


def test_an_algorithm_uses_extra_outputs_without_touching_the_learner():
    one = practice("UnitAttention", "units")
    one.algorithm = Predicting(ALGO, one.policy, one.env.spec, one.algorithm.flat())
    losses = [one.update()["losses/strength"] for _ in range(12)]
    assert losses[-1] < 0.7 * losses[0]


def test_groups_freeze_and_slow_down_parts_of_a_network():
    groups = {"fixed": GroupConfig(match="encoder.*", lr=0.0), "slow": GroupConfig(match="attention.*", lr=0.1)}
    algo = PPOConfig(batch=128, minibatch=64, lr=3e-3, epochs=1, groups=groups)
    one = practice("Window", algo=algo)
    layout, start = describe(one.policy, one.env.spec), one.algorithm.flat()
    one.update()
    moved = {name: np.abs(view).max() for name, view in layout.views(one.algorithm.flat() - start).items()}
    assert moved["encoder.weight"] == moved["encoder.bias"] == 0
    assert 0 < moved["attention.in_proj_weight"] < 0.3 * moved["policy.weight"]


def test_parameters_without_a_gradient_of_their_own_stay(monkeypatch):
    import foreign_networks

    class Fixed(foreign_networks.Window):
        def __init__(self, config, shape):
            super().__init__(config, shape)
            self.encoder.requires_grad_(False)

    monkeypatch.setattr(foreign_networks, "Window", Fixed)
    one = practice("Window")
    layout, start = describe(one.policy, one.env.spec), one.algorithm.flat()
    one.update()
    moved = {name for name, view in layout.views(one.algorithm.flat() - start).items() if view.any()}
    assert "encoder.weight" not in moved
    assert "policy.weight" in moved
