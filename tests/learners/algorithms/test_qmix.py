"""QMIX: its mixer, and the game that only a mixer solves."""

import numpy as np
import pytest
import torch
from team_values import CPU, POLICY, SPEC, fixed_sample, shaken

from benchmarks.two_step import earned
from league.policies.layout import initial
from learners.algorithms.qmix import QMIX
from learners.algorithms.qmix_config import QMIXConfig
from learners.algorithms.values import minibatch


def test_the_mixer_never_turns_the_value_of_an_agent_round():
    algorithm, sample = shaken(QMIX, QMIXConfig()), fixed_sample()
    value = torch.randn(5, 3, requires_grad=True)
    algorithm.network.mixer(value, minibatch(sample, np.ones(5, np.float32), CPU).seen).sum().backward()
    assert (value.grad >= 0).all()
    assert (value.grad > 0).any()


def test_the_mixer_goes_on_from_a_checkpoint_and_starts_the_same_from_the_same_weights():
    one, other = (QMIX(QMIXConfig(), POLICY, SPEC, initial(POLICY, SPEC, seed)) for seed in (0, 0))
    torch.testing.assert_close(one.network.state_dict(), other.network.state_dict())
    one = shaken(QMIX, QMIXConfig())
    other.restore(one.state())
    torch.testing.assert_close(one.network.state_dict(), other.network.state_dict())
    torch.testing.assert_close(one.target.state_dict(), other.target.state_dict())


@pytest.mark.slow
def test_only_a_mixer_finds_the_room_in_which_agents_need_each_other():
    assert earned("qmix", seed=0) == 8
    assert earned("vdn", seed=0) == 7
