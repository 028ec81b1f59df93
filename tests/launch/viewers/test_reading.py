import json

import pytest

from launch.viewers import reading
from launch.viewers.payoff_matrix import payoff_json
from launch.viewers.tables import standings_json
from launch.viewers.view import ViewError, open_view
from league.events import (
    TicketIssued,
    TicketReissued,
    TicketVoided,
)
from league.store.ledger import Ledger
from league.ticket import Entry, Episode, Purpose, Ticket
from league.wire.messages import Role, Worker


def test_status(run, state, out):
    assert reading.status(run) == 0
    text = out()
    assert f"{sum(state.results.values())} matches" in text
    assert "no coordinator answers" in text
    assert "left" not in text, "a league that is over has no time left"
    assert reading.status(run, as_json=True) == 0
    status = json.loads(out())
    assert (status["phase"], status["env_steps"], status["live"]) == ("over", state.env_steps, False)


def test_status_lists_the_workers(run, out, monkeypatch):
    view = open_view(run)
    figures = {"env_steps_per_second": 4550.0, "wait_share": 0.68, "dropped_decisions": 0.0}
    view.workers = (
        Worker(name="learner-0", role=Role.LEARNER, age=1.0, metrics={"updates_per_second": 2.5}),
        Worker(name="collector-0", role=Role.COLLECTOR, age=0.2, metrics=figures),
    )
    monkeypatch.setattr(reading, "open_view", lambda run: view)
    assert reading.status(run) == 0
    lines = [line.split() for line in out().splitlines()]
    assert ["collector-0", "4,550.0", "steps/s", "68%", "0", "0", "s", "ago"] in lines
    assert ["learner-0", "2.5", "updates/s", "-", "-", "1", "s", "ago"] in lines


def test_standings_and_payoff(run, state, out):
    assert reading.standings(run) == 0
    text = out()
    assert all(f" {player.id} " in text for player in state.population)
    assert reading.standings(run, as_json=True) == 0
    assert json.loads(out()) == json.loads(json.dumps(standings_json(state)))
    assert reading.payoff(run) == 0
    text = out()
    assert "Evaluation" in text
    assert "Training" in text
    assert reading.payoff(run, as_json=True) == 0
    assert json.loads(out()) == json.loads(json.dumps(payoff_json(state)))


def test_matches_newest_first(run, state, out):
    assert reading.matches(run, limit=7, as_json=True) == 0
    found = json.loads(out())
    assert len(found) == 7
    assert found[0]["ticket"] == max(match["ticket"] for match in found)
    for match in found:
        assert match["void"] is None
        assert sum(match["scores"]) == pytest.approx(1.0)
        if match["purpose"] == "evaluate":
            assert match["recorded"] == list(range(len(match["lengths"])))
    assert reading.matches(run, limit=10**6, as_json=True) == 0
    assert len(json.loads(out())) == sum(state.results.values())


def test_matches_of_one_player(run, state, out):
    assert reading.matches(run, "random", 10**6, as_json=True) == 0
    found = json.loads(out())
    assert found
    assert all("random" in match["players"] for match in found)
    assert sum(len(match["lengths"]) for match in found) == state.games["random"]
    with pytest.raises(ViewError, match="did you mean 'random'"):
        reading.matches(run, "randon")
    with pytest.raises(ViewError, match="--limit must be at least 1"):
        reading.matches(run, limit=0)


def test_a_void_match_tells_why(run, out):
    with Ledger.open(run.ledger) as ledger:
        number = ledger.query("select max(ticket) from events")[0][0] + 1
        entries = (Entry("main"), Entry("random", None, "random"))
        ticket = Ticket(number=number, purpose=Purpose.TRAIN, entries=entries, episodes=2, trains=("main",))
        ledger.commit(
            [
                TicketIssued(ticket=ticket),
                TicketReissued(ticket=number, attempt=1, why="no progress"),
                TicketVoided(ticket=number, why="step raised ZeroDivisionError"),
            ]
        )
    assert reading.matches(run, limit=1, as_json=True) == 0
    (match,) = json.loads(out())
    assert (match["void"], match["attempt"], match["scores"]) == ("step raised ZeroDivisionError", 1, None)
    assert reading.matches(run, limit=2) == 0
    text = " ".join(out().split())
    assert "main v random void step raised ZeroDivisionError" in text


def test_the_scores_of_three_players():
    entries = tuple(Entry(name) for name in "abc")
    ticket = Ticket(number=1, purpose=Purpose.EVALUATE, entries=entries, episodes=2)
    episodes = (Episode((0, 1, 1), (1, 0, 0), 5), Episode((0, 1, 2), (2, 1, 0), 9, b"\1"))
    match = reading.match_json(ticket, episodes)
    assert match["scores"] == [1.0, 0.375, 0.125]
    assert match["recorded"] == [1]
    alone = Ticket(number=1, purpose=Purpose.EVALUATE, entries=entries[:1], episodes=1)
    assert reading.match_json(alone, (Episode((0,), (3.0,), 5),))["scores"] is None


def test_status_of_a_league_that_is_over_has_its_last_nash_conv(kuhn, out):
    assert reading.status(kuhn, as_json=True) == 0
    (player, figure), *others = json.loads(out())["nash_conv"].items()
    assert (player, others) == ("main", [])
    assert figure > 0
    assert reading.status(kuhn) == 0
    assert f"no collector plays now, NashConv of main {figure:.3f}" in out()
