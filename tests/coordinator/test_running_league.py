"""The running league: events are applied at once, and taken once."""

from coordinator.running_league import RunningLeague
from league.events import OperatorActed, TermBegan
from league.state import LeagueState


def test_an_event_is_applied_at_once_and_taken_once(config):
    league = RunningLeague(LeagueState(config()))
    assert not league.unsaved
    events = [TermBegan(term=1), OperatorActed(action="pause")]
    for event in events:
        league.emit(event)
    assert (league.state.term, league.state.paused) == (1, True)
    assert league.unsaved
    assert league.take() == events
    assert league.take() == []
