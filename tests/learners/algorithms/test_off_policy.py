"""What off-policy actor-critics share: critics stay in the learner, targets follow, settings are refused."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from off_policy_papers import REACH, decisions, policy_for, small

from league.policies.layout import describe
from learners.algorithms.ddpg_config import DDPGConfig
from learners.algorithms.off_policy_config import OffPolicyConfig
from learners.algorithms.sac_config import SACConfig
from learners.algorithms.td3_config import TD3Config

CONFIGS = [DDPGConfig(), TD3Config(), SACConfig()]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_players_get_the_policy_and_the_checkpoint_the_critics_too(config):
    algorithm = small(config, REACH)
    layout = describe(policy_for(config), REACH)
    assert algorithm.flat().size == layout.size
    assert not any(name.startswith(("value", "critic")) for name in layout.shapes)
    state = algorithm.state()
    critics = [name for name in state if name.startswith("network.critics")]
    assert len(critics) == 4
    assert {f"target.{name.removeprefix('network.')}" for name in critics} <= state.keys()
    assert ("network.log_temperature" in state) == isinstance(config, SACConfig)


def test_targets_follow_by_a_share():
    algorithm = small(TD3Config(tau=0.25), REACH)
    before = [parameter.clone() for parameter in algorithm.target.parameters()]
    algorithm._follow()
    for old, new, ahead in zip(before, algorithm.target.parameters(), algorithm.network.parameters(), strict=True):
        torch.testing.assert_close(new, old + 0.25 * (ahead.detach() - old))


def test_policy_and_critics_are_clipped_apart():
    algorithm, data = small(SACConfig(max_grad_norm=0.01), REACH), decisions(REACH)
    loss = algorithm.loss(data).loss
    loss.backward()
    temperature = float(algorithm.network.log_temperature.grad)
    assert algorithm._clip_gradient(loss.detach())
    critics = torch.cat([parameter.grad.reshape(-1) for parameter in algorithm.network.critics.parameters()])
    assert float(critics.norm()) == pytest.approx(0.01, rel=1e-3)
    assert float(algorithm.network.policy.flat.grad.norm()) == pytest.approx(0.01, rel=1e-3)
    assert float(algorithm.network.log_temperature.grad) == temperature


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_gradient_that_is_not_finite_is_no_step(wrong):
    algorithm, data = small(SACConfig(), REACH), decisions(REACH)
    data.reward[2] = wrong
    loss = algorithm.loss(data).loss
    loss.backward()
    assert not algorithm._clip_gradient(loss.detach())


def test_what_does_not_fit_is_refused():
    for policy, needed in (
        (replace(policy_for(SACConfig()), memory="gru"), "policy.memory=none"),
        (replace(policy_for(SACConfig()), name="structured", critic="shared"), "cannot train the network structured"),
        (policy_for(TD3Config()), "policy.head=logits"),
    ):
        with pytest.raises(ValueError, match=needed):
            SACConfig().refuse(policy)
    with pytest.raises(ValueError, match="tau"):
        OffPolicyConfig(tau=0.0)
