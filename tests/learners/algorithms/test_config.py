"""The settings of algorithms: wrong ones are refused, rates are annealed."""

import pytest
from small_dqn import POLICY

from league.policies.layout import PolicyConfig, initial
from learners.algorithms.a2c_config import A2CConfig
from learners.algorithms.algorithm import make_algorithm
from learners.algorithms.appo_config import APPOConfig
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.impala_config import IMPALAConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.algorithms.vdn_config import VDNConfig


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: APPOConfig(c_max=2.0),
        lambda: IMPALAConfig(c_max=0.0),
        lambda: IMPALAConfig(minibatch=0),
        lambda: A2CConfig(accumulate=0),
        lambda: A2CConfig(batch=0),
        lambda: IMPALAConfig(entropy_final=-1.0),
    ],
)
def test_wrong_configs_are_refused(wrong):
    with pytest.raises(ValueError, match="algo"):
        wrong()


@pytest.mark.parametrize(
    ("algo", "policy", "message"),
    [
        (DQNConfig(), PolicyConfig(), "algo=dqn needs policy.head=values"),
        (PPOConfig(), POLICY, "algo=ppo needs policy.head=logits"),
        (VDNConfig(), PolicyConfig(head="values", memory="gru"), "policy.memory=none"),
    ],
)
def test_networks_that_do_not_fit_are_refused(spec, algo, policy, message):
    with pytest.raises(ValueError, match=message):
        make_algorithm(algo, policy, spec, initial(policy, spec, 0))
