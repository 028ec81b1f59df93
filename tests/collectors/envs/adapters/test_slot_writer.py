"""What slots write: the state of the whole, and rewards of agents that never act."""

import numpy as np
import pytest
from driving import begin, lowest, open_env, play

from collectors.envs.config import EnvError


def test_state_is_carried_if_asked_for():
    env = begin(open_env("pettingzoo", "mpe2/simple_spread_v3", state=True, kwargs={"max_cycles": 2}), 5)
    assert env.spec.state.shape == (54,)
    rows = env.rows()
    assert rows.state.shape == (3, 54)
    np.testing.assert_array_equal(rows.state[0], rows.observation.reshape(-1))  # mpe2 joins what all agents see
    env.step(lowest(rows))
    ends = env.step(lowest(env.rows()))
    np.testing.assert_array_equal(ends.state[2], ends.observation.reshape(-1))
    assert begin(open_env("pettingzoo", "mpe2/simple_spread_v3"), 5).rows().state is None


def test_state_that_is_not_there_is_refused():
    with pytest.raises(EnvError, match=r"env\.state=true, but the environment has no state_space"):
        open_env("pettingzoo", "classic/tictactoe_v3", state=True)


def test_an_agent_that_never_acted_is_paid_all_the_same():
    env = open_env("pettingzoo", "classic/texas_holdem_v4")
    fold = 2
    told = play(env, 1, choose=lambda rows: np.full(len(rows), fold, np.int32))
    assert len(told) == 1
    assert len(told[0].slot) == 1
    (idle,) = told[0].idle
    assert idle.agent != told[0].agent[0]
    assert idle.reward == -told[0].reward[0] == 0.5
