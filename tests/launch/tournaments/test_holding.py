"""A tournament is a league in which nobody learns: it ends, goes on, and counts exactly."""

import pytest
from packed import packed

from launch.config.config import stored
from launch.processes.inline import play
from launch.start import begin
from launch.tournaments.entrants import TournamentError, find_entrants
from launch.tournaments.holding import TournamentOrder, tournament, tournament_config
from launch.verify.verify import verify
from launch.viewers.view import read_offline

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


@pytest.fixture
def entrants(tmp_path):
    packed(tmp_path / "a.safetensors", seed=1), packed(tmp_path / "b.safetensors", seed=2)
    return find_entrants(["random", "a.safetensors", "b.safetensors"])


@pytest.mark.parametrize("order", [{"rounds": 0}, {"until": -3.0}])
def test_an_order_without_games_is_refused(order):
    with pytest.raises(TournamentError, match="must be more than 0, got"):
        TournamentOrder(**order)


def games(run):
    state = read_offline(run).state
    return [state.evaluation.games(a, b) for a, b in (("random", "a"), ("random", "b"), ("a", "b"))]


def test_it_ends_is_verified_and_plays_on_with_more_rounds(entrants):
    run = tournament(entrants, TournamentOrder(rounds=6, inline=True))
    assert games(run) == [12, 12, 12]
    events = read_offline(run).seq
    assert tournament(entrants, TournamentOrder(rounds=6, inline=True)).root == run.root
    assert read_offline(run).seq == events, "it was over"
    assert tournament(entrants, TournamentOrder(rounds=9, inline=True)).root == run.root
    assert games(run) == [18, 18, 18]
    assert verify(run) == 0


def test_one_that_was_interrupted_goes_on_exactly(entrants):
    order = TournamentOrder(rounds=60, inline=True)
    with begin(tournament_config(entrants, order), allow=(), accept=True, notify=lambda line: None) as run:
        play(stored(run), run, on_round=lambda state: sum(state.results.values()) < 2)
    assert 0 < sum(games(run)) < 360
    assert tournament(entrants, order).root == run.root
    assert games(run) == [120, 120, 120]


def test_a_gauntlet_and_pins(entrants):
    order = TournamentOrder(rounds=2, inline=True, against=["a.safetensors"], anchors=(("b.safetensors", 100.0),))
    run = tournament(entrants, order)
    assert games(run) == [4, 0, 4]
    state = read_offline(run).state
    assert {p.id: p.anchor for p in state.population} == {"random": None, "a": None, "b": 100.0}


def test_who_does_not_take_part_is_named(entrants):
    with pytest.raises(TournamentError, match="'c' does not take part"):
        tournament_config(entrants, TournamentOrder(against=["c"]))
    with pytest.raises(TournamentError, match="names everybody"):
        tournament_config(entrants, TournamentOrder(against=[one.given for one in entrants]))
    with pytest.raises(TournamentError, match="at least two"):
        tournament_config(entrants[:1], TournamentOrder())
