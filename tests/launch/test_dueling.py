import json

import pytest

from launch.cli import main
from launch.dueling import Tally, duel, tally
from launch.playing import seat
from launch.view import ViewError
from league.events import PlayerAdded
from league.interval import wilson
from league.player import Kind, Player
from league.rulebook import LeagueConfig
from league.spec import Array, EnvSpec, Seat
from league.state import LeagueState, apply
from league.ticket import Entry, Episode


def test_a_duel_counts_all_games_and_has_an_interval(run, capsys):
    assert duel(run, "random", "random", games=40) == 0
    text = capsys.readouterr().out
    assert "40 games" in text
    assert duel(run, "main", "random", games=40, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["wins"] + told["draws"] + told["losses"] == told["games"] == 40
    assert told["low"] < told["score"] < told["high"]
    assert told["returns"][0] == pytest.approx((told["wins"] - told["losses"]) / 40)
    assert told["returns"][1] == -told["returns"][0]


def test_the_same_seed_is_the_same_duel(run, capsys):
    said = []
    for seed in ("1", "1", "2"):
        assert main(["duel", str(run.root), "main.0", "main", "--games", "30", "--seed", seed]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != said[2]


def test_points_are_those_of_the_first_player_wherever_it_sits():
    hero, other = Entry("hero"), Entry("other")
    outcomes = [Episode((0, 1), (1.0, -1.0), 5), Episode((0, 0), (0.0, 0.0), 5), Episode((0, 1), (3.0, -2.0), 5)]
    found = tally((hero, other), hero, outcomes)
    assert (found.wins, found.draws, found.losses) == (2, 1, 0)
    assert found.interval == tuple(map(float, wilson(2.5, 3)))
    assert found.returns == (pytest.approx(4 / 3), -1.0)
    assert found.reach == (pytest.approx(1.96 * 1.5275 / 3**0.5, rel=1e-3), pytest.approx(1.96 / 3**0.5, rel=1e-3))
    assert tally((other, hero), hero, outcomes).losses == 2
    assert tally((hero,), hero, [Episode((0,), (2.0,), 5)]) == Tally(0, 1, 0, (2.0, 2.0), (0.0, 0.0))


def test_a_player_in_a_seat_of_another_role_is_refused():
    spec = EnvSpec(
        name="tag",
        agents=("wolf", "sheep"),
        seats=(Seat((0,), "wolf"), Seat((1,), "sheep")),
        observation=Array((1,), "float32"),
        actions=2,
    )
    state = LeagueState(LeagueConfig())
    for name, role in (("a", "wolf"), ("b", "wolf"), ("c", "sheep")):
        apply(state, PlayerAdded(player=Player(id=name, kind=Kind.MAIN, role=role)))
    assert seat(state, spec, Entry("c"), Entry("a")).entries == (Entry("a"), Entry("c"))
    with pytest.raises(ViewError, match="'b' plays as wolf, but beside 'a' the seats of sheep are left"):
        seat(state, spec, Entry("a"), Entry("b"))


@pytest.mark.parametrize("games", ["0", "-3"])
def test_no_games_are_refused(run, games, capsys):
    assert main(["duel", str(run.root), "main", "random", "--games", games]) != 0
    assert "--games must be at least 1" in capsys.readouterr().err
