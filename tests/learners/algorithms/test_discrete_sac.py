"""Discrete SAC: its losses against slow loops written from the paper; illegal options count for nothing."""

import math
from dataclasses import replace

import numpy as np
import off_policy_papers as papers
import pytest
import torch
from off_policy_papers import CHOICE, decisions, small
from small_dqn import batch_of

from league.policies.layout import PolicyConfig, initial
from learners.algorithms.discrete_sac_config import DiscreteSACConfig


@pytest.mark.parametrize("share", [0.4, None])
def test_the_loss_is_that_of_the_paper(share):
    algorithm, data = small(DiscreteSACConfig(temperature=0.3, target_entropy=share), CHOICE), decisions(CHOICE)
    log_temperature = float(algorithm.network.log_temperature.detach())
    temperature = math.exp(log_temperature)
    critic, policy, entropy, aim = papers.discrete_sac(algorithm, data, temperature, share or 0.0)
    found = algorithm.loss(data)
    tuning = 0.0 if share is None else log_temperature * (entropy - aim)
    assert float(found.metrics["losses/critic_loss"]) == pytest.approx(critic, rel=1e-4)
    assert float(found.metrics["losses/policy_loss"]) == pytest.approx(policy, rel=1e-4)
    assert float(found.metrics["losses/entropy"]) == pytest.approx(entropy, rel=1e-4)
    assert float(found.loss.detach()) == pytest.approx(critic + policy + tuning, rel=1e-4)


def test_values_of_illegal_options_count_for_nothing():
    algorithm, data = small(DiscreteSACConfig(), CHOICE), decisions(CHOICE)
    found = float(algorithm.loss(data).loss.detach())
    critics = [algorithm.network.critics, algorithm.target.critics]
    for critic, seen in zip(critics, (data.seen, data.after), strict=True):
        critic.register_forward_hook(lambda _, __, value, mask=seen["mask"]: value.masked_fill(~mask, 1e6))
    assert float(algorithm.loss(data).loss.detach()) == pytest.approx(found, rel=1e-5)


def test_it_learns_which_action_pays(hints, spec):
    policy = PolicyConfig(hidden=[16], activation="relu", critic="none")
    config = DiscreteSACConfig(
        batch=32, minibatch=32, replay=512, warmup=32, samples_per_insert=16.0, lr=1e-2, target_entropy=0.1
    )
    from learners.algorithms.discrete_sac import DiscreteSAC

    algorithm, rng = DiscreteSAC(config, policy, spec, initial(policy, spec, 0)), np.random.default_rng(0)
    for seed in range(25):
        metrics = algorithm.update(batch_of(hints(seed)), rng)
    assert metrics["reuse"] == pytest.approx(16, rel=0.1)
    assert metrics["replay"] == 512
    seen = replace(algorithm.observed(decisions(spec).seen), observation=torch.eye(4), mask=torch.ones(4, 4).bool())
    with torch.no_grad():
        chance = algorithm.network.policy(seen, seen.mask)[0].log_probs.exp()
    assert float(chance.diagonal().min()) > 0.7


def test_a_share_of_entropy_beyond_one_is_refused():
    with pytest.raises(ValueError, match="target_entropy"):
        DiscreteSACConfig(target_entropy=1.5)
