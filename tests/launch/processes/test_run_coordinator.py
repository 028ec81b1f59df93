"""The coordinator's process: when it may leave."""

from types import SimpleNamespace

import pytest

from launch.processes.run_coordinator import LONGEST_DEPARTURE, QUIET_SECONDS, Departure
from league.state import OVER, TRAINING


@pytest.fixture
def league():
    """Return a coordinator whose only worker was heard of a moment ago."""
    worker = SimpleNamespace(age=0.0)
    return SimpleNamespace(
        stopping=False, state=SimpleNamespace(phase=TRAINING), workers=lambda now: [worker], worker=worker
    )


def test_a_coordinator_leaves_when_everybody_else_has(league):
    departure = Departure()
    assert not departure.due(league, 0.0)
    league.state.phase = OVER
    league.worker.age = QUIET_SECONDS + 1
    assert not departure.due(league, 10.0), "others may still come"
    assert departure.due(league, 10.0 + QUIET_SECONDS + 1)


def test_a_worker_that_does_not_leave_is_not_waited_for_without_end(league):
    departure = Departure()
    league.stopping = True
    assert not departure.due(league, 0.0)
    assert not departure.due(league, LONGEST_DEPARTURE)
    assert departure.due(league, LONGEST_DEPARTURE + 1)
