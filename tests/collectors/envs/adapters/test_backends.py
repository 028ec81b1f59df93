"""Doors to other projects: OpenSpiel, Gymnasium, Atari; wrappers by name; what is wrong with any of them."""

import gymnasium
import numpy as np
import pyspiel
import pytest

from collectors.envs.adapters.adapter import Adapter
from collectors.envs.adapters.atari import Atari, make
from collectors.envs.adapters.openspiel import sample_chance
from collectors.envs.config import EnvConfig, EnvError, make_environment, parse_environment
from league.plugins import PluginError


def open_env(name, id, slots=1, allow=(), **settings):
    return make_environment(EnvConfig(name=name, id=id, **settings), slots, allow)


def begin(env, *seeds):
    env.start(np.arange(len(seeds), dtype=np.int32), np.array(seeds))
    return env


def play(env, choose, *seeds):
    """Play to the end of all slots; return every Ends."""
    begin(env, *seeds)
    told = []
    while len(rows := env.rows()):
        told.append(env.step(choose(rows)))
    return told


def lowest(rows):
    return rows.mask.argmax(axis=1).astype(np.int32)


# --- OpenSpiel ---


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
        ("kuhn_poker", {"state": True}, "env.state=true"),
    ],
)
def test_wrong_games_are_one_clear_line(id, settings, message):
    with pytest.raises((EnvError, PluginError), match=message) as caught:
        open_env("openspiel", id, **settings)
    assert "\n" not in str(caught.value)


# --- Gymnasium ---


def test_a_single_agent_has_one_seat_and_is_paid_what_gymnasium_pays():
    env = open_env("gymnasium", "CartPole-v1")
    assert env.spec.seats[0].agents == (0,)
    assert env.spec.cooperative
    raw = gymnasium.make("CartPole-v1")
    seen, _ = raw.reset(seed=3)
    begin(env, 3)
    total = paid = 0.0
    over = False
    while not over:
        rows = env.rows()
        np.testing.assert_array_equal(rows.observation[0], seen)
        paid += float(rows.reward[0])
        ends = env.step(np.array([1], np.int32))
        seen, reward, terminated, truncated, _ = raw.step(1)
        total += float(reward)
        over = terminated or truncated
        assert (len(ends.over) == 1) == over
    assert paid + float(ends.reward[0]) == total
    assert not ends.truncated[0]


def test_truncation_is_told_with_the_final_observation():
    env = open_env("gymnasium", "Pendulum-v1", kwargs={"max_episode_steps": 3})
    assert (env.spec.actions, env.spec.continuous) == (0, 1)
    ends = play(env, lambda rows: np.zeros((len(rows), 1), np.float32), 1)[-1]
    assert ends.truncated.tolist() == [True]
    assert ends.observation.any()


def test_masks_of_gymnasium_are_in_the_info():
    rows = begin(open_env("gymnasium", "Taxi-v4"), 1).rows()
    raw = gymnasium.make("Taxi-v4")
    assert rows.mask[0].tolist() == raw.reset(seed=1)[1]["action_mask"].astype(bool).tolist()


def test_an_unknown_gymnasium_environment():
    with pytest.raises(PluginError, match="unknown Gymnasium environment 'CartPole-v99'"):
        open_env("gymnasium", "CartPole-v99")


# --- Atari ---


def test_atari_has_the_usual_preprocessing():
    env = begin(open_env("atari", "ALE/Pong-v5", kwargs={"max_num_frames_per_episode": 200}), 1)
    assert (env.spec.observation.shape, env.spec.observation.dtype, env.spec.actions) == ((84, 84, 4), "uint8", 6)
    first = env.rows().observation[0]
    env.step(np.array([0], np.int32))
    second = env.rows().observation[0]
    np.testing.assert_array_equal(first[..., 1:], second[..., :-1])  # the newest picture is the last
    env.close()


@pytest.mark.parametrize(("game", "size"), [("Pong", 84), ("Pong", 42), ("Breakout", 84)])
def test_ale_plays_many_games_as_the_wrappers_play_one(game, size):
    kwargs = {"repeat_action_probability": 0.0, "noop_max": 0, "screen_size": size, "max_num_frames_per_episode": 600}
    many = make(3, f"ALE/{game}-v5", kwargs)
    one = make(1, f"ALE/{game}-v5", kwargs | {"difficulty": 0})  # which ALE's batches lack
    assert (type(many), type(one)) == (Atari, Adapter)
    assert many.spec == one.spec
    rng = np.random.default_rng(0)
    for _ in range(2):
        begin(one, 1)
        many.start(np.array([1, 0], np.int32), np.array([5, 6]))  # two of three slots
        for tick in range(10_000):
            rows, alone = many.rows(), one.rows()
            assert rows.slot.tolist() == [0, 1]
            assert rows.first.tolist() == [tick == 0] * 2
            for row in range(2):
                np.testing.assert_array_equal(rows.observation[row], alone.observation[0])
                assert rows.reward[row] == alone.reward[0]
            action = rng.integers(many.spec.actions, dtype=np.int32)
            ends, end = many.step(np.full(2, action, np.int32)), one.step(np.array([action], np.int32))
            assert len(ends.over) == 2 * len(end.over)
            if len(end.over):
                break
        if end.truncated[0]:  # else nobody reads it
            np.testing.assert_array_equal(ends.observation, end.observation.repeat(2, axis=0))
        assert ends.truncated.tolist() == end.truncated.tolist() * 2
        assert ends.reward.tolist() == end.reward.tolist() * 2
    many.close()
    one.close()


