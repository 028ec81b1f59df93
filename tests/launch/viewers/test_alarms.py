from dataclasses import replace

import pytest

from launch.viewers.alarms import Bell, RatingPoint, RatingTrail, Signs, find_alarms, stalled
from launch.viewers.view import read_offline
from league.events import PlayerFrozen
from league.player import Player
from league.state import TRAIN, apply

BUSY = Signs(live=True, elapsed=600.0, collector_wait=0.1, learner_wait=0.1, free=1 << 40)


@pytest.fixture
def state(played):
    """Return the state of a league that is under way, in which nobody has met anybody in evaluation."""
    state = read_offline(played[0]).state
    state.phase, state.voids = "training", 0
    for player in state.population:
        state.evaluation.restart(player.id)
    return state


def names(state, signs=BUSY):
    return [alarm.name for alarm in find_alarms(state, signs)]


def past_of(state, parent):
    return next(player.id for player in state.population.frozen() if player.parent == parent)


def meet(state, a, b, won, lost):
    state.evaluation.record_games(a, b, [(0, 1)] * won + [(1, 0)] * lost, 1.0)


def test_a_healthy_league_has_none(state):
    assert names(state) == []


def test_a_main_that_surely_loses_to_its_past(state):
    past = past_of(state, "main")
    meet(state, "main", past, 9, 11)
    assert names(state) == []
    meet(state, "main", past, 10, 190)
    (alarm,) = find_alarms(state, BUSY)
    assert alarm.name == "past/main"
    assert f"9% against {past}" in alarm.what


@pytest.mark.parametrize("frozen", [False, True])
def test_exploiters_that_surely_beat_the_main(state, frozen):
    exploiter = "exploiter"
    if frozen:
        exploiter = "exploiter.9"
        player = Player(id=exploiter, kind="main_exploiter", parent="exploiter", snapshot="0" * 64)
        apply(state, PlayerFrozen(player=player, decisions=1, why="due"))
    meet(state, exploiter, "main", 90, 10)
    (alarm,) = find_alarms(state, BUSY)
    assert alarm.name == "exploited/main"
    assert alarm.what.startswith(f"{exploiter} surely beats main")


def test_losing_to_an_anchor_is_no_alarm(state):
    meet(state, "random", "main", 90, 10)
    assert names(state) == []


@pytest.mark.parametrize("who", ["collector", "learner"])
def test_waiting_for_more_than_a_third_of_the_time(state, who):
    waiting = replace(BUSY, **{f"{who}_wait": 0.34})
    assert names(state, waiting) == [f"wait/{who}s"]
    assert names(state, replace(waiting, elapsed=5.0)) == []
    assert names(state, replace(waiting, live=False)) == []
    state.paused = True
    assert names(state, waiting) == []


def test_void_tickets(state):
    state.voids = 3
    (alarm,) = find_alarms(state, BUSY)
    assert (alarm.name, alarm.what) == ("void", "3 tickets are void")
    state.results[TRAIN] += 1
    assert names(state) == ["void"]


def test_a_full_disk_comes_first(state):
    state.voids = 1
    assert names(state, replace(BUSY, free=1 << 20)) == ["disk", "void"]
    assert names(state, replace(BUSY, free=None)) == ["void"]


def flat(count=40, slope=0.0):
    return [RatingPoint(100 * i, 500.0 + slope * i, 480.0, 520.0) for i in range(count)]


def test_a_rating_that_stands_still(state):
    assert names(state, replace(BUSY, trails={"main": flat()})) == ["stalled/main"]
    assert names(state, replace(BUSY, trails={"main": flat(slope=5.0)})) == []
    assert names(state, replace(BUSY, trails={"exploiter": flat()})) == []
    assert stalled(flat(8)) is None
    state.phase = "over"
    assert names(state, replace(BUSY, trails={"main": flat()})) == []


def test_each_alarm_says_what_it_means_and_what_to_do(state):
    state.voids = 1
    signs = replace(BUSY, free=0, collector_wait=0.9, learner_wait=0.9, trails={"main": flat()})
    meet(state, past_of(state, "main"), "main", 90, 10)
    meet(state, "exploiter", "main", 90, 10)
    found = find_alarms(state, signs)
    assert len(found) == 7
    for alarm in found:
        assert alarm.meaning.endswith(".")
        assert alarm.advice.endswith(".")
        assert alarm.line == f"alarm: {alarm.what}. {alarm.meaning} {alarm.advice}"


def test_a_bell_rings_once(state):
    bell = Bell()
    state.voids = 1
    assert [alarm.name for alarm in bell.new(find_alarms(state, BUSY))] == ["void"]
    state.voids = 2
    assert bell.new(find_alarms(state, BUSY)) == []


def test_a_trail_stays_short():
    trail = RatingTrail()
    for point in flat(2000):
        trail.note(point)
    assert len(trail.points) <= 256
    assert trail.points[0].env_steps == 0
