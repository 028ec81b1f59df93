"""The settings of one learning player."""

from league.policies.layout import PolicyConfig
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.algorithms.qmix_config import QMIXConfig
from learners.player_settings import PlayerSettings


def test_players_with_a_replay_are_those_whose_algorithm_learns_values():
    values = PolicyConfig(head="values")
    assert not PlayerSettings(PolicyConfig(), PPOConfig()).replays
    assert PlayerSettings(values, DQNConfig()).replays
    assert PlayerSettings(values, QMIXConfig()).replays
