"""The settings of PPO: rates that are annealed, and values that are refused."""

import pytest

from learners.algorithms.ppo_config import PPOConfig


def test_learning_rate_and_entropy_are_annealed():
    config = PPOConfig(
        lr=1e-3, lr_schedule="linear", lr_final=0.1, entropy=0.04, entropy_final=0.01, anneal_decisions=100
    )
    assert config.learning_rate(0) == pytest.approx(1e-3)
    assert config.learning_rate(50) == pytest.approx(5.5e-4)
    assert config.learning_rate(1000) == pytest.approx(1e-4)
    assert [config.entropy_coef(n) for n in (0, 50, 1000)] == pytest.approx([0.04, 0.025, 0.01])


def test_without_a_number_of_decisions_they_are_annealed_over_the_budget():
    config = PPOConfig(lr=1e-3, lr_schedule="linear", lr_final=0.1, entropy=0.04, entropy_final=0.01)
    assert [config.learning_rate(10**9, spent) for spent in (0, 0.5, 1)] == pytest.approx([1e-3, 5.5e-4, 1e-4])
    assert [config.entropy_coef(10**9, spent) for spent in (0, 0.5, 1)] == pytest.approx([0.04, 0.025, 0.01])


def test_constant_by_default():
    assert PPOConfig().learning_rate(10**9) == PPOConfig().lr
    assert PPOConfig().entropy_coef(10**9) == PPOConfig().entropy


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lr_schedule": "cosine"}, "Known: constant, linear"),
        ({"anneal_decisions": -1}, "anneal_decisions at least 0"),
        ({"epochs": 0}, "at least 1"),
        ({"gae_lambda": 1.5}, "between 0 and 1"),
        ({"clip": 0.0}, r"algo\.clip must be positive"),
        ({"target_kl": -1.0}, r"algo\.target_kl must be positive"),
    ],
)
def test_a_wrong_config_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        PPOConfig(**wrong)


def test_an_update_goes_through_minibatches_in_epochs():
    assert PPOConfig(epochs=3, minibatch=64).passes == (3, 64)
    assert (PPOConfig().max_kl, PPOConfig(target_kl=0.02).max_kl) == (None, 0.02)
