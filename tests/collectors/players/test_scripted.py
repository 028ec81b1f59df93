"""Bots of others: what is wrong with one is told in one line that names it, at the start where that is possible."""

import numpy as np
import pytest

from collectors.check import try_out
from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.players.bots import RandomBot
from collectors.players.scripted import BotError, make_bot
from launch.config.compose import compose
from launch.start import rehearse
from league.player import Player
from league.plugins import PluginError
from league.spec import Array, EnvSpec, Seat

BOTS = """
import numpy as np

class Good:
    def __init__(self, spec): self.parts = spec.parts if not spec.single else 0
    def act(self, observation, mask, rng):
        if self.parts: return np.zeros((len(mask), self.parts), np.float64), np.zeros(len(mask))
        return mask.argmax(axis=1), np.zeros(len(mask))

class Unlicensed(Good):
    def __init__(self, spec): raise RuntimeError("no licence")

class Choosy(Good):
    def __init__(self, spec): raise ValueError("I play chess only")

class Blind(Good):
    def __init__(self): pass

class Idle:
    def __init__(self, spec): pass

class Raises(Good):
    def act(self, observation, mask, rng): raise KeyError("king")

class Lists(Good):
    def act(self, observation, mask, rng): return [0] * len(mask)

class Short(Good):
    def act(self, observation, mask, rng): return np.zeros(1, np.int32), np.zeros(1)

class Fuzzy(Good):
    def act(self, observation, mask, rng): return np.zeros(len(mask)), np.zeros(len(mask))

class Chanceless(Good):
    def act(self, observation, mask, rng): return mask.argmax(axis=1), None

class Cheats(Good):
    def act(self, observation, mask, rng): return (~mask).argmax(axis=1), np.zeros(len(mask))

class Wild(Good):
    def act(self, observation, mask, rng): return np.full(len(mask), 99), np.zeros(len(mask))

nothing = 3
"""
SPEC = TicTacToe(1).spec


@pytest.fixture(autouse=True)
def bots(tmp_path, monkeypatch):
    (tmp_path / "strangers.py").write_text(BOTS)
    monkeypatch.syspath_prepend(str(tmp_path))


def stranger(name, spec=SPEC):
    return make_bot(f"strangers:{name}", spec, ["strangers"])


def rows(count):
    return np.zeros((count, 3, 3, 2), np.int8), np.ones((count, 9), np.bool_), np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Unlicensed", "__init__ raised RuntimeError: no licence. Fix it"),
        ("Choosy", "I play chess only"),
        ("Blind", r"must take the spec of the environment: def __init__\(self, spec\)"),
        ("Idle", r"has no act; add def act\(self, observation, mask, rng\)"),
        ("nothing", "is no class, but a int"),
    ],
)
def test_a_bot_that_cannot_be_made_is_refused(name, message):
    with pytest.raises(BotError, match=f"the bot 'strangers:{name}'.*{message}"):
        stranger(name)


BAD_MOVES = [
    ("Raises", "act raised KeyError: 'king'"),
    ("Lists", "act returned a list; return two arrays"),
    ("Short", r"int32 of shape \(1,\) for 2 rows; return integers of shape \(2,\)"),
    ("Fuzzy", r"float64 of shape \(2,\) for 2 rows; return integers"),
    ("Chanceless", r"log-probabilities of shape \(\); return two arrays"),
    ("Wild", r"act chose 99, which is illegal; the mask allows \[0, 1, 2"),
]


@pytest.mark.parametrize(("name", "message"), BAD_MOVES)
def test_a_move_that_is_none_is_an_error_that_names_the_bot(name, message):
    with pytest.raises(BotError, match=f"the bot 'strangers:{name}': .*{message}"):
        stranger(name).act(*rows(2))


def test_a_long_list_of_legal_moves_is_marked_as_cut():
    with pytest.raises(BotError, match=r"the mask allows \[0, 1, 2, 3, 4, 5, 6, 7, 8\]"):
        make_bot("strangers:Wild", TicTacToe(1).spec, ["strangers"]).act(*rows(1))
    many = EnvSpec("many", ("a",), (Seat((0,)),), Array((1,), "float32"), actions=20)
    with pytest.raises(BotError, match=r"the mask allows \[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \.\.\.\]"):
        make_bot("strangers:Wild", many, ["strangers"]).act(
            np.zeros((1, 1), np.float32), np.ones((1, 20), bool), np.random.default_rng(0)
        )


def test_what_a_good_bot_returns_has_the_types_of_the_environment():
    actions, log_probs = stranger("Good").act(*rows(3))
    assert (actions.dtype, log_probs.dtype, actions.tolist()) == (np.int32, np.float32, [0, 0, 0])
    spec = EnvSpec("toy", ("a",), (Seat((0,)),), Array((3,), "float32"), actions=2, continuous=1)
    mask = np.array([[True, False]])
    assert stranger("Good", spec).act(np.zeros((1, 3)), mask, None)[0].dtype == np.float32
    with pytest.raises(BotError, match=r"act chose \[0.0, 0.0\]; choose options that the mask allows"):
        stranger("Good", spec).act(np.zeros((1, 3)), ~mask, None)


def test_bots_of_our_own_are_what_they_are():
    assert isinstance(make_bot("random", SPEC), RandomBot)
    with pytest.raises(PluginError, match="--allow strangers"):
        make_bot("strangers:Good", SPEC)


@pytest.mark.parametrize(("name", "message"), [*BAD_MOVES, ("Cheats", r"act chose \d, which is illegal")])
def test_a_bot_is_tried_before_there_is_a_run(name, message):
    player = Player(id="ada", kind="scripted", bot=f"strangers:{name}")
    env = make_environment(EnvConfig(name="tic_tac_toe"), 2)
    with pytest.raises(BotError, match=f"league.players.ada: the bot 'strangers:{name}': .*{message}"):
        try_out(env, bots=[(player, stranger(name))])


def test_a_bot_is_asked_only_where_its_role_acts():
    env = make_environment(EnvConfig(name="pettingzoo", id="mpe2/simple_tag_v3"), 1)
    asked = []

    class Counts:
        def act(self, observation, mask, rng):
            asked.append(len(mask))

    try_out(env, seconds=0.01, bots=[(Player(id="a", kind="scripted", bot="a", role="adversary"), Counts())])
    env.close()
    assert set(asked) == {3}


@pytest.mark.parametrize("env", [["env=tic_tac_toe"], ["env=pettingzoo", "env.id=classic/tictactoe_v3"]])
@pytest.mark.parametrize("name", ["Unlicensed", "Lists"])
def test_a_league_with_a_bad_bot_is_refused_in_one_line(name, env):
    added = f"+league.players.ada={{kind: scripted, bot: 'strangers:{name}'}}"
    with pytest.raises(ValueError, match=f"league.players.ada: the bot 'strangers:{name}'") as caught:
        rehearse(compose([*env, added]), ["strangers"])
    assert "\n" not in str(caught.value)
