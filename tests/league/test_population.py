"""The pool: everyone in order of arrival, and the questions that the rules ask of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.ids import Hash, PlayerId
from league.player import Player
from league.population import Population

MAIN = Player(id=PlayerId("m"), kind="main")
EXPLOITER = Player(id=PlayerId("e"), kind="main_exploiter")
ROVER = Player(id=PlayerId("l"), kind="league_exploiter")
RANDOM = Player(id=PlayerId("random"), kind="scripted", bot="random", anchor=0.0)


def frozen(name, parent, **more):
    return Player(id=PlayerId(name), kind="main", parent=PlayerId(parent), snapshot=Hash(name), **more)


def test_an_empty_pool_answers_every_question():
    pool = Population()
    assert len(pool) == 0
    assert list(pool) == pool.learning() == pool.frozen() == pool.anchors() == []
    assert pool.frozen_of(MAIN.id) == []


def test_questions():
    pasts = [frozen("m.0", "m"), frozen("e.0", "e"), frozen("l.0", "l"), frozen("m.1", "m", anchor=100.0)]
    pool = Population([MAIN, EXPLOITER, ROVER, RANDOM, *pasts])
    assert pool.learning() == [MAIN, EXPLOITER, ROVER]
    assert pool.frozen() == pasts
    assert pool.frozen_of(MAIN.id) == [pasts[0], pasts[3]]
    assert pool.anchors() == [RANDOM, pasts[3]]
    assert pool.learning_of(["main", "league_exploiter"]) == [MAIN, ROVER]
    assert pool[PlayerId("e.0")] is pasts[1]
    assert PlayerId("e.0") in pool
    assert PlayerId("e.1") not in pool


def test_answers_are_copies():
    pool = Population([MAIN, frozen("m.0", "m")])
    pool.frozen_of(MAIN.id).clear()
    assert len(pool.frozen_of(MAIN.id)) == 1


@settings(deadline=None)
@given(st.lists(st.sampled_from(["m", "e", "l"]), max_size=30))
def test_each_frozen_player_is_the_past_of_its_parent_and_of_nobody_else(parents):
    pool = Population([MAIN, EXPLOITER, ROVER])
    for i, parent in enumerate(parents):
        pool.add(frozen(f"f{i}", parent))
    assert [p.id for p in pool] == ["m", "e", "l", *(f"f{i}" for i in range(len(parents)))]
    for owner in (MAIN, EXPLOITER, ROVER):
        mine = [f"f{i}" for i, parent in enumerate(parents) if parent == owner.id]
        assert [p.id for p in pool.frozen_of(owner.id)] == mine  # oldest first


def test_an_id_is_taken_once():
    with pytest.raises(ValueError, match="already a player 'm'"):
        Population([MAIN, MAIN])


def test_a_parent_has_to_be_there_first():
    with pytest.raises(ValueError, match="unknown parent 'm'"):
        Population([frozen("m.0", "m"), MAIN])


def test_a_quarry_holds_still_until_the_player_is_frozen_or_reset():
    pool = Population([MAIN, EXPLOITER, frozen("m.0", "m")])
    assert pool.quarry(EXPLOITER.id, MAIN.id) is None, "it never began again"
    pool.begin(EXPLOITER.id)
    pool.add(frozen("m.1", "m"))
    assert pool.quarry(EXPLOITER.id, MAIN.id).id == "m.0"
    pool.begin(EXPLOITER.id)
    assert pool.quarry(EXPLOITER.id, MAIN.id).id == "m.1"
    assert Population(pool, pool.begun).quarry(EXPLOITER.id, MAIN.id).id == "m.1"


@settings(deadline=None)
@given(st.lists(st.sampled_from(["main", "exploiter", "begin"]), max_size=30))
def test_a_quarry_is_the_newest_past_at_the_last_beginning(steps):
    pool, newest, quarry = Population([MAIN, EXPLOITER]), None, None
    for number, step in enumerate(steps):
        if step == "begin":
            pool.begin(EXPLOITER.id)
            quarry = newest
        else:
            past = frozen(f"{step}.{number}", "m" if step == "main" else "e")
            pool.add(past)
            newest = past if step == "main" else newest
        assert pool.quarry(EXPLOITER.id, MAIN.id) is quarry
