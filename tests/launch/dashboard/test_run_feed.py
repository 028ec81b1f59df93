import pytest

from launch.dashboard.run_feed import FITTING, NotReady, RunFeed
from launch.viewers.tables import appraisal_of, footnotes
from launch.viewers.view import read_offline


def test_a_run_that_nobody_has_read_yet_says_how_far_it_is(played):
    with pytest.raises(NotReady, match="first is being read: it begins"):
        RunFeed(played[0]).view()


def test_the_league_is_described_once(feed):
    league = feed.league
    assert (league["name"], league["game"], league["algorithm"]) == ("first", "tic_tac_toe", "ppo")
    assert league["anchors"] == {"random": 0.0}
    assert league["budget"] == {"minutes": None, "env_steps": 3000}


def test_notes_are_those_under_the_standings(feed, state):
    assert feed.notes == footnotes(state, appraisal_of(state))


def test_a_matrix_is_packed_once_for_all(feed):
    assert feed.matrix("evaluate", "kind")[1] is feed.matrix("evaluate", "kind")[1]


def test_everything_but_ratings_is_there_before_they_are_fitted(played):
    feed, seen = RunFeed(played[0]), []
    feed._refit = lambda state: seen.append((feed.status["phase"], len(feed.rows), feed.notes))  # in its place
    feed._take(read_offline(played[0]))
    assert seen == [("over", len(feed.rows), [FITTING])]
    assert len(feed.rows) > 2
    assert feed.league["name"] == "first"


def test_the_same_state_changes_nothing(feed):
    before, rows = feed.version, feed.rows.version
    feed._take(feed.view())
    assert feed.rows.version == rows
    assert feed.version - before in (0, 1)  # the room on the disk may be another


def test_players_without_games_have_no_score(feed):
    found = feed.cell("train", "random", "random")
    assert found["cell"] is None
