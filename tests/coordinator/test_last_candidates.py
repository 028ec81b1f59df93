import pytest

from coordinator.last_candidates import LONGEST, SILENCE, LastCandidates

ASSIGNED = {"learner-0": ["main", "exploiter"], "learner-1": ["other"]}


@pytest.fixture
def last():
    found = LastCandidates()
    for learner in ASSIGNED:
        found.report(learner, (), 0.0)
    return found


def test_every_player_is_awaited_until_its_own_learner_says_that_it_has_finished(last):
    assert last.awaited(ASSIGNED, 0.0) == ["main", "exploiter", "other"]
    last.report("learner-0", ["main", "other"], 1.0)
    assert last.awaited(ASSIGNED, 1.0) == ["exploiter", "other"], "nobody speaks for the player of another"
    last.report("learner-0", ["main", "exploiter"], 2.0)
    last.report("learner-1", ["other"], 2.0)
    assert last.awaited(ASSIGNED, 2.0) == []


def test_a_learner_that_is_silent_is_not_waited_for(last):
    last.awaited(ASSIGNED, 0.0)
    last.report("learner-1", (), 5.0)
    assert last.awaited(ASSIGNED, SILENCE - 0.1) == ["main", "exploiter", "other"]
    assert last.awaited(ASSIGNED, SILENCE) == ["other"]
    assert last.awaited(ASSIGNED, SILENCE + 5.0) == []


def test_a_learner_that_this_term_has_not_heard_of_has_time_to_start():
    last = LastCandidates()
    assert last.awaited(ASSIGNED, 100.0) == ["main", "exploiter", "other"]
    assert last.awaited(ASSIGNED, 100.0 + SILENCE) == []


def test_a_learner_that_never_finishes_is_not_waited_for_without_end(last):
    for second in range(int(LONGEST)):
        for learner in ASSIGNED:
            last.report(learner, (), float(second))
        assert last.awaited(ASSIGNED, float(second))
    assert last.awaited(ASSIGNED, LONGEST) == []


def test_once_all_are_there_a_learner_that_starts_again_holds_nothing_up(last):
    last.report("learner-0", ["main", "exploiter"], 1.0)
    last.report("learner-1", ["other"], 1.0)
    assert last.awaited(ASSIGNED, 1.0) == []
    last.report("learner-1", (), 2.0)
    assert last.awaited(ASSIGNED, 2.0) == []
    last.forget()
    assert last.awaited(ASSIGNED, 3.0) == ["other"], "the league has trained since then"