def test_what_ale_cannot_play_at_once_is_played_one_by_one():
    for kwargs in ({"terminal_on_life_loss": True}, {"difficulty": 1}, {"render_mode": "rgb_array"}):
        env = make(1, "ALE/Pong-v5", kwargs)
        assert isinstance(env, Adapter)
        env.close()


def test_an_unknown_atari_game():
    with pytest.raises(PluginError, match="unknown Atari game 'ALE/Pongg-v5'"):
        open_env("atari", "ALE/Pongg-v5")


# --- wrappers ---

WRAPPERS = """
from pettingzoo.utils.wrappers import BaseWrapper
import gymnasium

class Double(BaseWrapper):
    factor = 2
    def __init__(self, env, factor=2):
        super().__init__(env)
        self.factor = factor
    @property
    def rewards(self):
        return {agent: self.factor * reward for agent, reward in self.env.rewards.items()}

def nothing(env):
    return None

def broken(env):
    raise KeyError("no such thing")

def short(env):
    return gymnasium.wrappers.TimeLimit(env, 2)
"""


@pytest.fixture
def wrappers(tmp_path, monkeypatch):
    (tmp_path / "userwrap.py").write_text(WRAPPERS)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("wrappers")
def test_wrappers_by_name_with_and_without_arguments():
    names = ["userwrap:Double", ["userwrap:Double", {"factor": 3}]]
    env = open_env("pettingzoo", "classic/tictactoe_v3", allow=["userwrap"], wrappers=names)
    assert sorted(play(env, lowest, 1)[-1].reward.tolist()) == [-6, 6]


@pytest.mark.usefixtures("wrappers")
def test_wrappers_of_gymnasium():
    env = open_env("gymnasium", "CartPole-v1", allow=["userwrap"], wrappers=["userwrap:short"])
    assert len(play(env, lowest, 1)) == 2


@pytest.mark.usefixtures("wrappers")
@pytest.mark.parametrize(
    ("wrapper", "message"),
    [
        ("userwrap:nothing", "'userwrap:nothing' returned a NoneType, but a wrapper must return an environment"),
        ("userwrap:broken", "'userwrap:broken' raised KeyError"),
        ("userwrap:missing", "cannot load 'userwrap:missing'"),
        (["userwrap:Double", {"size": 3}], "'userwrap:Double' raised TypeError.*'size'"),
        ("doubel", "unknown wrapper 'doubel'"),
        (["a:b", "c:d"], "env.wrappers: cannot read"),
        (3, "env.wrappers: cannot read 3"),
        ("os:system", "--allow os"),
    ],
)
def test_wrong_wrappers_are_one_clear_line(wrapper, message):
    with pytest.raises((EnvError, PluginError), match=message) as caught:
        open_env("pettingzoo", "classic/tictactoe_v3", allow=["userwrap"], wrappers=[wrapper])
    assert "\n" not in str(caught.value)


def test_a_wrong_kwarg_is_one_clear_line():
    with pytest.raises(EnvError, match=r"'classic/tictactoe_v3'.*unexpected keyword argument 'size'.*env.kwargs"):
        open_env("pettingzoo", "classic/tictactoe_v3", kwargs={"size": 4})


# --- names ---


@pytest.mark.parametrize(
    ("text", "kwargs", "config"),
    [
        ("openspiel/go(board_size=9)", {}, EnvConfig(name="openspiel", id="go(board_size=9)")),
        ("gymnasium/CartPole-v1", {}, EnvConfig(name="gymnasium", id="CartPole-v1")),
        ("ALE/Pong-v5", {"stack": 2}, EnvConfig(name="atari", id="ALE/Pong-v5", kwargs={"stack": 2})),
        ("atari/pong_v3", {}, EnvConfig(name="pettingzoo", id="atari/pong_v3")),
        (
            "mpe2/simple_v3",
            {"env.wrappers": ["a:b"], "env.state": True, "max_cycles": 3},
            EnvConfig(name="pettingzoo", id="mpe2/simple_v3", wrappers=["a:b"], state=True, kwargs={"max_cycles": 3}),
        ),
    ],
)
def test_what_a_user_calls_an_environment(text, kwargs, config):
    assert parse_environment(text, kwargs) == config


def test_settings_that_do_not_exist():
    with pytest.raises(ValueError, match=r"env\.chairs: there is no such setting"):
        parse_environment("mpe2/simple_v3", {"env.chairs": 3})
    with pytest.raises(ValueError, match=r"env\.id is missing.*env=openspiel env\.id='go\(board_size=9\)'"):
        EnvConfig(name="openspiel")
    with pytest.raises(ValueError, match=r"env\.wrappers is only for"):
        EnvConfig(name="connect_four", wrappers=["a:b"])


# --- the state of the whole ---


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


# --- what agents earn that never act ---


def test_an_agent_that_never_acted_is_paid_all_the_same():
    env = open_env("pettingzoo", "classic/texas_holdem_v4")
    fold = 2
    told = play(env, lambda rows: np.full(len(rows), fold, np.int32), 1)
    assert len(told) == 1
    assert len(told[0].slot) == 1
    (idle,) = told[0].idle
    assert idle.agent != told[0].agent[0]
    assert idle.reward == -told[0].reward[0] == 0.5
