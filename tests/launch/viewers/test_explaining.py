"""`ludus explain`: opponents with probabilities, and what the next freeze lacks."""

import json

import pytest

from coordinator.scheduler import Scheduler
from launch.viewers import reading
from launch.viewers.explaining import promotion_status
from launch.viewers.view import ViewError
from league.events import (
    CandidateWritten,
    PlayerAdded,
    PlayerFrozen,
    ResultCounted,
    TicketIssued,
)
from league.player import Player
from league.rulebook import LeagueConfig
from league.state import LeagueState, apply
from league.ticket import Entry, Episode, Purpose, Ticket


def test_explain_tells_the_probabilities_of_the_scheduler(run, state, out):
    assert reading.explain(run, "main") == 0
    text = out()
    choices = Scheduler(state).choices(state.population["main"], frozenset({"player"}))
    assert sum(choice.probability for choice in choices) == pytest.approx(1.0)
    for choice in choices:
        (line,) = [
            line
            for line in text.splitlines()
            if line.split()[:1] == [choice.opponent] and f" {choice.why} " in f"{line} "
        ]
        assert f"{choice.probability:.2%}" in line
    assert "Promotion: " in text
    assert "random" in text[text.index("Scores") :]


def test_programs_get_the_same_probabilities(run, state, out):
    assert reading.explain(run, "main", as_json=True) == 0
    found = json.loads(out())
    choices = Scheduler(state).choices(state.population["main"], frozenset({"player"}))
    (seat,) = found["seats"]
    assert {c["opponent"]: c["probability"] for c in seat["choices"]} == {c.opponent: c.probability for c in choices}
    assert found["promotion"] == promotion_status(state, state.population["main"])
    assert reading.explain(run, "random", as_json=True) == 0
    assert json.loads(out())["promotion"] is None


def test_explain_knows_who_is_not_trained(run, out):
    assert reading.explain(run, "main.0") == 0
    text = out()
    assert "main.0 is frozen, a past of main" in text
    assert "Promotion" not in text
    assert reading.explain(run, "random") == 0
    assert "scripted, and is not trained" in out()
    with pytest.raises(ViewError, match="did you mean 'main"):
        reading.explain(run, "mian")


def grown(decisions):
    """Return a league whose main has one frozen past, and has trained on some decisions since."""
    state = LeagueState(LeagueConfig())
    rules = state.config.promotion
    rules.min_decisions, rules.max_decisions, rules.min_games, rules.threshold = 100, 1000, 4, 0.7
    apply(state, PlayerAdded(player=Player(id="main", kind="main")))
    if decisions is not None:
        past = Player(id="main.0", kind="main", parent="main", snapshot="s0")
        apply(state, CandidateWritten(player="main", incarnation=0, version=0, snapshot="s0", decisions=0))
        apply(state, PlayerFrozen(player=past, decisions=0, why="first"))
        apply(state, CandidateWritten(player="main", incarnation=0, version=1, snapshot="s1", decisions=decisions))
    return state


def win(state, games):
    entries = (Entry("main"), Entry("main.0", "s0"))
    number = state.tickets + 1
    ticket = Ticket(number=number, purpose=Purpose.TRAIN, entries=entries, episodes=games, trains=("main",))
    apply(state, TicketIssued(ticket=ticket))
    episodes = tuple(Episode((0, 1), (1.0, -1.0), 5) for _ in range(games))
    apply(state, ResultCounted(ticket=number, attempt=0, episodes=episodes))


@pytest.mark.parametrize(
    ("decisions", "wins", "told"),
    [
        (None, 0, "it has no candidate yet"),
        (50, 0, "50 decisions since its last freeze or reset; no freeze before 100"),
        (500, 0, "a freeze at 1,000 at the latest, or earlier, once it has 4 more games against main.0"),
        (500, 5, "once the lower bound of its score against main.0 exceeds 70% (now 32%; the score is 78%)"),
        (500, 40, "due with its next candidate: scores surely more than 0.7"),
        (1000, 0, "due with its next candidate: 1000 decisions"),
    ],
)
def test_promotion_tells_what_is_missing(decisions, wins, told):
    state = grown(decisions)
    if wins:
        win(state, wins)
    assert told in promotion_status(state, state.population["main"])
