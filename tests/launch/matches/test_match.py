"""Matches on demand: who plays under a name, who sits where, what an environment renders."""

import numpy as np
import pytest

from collectors.envs.config import EnvConfig
from launch.matches import match
from launch.viewers.view import ViewError
from league.events import PlayerAdded
from league.player import Player
from league.rulebook import LeagueConfig
from league.spec import Array, EnvSpec, Seat
from league.state import LeagueState, apply
from league.ticket import Entry, Episode, Purpose, Ticket


def test_an_environment_whose_text_cannot_be_asked_for_is_shown_as_it_is(tmp_path, monkeypatch):
    (tmp_path / "mute.py").write_text(
        "import pettingzoo\n"
        "def env():\n"
        "    made = pettingzoo.make('aec', 'classic/tictactoe_v3')\n"
        "    made.unwrapped.metadata = {**made.unwrapped.metadata, 'render_modes': ['ansi']}\n"
        "    return made\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    env = match.open_environment(EnvConfig(name="pettingzoo", id="mute:env"), ["mute"], (match.TEXT,))
    env.start(np.array([0], np.int32), np.array([1]))
    assert env.render(0).startswith("player_1 sees")
    env.close()


def test_who_plays_under_a_name():
    state = LeagueState(LeagueConfig())
    for player in (Player(id="main", kind="main"), Player(id="me", kind="human")):
        apply(state, PlayerAdded(player=player))
    assert match.find_entry(state, "random") == Entry("random", None, "random")
    with pytest.raises(ViewError, match="'main' has no candidate yet"):
        match.find_entry(state, "main")
    with pytest.raises(ViewError, match="'me' is a human"):
        match.find_entry(state, "me")


def test_the_first_player_takes_a_seat_of_its_role():
    seats = (Seat((0,), "fox"), Seat((1,), "hound"), Seat((2,), "hound"))
    spec = EnvSpec(name="hunt", agents=("f", "g", "h"), seats=seats, observation=Array((1,), "float32"), actions=2)
    state = LeagueState(LeagueConfig())
    apply(state, PlayerAdded(player=Player(id="dog", kind="main", role="hound")))
    ticket = match.seat_pair(state, spec, Entry("dog"), Entry("other"))
    assert [entry.player for entry in ticket.entries] == ["other", "dog", "other"]


def test_outcomes_in_words():
    ticket = Ticket(number=0, purpose=Purpose.EVALUATE, entries=(Entry("a"), Entry("b")), episodes=1)
    assert "a wins after 5 moves; returns: a +1, b -1" in match.describe_outcome(
        ticket, Episode((0, 1), (1.0, -1.0), 5)
    )
    assert "a draw after 9 moves" in match.describe_outcome(ticket, Episode((0, 0), (0.0, 0.0), 9))
    alone = Ticket(number=0, purpose=Purpose.EVALUATE, entries=(Entry("a"),), episodes=1)
    assert "over after 3 moves; returns: a +7" in match.describe_outcome(alone, Episode((0,), (7.0,), 3))
