"""A watched environment announces each stage, and changes nothing."""

import numpy as np

from collectors.conforming import conform
from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.envs.plan import plan
from collectors.envs.watched import BUILD, CLOSE, RESET, STEP, TESTS, Watched, silent, watched


def test_stages_are_announced_before_they_begin():
    stages = []
    env = Watched(TicTacToe(1), stages.append)
    env.start(np.array([0]), np.array([1]))
    env.step(env.rows().mask.argmax(axis=1))
    assert env.rehearse(), "there is nothing to rehearse"
    env.close()
    assert stages == [RESET, STEP, STEP, STEP, CLOSE]
    assert env.render(0).count("X") == 1


def test_a_watched_environment_is_the_same_environment():
    assert not conform(lambda slots: Watched(TicTacToe(slots), silent), range(3)).problems


def test_a_watched_plan_announces_what_it_is_asked_for():
    stages = []
    made = watched(plan("classic/tictactoe_v3"), stages.append)
    made.build(1).close()
    assert set(made.spaces()) == {"player_1", "player_2"}
    assert made.complaints() == []
    assert stages == [BUILD, CLOSE, BUILD, TESTS]
    assert watched(plan("tic_tac_toe"), silent).returns is None
