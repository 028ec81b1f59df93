"""OpenSpiel games: boards, chance, hidden information, simultaneous moves, and wrong names."""

import numpy as np
import pyspiel
import pytest
from driving import begin, open_env

from collectors.envs.adapters.openspiel import sample_chance
from collectors.envs.config import EnvError
from league.plugins import PluginError


def test_a_board_game_of_openspiel():
    env = begin(open_env("openspiel", "go(board_size=5)"), 1)
    assert env.spec.observation.shape == (5, 5, 4)  # rows, columns, planes
    assert (env.spec.actions, env.spec.roles) == (26, ("player", "player"))
    env.step(np.array([7], np.int32))
    game = pyspiel.load_game("go(board_size=5)")
    state = game.new_initial_state()
    state.apply_action(7)
    planes = np.array(state.observation_tensor(1), np.float32).reshape(game.observation_tensor_shape())
    rows = env.rows()
    np.testing.assert_array_equal(rows.observation[0], np.moveaxis(planes, 0, -1))
    assert np.flatnonzero(rows.mask[0]).tolist() == state.legal_actions()
    assert env.render(0) == str(state)


def test_chance_comes_from_the_seed_and_every_outcome_comes():
    env = open_env("openspiel", "kuhn_poker", slots=200)
    seen = begin(env, *range(200)).rows().observation
    again = begin(open_env("openspiel", "kuhn_poker", slots=200), *range(200)).rows().observation
    np.testing.assert_array_equal(seen, again)
    assert len(np.unique(seen, axis=0)) == 3  # three cards


def test_chance_is_drawn_with_its_probabilities():
    state = pyspiel.load_game("pig").new_initial_state()
    state.apply_action(0)
    rng = np.random.default_rng(1)
    counts = np.bincount([sample_chance(state, rng) for _ in range(6000)], minlength=6)
    assert np.abs(counts - 1000).max() < 150


def test_hidden_information_is_seen_as_all_that_an_agent_knows():
    game = pyspiel.load_game("leduc_poker")
    assert open_env("openspiel", "leduc_poker").spec.observation.size == game.information_state_tensor_size()
    kwargs = {"observation": "observation"}
    other = open_env("openspiel", "leduc_poker", kwargs=kwargs).spec.observation
    assert other.size == game.observation_tensor_size()


def test_parameters_in_brackets_and_in_kwargs():
    assert len(open_env("openspiel", "leduc_poker", kwargs={"players": 3}).spec.agents) == 3
    assert open_env("openspiel", "go(komi=7.5)", kwargs={"board_size": 7}).spec.actions == 50


def test_simultaneous_moves_are_one_tick_for_all():
    env = begin(open_env("openspiel", "matrix_rps"), 1)
    rows = env.rows()
    assert rows.agent.tolist() == [0, 1]
    ends = env.step(np.array([0, 1], np.int32))  # rock, paper
    assert ends.reward.tolist() == [-1, 1]
    assert not ends.truncated.any()


def test_a_game_whose_players_share_all_rewards_is_cooperative():
    assert open_env("openspiel", "tiny_hanabi").spec.cooperative
    assert not open_env("openspiel", "kuhn_poker").spec.cooperative


@pytest.mark.parametrize(
    ("id", "settings", "message"),
    [
        ("tic_tac_to", {}, "unknown OpenSpiel game 'tic_tac_to'"),
        ("go(board_size=", {}, r"cannot read|board_size"),
        ("go", {"kwargs": {"board": 9}}, "board"),
        ("mfg_crowd_modelling", {}, "mean-field"),
        ("kuhn_poker", {"kwargs": {"observation": "everything"}}, "choose one of information_state, observation"),
        ("kuhn_poker", {"wrappers": ["collectors.check:check"]}, "take no wrappers"),
    ],
)
def test_wrong_games_are_one_clear_line(id, settings, message):
    with pytest.raises((EnvError, PluginError), match=message) as caught:
        open_env("openspiel", id, **settings)
    assert "\n" not in str(caught.value)


def test_the_state_is_what_all_players_see_and_who_is_to_move():
    env = open_env("openspiel", "kuhn_poker", slots=1, state=True)
    env.start(np.array([0], np.int32), np.array([3]))
    size = env.spec.observation.size
    assert env.spec.state.shape == (2 * (size + 1),)
    for mover, action in ((0, 0), (1, 1), (0, 0)):  # pass, bet, pass
        rows = env.rows()
        assert rows.agent.tolist() == [mover]
        hands = rows.state[0, :-2].reshape(2, size)
        np.testing.assert_array_equal(hands[mover], rows.observation[0])
        assert hands[0, 2:5].argmax() != hands[1, 2:5].argmax(), "both cards are there, and they differ"
        assert rows.state[0, -2:].tolist() == [mover == 0, mover == 1]
        ends = env.step(np.array([action], np.int32))
    assert len(ends.over) == 1


def test_in_a_simultaneous_game_nobody_is_to_move_alone():
    env = open_env("openspiel", "matrix_rps", slots=1, state=True)
    env.start(np.array([0], np.int32), np.array([0]))
    assert env.rows().state[:, -2:].tolist() == [[0, 0], [0, 0]]
