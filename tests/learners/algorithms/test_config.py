"""The settings of algorithms: wrong ones are refused, rates are annealed."""

import pytest
from small_dqn import POLICY

from league.plugins import load
from league.policies.layout import PolicyConfig, initial
from learners.algorithms.a2c_config import A2CConfig
from learners.algorithms.algorithm import make_algorithm
from learners.algorithms.appo_config import APPOConfig
from learners.algorithms.ddpg_config import DDPGConfig
from learners.algorithms.discrete_sac_config import DiscreteSACConfig
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.impala_config import IMPALAConfig
from learners.algorithms.mmd_config import MMDConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.algorithms.qmix_config import QMIXConfig
from learners.algorithms.rnad_config import RNADConfig
from learners.algorithms.sac_config import SACConfig
from learners.algorithms.td3_config import TD3Config
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
        lambda: IMPALAConfig(vtrace_lambda=1.5),
        lambda: A2CConfig(gae_lambda=-0.1),
        lambda: DQNConfig(burn_in=-1),
        lambda: DQNConfig(peak=1.5),
        lambda: VDNConfig(n_step=0),
        lambda: QMIXConfig(mixer_units=0),
        lambda: QMIXConfig(mixer_hidden=0),
        lambda: PPOConfig(magnet="uniform", magnet_coef=-1.0),
        lambda: PPOConfig(magnet="copy", magnet_every=0),
        lambda: PPOConfig(magnet_coef=0.1),
        lambda: MMDConfig(step_size=0.0),
        lambda: MMDConfig(gae_lambda=2.0),
        lambda: RNADConfig(eta=-0.1),
        lambda: RNADConfig(magnet="none"),
    ],
)
def test_wrong_configs_are_refused(wrong):
    with pytest.raises(ValueError, match="algo"):
        wrong()


KINDS = [A2CConfig, APPOConfig, DQNConfig, IMPALAConfig, MMDConfig, PPOConfig, QMIXConfig, RNADConfig, VDNConfig]
KINDS += [DDPGConfig, DiscreteSACConfig, SACConfig, TD3Config]


@pytest.mark.parametrize("kind", KINDS)
def test_a_config_names_its_algorithm(kind):
    name = kind().name
    made = kind.__name__.removesuffix("Config")
    assert made.lower() == name.replace("_", "")
    assert kind.algorithm == f"learners.algorithms.{name}:{made}"
    assert load(kind.algorithm).__name__ == made


@pytest.mark.parametrize(
    ("algo", "policy", "message"),
    [
        (DQNConfig(), PolicyConfig(), "algo=dqn needs policy.head=values"),
        (PPOConfig(), POLICY, "algo=ppo needs policy.head=logits"),
        (PPOConfig(), PolicyConfig(critic="none"), "algo=ppo needs policy.critic=shared, not none"),
        (DiscreteSACConfig(), PolicyConfig(), "algo=discrete_sac needs policy.critic=none"),
        (DiscreteSACConfig(), PolicyConfig(critic="none", normalise=True), "policy.normalise=false"),
        (VDNConfig(), PolicyConfig(head="values", memory="gru"), "policy.memory=none"),
    ],
)
def test_networks_that_do_not_fit_are_refused(spec, algo, policy, message):
    with pytest.raises(ValueError, match=message):
        make_algorithm(algo, policy, spec, initial(policy, spec, 0))


def test_the_pull_of_a_magnet_is_annealed_between_two_values():
    config = PPOConfig(magnet="uniform", magnet_coef=0.2, magnet_final=0.05, anneal_decisions=100)
    assert [config.magnet_weight(decisions) for decisions in (0, 50, 100, 999)] == pytest.approx(
        [0.2, 0.125, 0.05, 0.05]
    )
    assert config.anneals == "magnet_final=0.05"
    assert PPOConfig(magnet="uniform", magnet_coef=0.2).magnet_weight(10**9) == 0.2
    over_budget = MMDConfig(magnet_coef=0.2, magnet_final=0.0, lr=1e-3, lr_schedule="linear", lr_final=0.05)
    assert over_budget.magnet_weight(0, spent=0.5) == pytest.approx(0.1)
    assert over_budget.learning_rate(0, spent=1.0) == pytest.approx(5e-5)
