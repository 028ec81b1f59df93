"""Off-policy actor-critics learn from real play: the parts of collectors and learners together, without a league."""

import numpy as np
import pytest
from point_game import PointGame

from benchmarks.curves import Practice
from benchmarks.scoring import score_against
from collectors.envs.native.tic_tac_toe import TicTacToe
from league.policies.layout import PolicyConfig
from learners.algorithms.ddpg_config import DDPGConfig
from learners.algorithms.discrete_sac_config import DiscreteSACConfig
from learners.algorithms.sac_config import SACConfig
from learners.algorithms.td3_config import TD3Config

SMALL = {
    "batch": 128,
    "minibatch": 64,
    "warmup": 128,
    "samples_per_insert": 16.0,
    "lr": 3e-3,
    "gamma": 0.9,
    "tau": 0.02,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "algo",
    [
        DDPGConfig(**SMALL, noise_decisions=500),
        TD3Config(**SMALL, noise_decisions=500),
        SACConfig(**SMALL, temperature=0.1),
    ],
    ids=lambda algo: algo.name,
)
def test_each_learns_to_reach_a_goal(algo):
    """A point that stands still returns about -5.3; one that runs to the goal about -0.6."""
    deviation = "state" if algo.head == "logits" else "constant"
    policy = PolicyConfig(hidden=[32], activation="relu", critic="none", head=algo.head, deviation=deviation)
    practice = Practice(PointGame(), policy, algo, seed=1, ticks=8)
    practice.until(2000)
    before, after = np.mean(practice.returns[:32]), practice.evaluate(practice.algorithm.flat())
    assert before < -3.5
    assert after > -1.6


@pytest.mark.slow
def test_discrete_sac_learns_tic_tac_toe_by_playing_itself():
    """The next state of an agent is that of its own next decision; occupied squares are masked."""
    policy = PolicyConfig(hidden=[64], activation="relu", critic="none")
    algo = DiscreteSACConfig(batch=512, minibatch=256, warmup=512, samples_per_insert=16.0, lr=1e-3, target_entropy=0.2)
    practice = Practice(TicTacToe(slots=64), policy, algo, ticks=8).until(16_000)
    score = score_against("random", TicTacToe(slots=64), practice.policy, practice.algorithm.flat(), 500)
    assert score > 0.7
