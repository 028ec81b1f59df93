"""Boards of two players who alternate: both views, and the end after the last cell."""

import numpy as np
import pytest

from collectors.envs.native.connect_four import ConnectFour
from collectors.envs.native.tic_tac_toe import TicTacToe


def moved(game, *actions):
    env = game(slots=1)
    env.start(np.array([0]), np.array([1]))
    for action in actions:
        ends = env.step(np.array([action]))
    return env, ends


def test_each_player_sees_its_own_pieces_in_the_first_plane():
    env, _ = moved(TicTacToe, 0)
    rows = env.rows()
    assert rows.agent.tolist() == [1]
    assert (rows.observation[0, 0, 0].tolist(), rows.first.tolist()) == ([0, 1], [True])
    env, _ = moved(TicTacToe, 0, 4)
    assert env.rows().observation[0, 0, 0].tolist() == [1, 0]
    assert env.render(0) == "X . .\n. O .\n. . ."


def test_a_full_board_without_a_line_is_a_draw():
    env, ends = moved(TicTacToe, 0, 1, 2, 4, 3, 5, 7, 6, 8)
    assert not env.active
    assert (ends.over.tolist(), ends.reward.tolist()) == ([0], [0.0, 0.0])


def test_the_mover_wins():
    _, ends = moved(ConnectFour, 6, 0, 6, 0, 5, 0, 5, 0)
    assert (ends.agent.tolist(), ends.reward.tolist()) == ([0, 1], [-1.0, 1.0])


def test_an_illegal_move_is_refused():
    env, _ = moved(TicTacToe, 0)
    with pytest.raises(ValueError, match="action 0 is illegal in slot 0"):
        env.step(np.array([0]))
