"""The bots: legal, uniform, and as strong as they should be."""

import numpy as np
import pytest

from collectors.envs.native.connect_four import SPEC, ConnectFour
from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.players.bots import OnePlyBot, RandomBot
from league.policies.actions import legal
from league.spec import Array, EnvSpec, Seat


def position(*moves):
    """Play the moves in one slot; return the row of the player to move."""
    env = ConnectFour(slots=1)
    env.start(np.array([0], np.int32), np.array([0]))
    for move in moves:
        env.step(np.array([move], np.int32))
    return env.rows()


def play(first, second, games, seed):
    """Return the first bot's score over games in which the bots change seats."""
    env, rng = ConnectFour(slots=games), np.random.default_rng(seed)
    env.start(np.arange(games, dtype=np.int32), np.zeros(games, np.int64))
    score = 0.0
    while env.active:
        rows = env.rows()
        mine = (rows.agent + rows.slot) % 2 == 0
        actions = np.empty(len(rows), np.int32)
        for bot, part in ((first, mine), (second, ~mine)):
            actions[part], _ = bot.act(rows.observation[part], rows.mask[part], rng)
        ends = env.step(actions)
        score += (ends.reward[(ends.agent + ends.slot) % 2 == 0] + 1).sum() / 2
    return score / games


def test_random_is_uniform_over_legal_actions():
    mask = np.tile(np.array([True, False, True, True, False, False, False]), (30_000, 1))
    actions, log_probs = RandomBot(SPEC).act(np.zeros((30_000, 6, 7, 2), np.int8), mask, np.random.default_rng(1))
    counts = np.bincount(actions, minlength=7)
    assert counts[~mask[0]].sum() == 0
    assert np.abs(counts[mask[0]] - 10_000).max() < 400
    np.testing.assert_allclose(log_probs, -np.log(3), rtol=1e-6)
    assert (actions.dtype, log_probs.dtype) == (np.int32, np.float32)


class ZeroDraws(np.random.Generator):
    """A generator whose draws are all exactly zero, as a real one's can be."""

    def random(self, *args, **kwargs):
        return np.zeros(args[0])


def test_a_draw_of_zero_never_makes_an_illegal_move():
    rng = ZeroDraws(np.random.PCG64(0))
    mask = np.array([[False, False, False, True, False, False, True]])
    assert RandomBot(SPEC).act(np.zeros((1, 6, 7, 2), np.int8), mask, rng)[0].tolist() == [3]


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ((0, 6, 1, 6, 2, 5), {3}),  # completes the bottom line
        ((0, 6, 1, 6, 2), {3}),  # blocks it
        ((0, 1, 0, 1, 0, 1), {0}),  # wins upwards rather than blocking column 1
        ((1, 6, 2, 6, 3), {0, 4}),  # must block one of two
        ((3, 2, 2, 1, 1, 0, 1, 0, 0, 5), {0}),  # completes the diagonal
        ((6, 0, 6, 1, 6, 3), {6}),
    ],
)
def test_one_ply_wins_or_blocks(moves, expected):
    rows = position(*moves)
    bot = OnePlyBot(SPEC)
    seen = {int(bot.act(rows.observation, rows.mask, np.random.default_rng(s))[0][0]) for s in range(20)}
    assert seen == expected


def test_one_ply_does_not_fill_a_gap_that_its_piece_would_fall_past():
    rows = position(0, 6, 1, 6, 3, 5)  # 0, 1, 3 at the bottom: column 2 wins
    assert OnePlyBot(SPEC).act(rows.observation, rows.mask, np.random.default_rng(0))[0].tolist() == [2]
    rows = position(0, 0, 1, 1, 3, 3, 6, 5)  # the second row has O at 0, 1, 3 and nothing below column 2
    bot = OnePlyBot(SPEC)
    assert bot.act(rows.observation, rows.mask, np.random.default_rng(0))[0].tolist() == [2]  # bottom line wins


def test_one_ply_has_no_log_probs():
    rows = position()
    assert OnePlyBot(SPEC).act(rows.observation, rows.mask, np.random.default_rng(0))[1].tolist() == [0.0]


def test_one_ply_beats_random_in_about_19_of_20_games():
    score = play(OnePlyBot(SPEC), RandomBot(SPEC), games=2000, seed=7)
    assert 0.93 < score < 0.975


def test_one_ply_refuses_another_game():
    with pytest.raises(ValueError, match="plays connect four only; 'tic_tac_toe'"):
        OnePlyBot(TicTacToe(slots=1).spec)


def test_random_plays_every_kind_of_action():
    spec = EnvSpec("mixed", ("a",), (Seat((0,)),), Array((1,), "float32"), actions=5, choices=(3, 2), continuous=2)
    mask = np.tile([True, False, True, False, True], (4000, 1))
    actions, log_probs = RandomBot(spec).act(np.zeros((4000, 1)), mask, np.random.default_rng(0))
    assert actions.shape == (4000, 4)
    assert actions.dtype == np.float32
    assert legal(spec, actions, mask).all()
    assert np.bincount(actions[:, 0].astype(int)).tolist() == pytest.approx([2000, 0, 2000], abs=150)
    assert np.abs(actions[:, 2:].mean(axis=0)).max() < 0.05
    np.testing.assert_allclose(log_probs, -np.log(2) - 2 * np.log(2), rtol=1e-6)
