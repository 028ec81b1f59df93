import numpy as np

from collectors.envs.config import EnvConfig, make_environment
from collectors.row_tape import RowTape


def test_each_decision_earns_what_follows_it():
    tape = RowTape(make_environment(EnvConfig(name="tic_tac_toe"), 1))
    tape.start(np.array([0]), np.array([1]))
    for action in (0, 3, 1, 4, 2):  # the first player fills a row
        tape.rows()
        ends = tape.step(np.array([action], np.int32))
    assert len(ends.over) == 1
    steps = tape.take()
    assert steps.agent.tolist() == [0, 1, 0, 1, 0]
    assert steps.action.tolist() == [0, 3, 1, 4, 2]
    assert steps.reward.tolist() == [0, 0, 0, -1, 1]
    assert steps.last.tolist() == [False, False, False, True, True]
    assert not steps.truncated.any()
    assert steps.observation.shape == (5, 3, 3, 2)
    assert steps.mask.sum(axis=1).tolist() == [9, 8, 7, 6, 5]
    tape.start(np.array([0]), np.array([1]))
    assert tape.render(0) == ""
    tape.close()


def test_an_episode_that_is_cut_off_is_truncated():
    tape = RowTape(make_environment(EnvConfig(name="simple_tag", kwargs={"max_cycles": 3}), 1))
    tape.start(np.array([0]), np.array([1]))
    for _ in range(3):
        tape.step(np.zeros(len(tape.rows()), np.int32))
    steps = tape.take()
    assert steps.truncated.tolist() == steps.last.tolist() == [False] * 8 + [True] * 4
