"""Tic-tac-toe: every game there is."""

import numpy as np

from collectors.envs.native.tic_tac_toe import TicTacToe


def test_all_255168_games():
    """Play the whole tree, a ply at a time: known counts of games by winner."""
    paths, wins = [()], {1.0: 0, -1.0: 0, 0.0: 0}
    for ply in range(9):
        children = [(*path, cell) for path in paths for cell in range(9) if cell not in path]
        rewards, over = outcomes(np.array(children, np.int32).T) if ply >= 4 else ([], set())
        for reward in rewards:
            wins[reward] += 1
        paths = [path for number, path in enumerate(children) if number not in over]
    assert wins == {1.0: 131_184, -1.0: 77_904, 0.0: 46_080}


def outcomes(moves):
    """Return the first player's rewards of the games that ended with the last move, and their numbers."""
    env = TicTacToe(slots=moves.shape[1])
    env.start(np.arange(moves.shape[1], dtype=np.int32), np.zeros(moves.shape[1], np.int64))
    for actions in moves[:-1]:
        assert len(env.step(actions).over) == 0
    ends = env.step(moves[-1])
    return ends.reward[ends.agent == 0].tolist(), set(ends.over.tolist())


def test_agents_are_named_as_in_pettingzoo():
    assert TicTacToe(slots=1).spec.agents == ("player_1", "player_2")


def test_render():
    env = TicTacToe(slots=1)
    env.start(np.array([0], np.int32), np.array([0]))
    env.step(np.array([4], np.int32))
    assert env.render(0) == ". . .\n. X .\n. . ."
