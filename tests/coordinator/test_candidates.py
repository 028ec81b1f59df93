"""Candidates: whose they are, how far they may have come, and what their files say, before anything is emitted."""

import pytest

from coordinator.candidates import DECISIONS, VERSIONS
from league.events import CandidateWritten


@pytest.fixture
def league(bench):
    league = bench(learners=("learner-0", "learner-1"))
    league.write("main", version=0, decisions=0)
    return league


def written(league):
    return [event.version for _, event in league.ledger.events() if isinstance(event, CandidateWritten)]


def test_a_learner_reports_only_the_players_that_it_was_given(bench):
    league = bench(learners=("learner-0", "learner-1"))
    mine, theirs = ([row.player for row in league.progress(name=name).players] for name in ("learner-0", "learner-1"))
    league.progress(*map(league.candidate, theirs), name="learner-0")
    assert written(league) == []
    league.progress(*map(league.candidate, mine), name="learner-0")
    assert written(league) == [0] * len(mine)


@pytest.mark.parametrize(
    ("version", "decisions", "right"),
    [
        (1, 0, True),
        (VERSIONS, DECISIONS, True),
        (VERSIONS + 1, 0, False),
        (2**62, 0, False),
        (1, DECISIONS + 1, False),
        (0, 100, False),
    ],
)
def test_versions_and_decisions_go_on_in_steps(league, version, decisions, right):
    league.progress(league.candidate("main", version, decisions))
    assert written(league) == ([0, version] if right else [0])


@pytest.mark.parametrize(("decisions", "right"), [(99, False), (0, False), (100, True)])
def test_decisions_never_fall(league, decisions, right):
    league.write("main", version=1, decisions=100)
    league.progress(league.candidate("main", 2, decisions))
    assert written(league) == ([0, 1, 2] if right else [0, 1])


def test_a_candidate_whose_file_is_not_there_yet_is_asked_about_again(league):
    found = []
    league.coordinator.inspect = lambda candidate: found.append(candidate) or ("" if len(found) > 2 else None)
    for _ in range(4):
        league.progress(league.candidate("main", 1))
    assert written(league) == [0, 1]
    assert len(found) == 3, "and no more once it is known"


def test_a_wrong_file_is_looked_at_once_and_a_right_one_is_taken_afterwards(league):
    looked = []
    league.coordinator.inspect = lambda candidate: (
        looked.append(candidate.version) or ("" if candidate.decisions else "its file says something else")
    )
    for _ in range(3):
        league.progress(league.candidate("main", 1))
    assert (looked, written(league)) == ([1], [0])
    league.progress(league.candidate("main", 1, decisions=7))
    assert written(league) == [0, 1], "the same version, told rightly"
