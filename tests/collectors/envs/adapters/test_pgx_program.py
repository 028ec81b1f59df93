"""Pgx step by step beside other implementations of the same game: legal moves, views, rewards and ends are the same."""

import numpy as np
import pyspiel
import pytest
from driving import begin, open_env

from collectors.envs.adapters.pgx import keys_of, make

SLOTS = 6


def legal(mask):
    return np.flatnonzero(mask).tolist()


class Beside:
    """A game of Pgx, with a game of OpenSpiel in each slot that makes the same moves."""

    def __init__(self, id, game):
        self.env, self.game = begin(make(SLOTS, id), *range(SLOTS)), pyspiel.load_game(game)
        self.states = [self.game.new_initial_state() for _ in range(SLOTS)]
        self.rng, self.ended = np.random.default_rng(3), 0

    def look(self):
        """Return the rows, after a comparison of who moves."""
        rows = self.env.rows()
        assert rows.agent.tolist() == [state.current_player() for state in self.states]
        return rows

    def move(self, actions):
        """Make the moves; compare ends and rewards, and begin again where a game is over."""
        ends = self.env.step(np.array(actions))
        for state, action in zip(self.states, actions, strict=True):
            state.apply_action(int(action))
        assert ends.over.tolist() == [slot for slot, state in enumerate(self.states) if state.is_terminal()]
        for slot in ends.over:
            assert ends.reward[ends.slot == slot].tolist() == self.states[slot].returns()
            self.states[slot] = self.game.new_initial_state()
        self.ended += len(ends.over)
        self.env.start(ends.over, 100 + self.ended + np.arange(len(ends.over)))

    def planes(self, slot, agent):
        """Return what OpenSpiel shows, planes last."""
        seen = np.array(self.states[slot].observation_tensor(int(agent)))
        return np.moveaxis(seen.reshape(self.game.observation_tensor_shape()), 0, -1)


@pytest.mark.slow
def test_connect_four_is_our_own_game_and_so_pettingzoos():
    ours, env = open_env("connect_four", "", SLOTS), make(SLOTS, "connect_four")
    begin(ours, *range(SLOTS))
    begin(env, *range(SLOTS))
    rng, ended = np.random.default_rng(0), 0
    for tick in range(400):
        own, rows = ours.rows(), env.rows()
        for name in ("slot", "agent", "observation", "mask", "reward", "first"):
            np.testing.assert_array_equal(getattr(own, name), getattr(rows, name))
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in own.mask])
        own_ends, ends = ours.step(actions), env.step(actions)
        for name in ("slot", "agent", "reward", "truncated", "over"):
            np.testing.assert_array_equal(getattr(own_ends, name), getattr(ends, name))
        ended += len(ends.over)
        for one in (ours, env):
            one.start(ends.over, tick * SLOTS + np.arange(len(ends.over)))
    assert ended > 50


@pytest.mark.slow
def test_othello_is_openspiels():
    both = Beside("othello", "othello")
    while both.ended < 30:
        rows = both.look()
        for slot, state in enumerate(both.states):
            assert legal(rows.mask[slot]) == state.legal_actions()
            np.testing.assert_array_equal(both.planes(slot, rows.agent[slot])[..., 1:], rows.observation[slot])
        both.move([both.rng.choice(state.legal_actions()) for state in both.states])


@pytest.mark.slow
def test_hex_is_openspiels_apart_from_the_swap():
    both = Beside("hex", "hex(board_size=11)")
    while both.ended < 20:
        rows = both.look()
        for slot, state in enumerate(both.states):
            assert legal(rows.mask[slot, :121]) == state.legal_actions()
            assert rows.mask[slot, 121] == (state.move_number() == 1)
        both.move([both.rng.choice(state.legal_actions()) for state in both.states])


@pytest.mark.slow
def test_go_is_pettingzoos():
    """Both show the stones in the first two planes, but order them, and those of the past, in other ways."""
    zoo, env = open_env("pettingzoo", "classic/go_v5", SLOTS, kwargs={"board_size": 9}), make(SLOTS, "go_9x9")
    begin(zoo, *range(SLOTS))
    begin(env, *range(SLOTS))
    rng, ended, ply = np.random.default_rng(1), 0, np.zeros(SLOTS, int)
    for tick in range(500):
        theirs, rows = zoo.rows(), env.rows()
        for name in ("slot", "agent", "mask", "reward", "first"):
            np.testing.assert_array_equal(getattr(theirs, name), getattr(rows, name))
        stones = theirs.observation[..., :2].any(axis=-1)
        np.testing.assert_array_equal(stones, rows.observation[..., :2].any(axis=-1))
        passes = (ply > 60) & (rng.random(SLOTS) < 0.25)  # so that games end before the limits, which differ
        actions = np.array([81 if one else rng.choice(np.flatnonzero(mask[:-1] if mask[:-1].any() else mask))
                            for one, mask in zip(passes, rows.mask, strict=True)])  # fmt: skip
        their_ends, ends = zoo.step(actions), env.step(actions)
        for name in ("slot", "agent", "reward", "truncated", "over"):
            np.testing.assert_array_equal(getattr(their_ends, name), getattr(ends, name))
        ended, ply = ended + len(ends.over), ply + 1
        ply[ends.over] = 0
        for one in (zoo, env):
            one.start(ends.over, tick * SLOTS + np.arange(len(ends.over)))
    assert ended > 20
    zoo.close()


@pytest.mark.slow
def test_chess_is_python_chess():
    """Moves have other numbers: each is found by the position that it leads to."""
    import chess
    import jax
    import pgx
    from pgx.experimental.chess import to_fen

    env = pgx.make("chess")
    init, step, rng = jax.jit(env.init), jax.jit(env.step), np.random.default_rng(5)
    checkmates = 0
    for game in range(3):
        state, board = init(keys_of(np.array([game]))[0]), chess.Board()
        for _ in range(120):
            moves = {_after(board, move): move for move in board.legal_moves}
            options = np.flatnonzero(np.asarray(state.legal_action_mask))
            assert len(options) == len(moves)
            mover = int(state.current_player)
            state = step(state, np.int32(rng.choice(options)))
            board.push(moves[tuple(to_fen(state).split()[:3])])
            if state.terminated:
                assert board.is_checkmate() or np.asarray(state.rewards).tolist() == [0, 0]
                checkmates += board.is_checkmate()
                break
            assert not board.is_checkmate()
            assert not board.is_stalemate()
        if board.is_checkmate():
            assert np.asarray(state.rewards)[mover] == 1


def _after(board, move):
    board = board.copy(stack=False)
    board.push(move)
    return tuple(board.fen().split()[:3])


@pytest.mark.slow
def test_an_episode_follows_from_its_seed_in_any_batch():
    """Backgammon rolls dice in every turn: the same seed and moves give the same rows in every slot and batch."""

    def story(slots, slot, others):
        env = make(slots, "backgammon")
        env.start(np.array([slot]), np.array([2**35 + 9]))
        env.start(np.array(others, np.intp), np.arange(len(others)))
        told = []
        for _ in range(60):
            rows = env.rows()
            mine = rows.slot.tolist().index(slot)
            told.append((int(rows.agent[mine]), rows.observation[mine].tobytes(), rows.mask[mine].tobytes()))
            env.step(np.array([np.flatnonzero(mask)[-1] for mask in rows.mask]))
        return told

    assert story(1, 0, []) == story(9, 8, [0, 2])
