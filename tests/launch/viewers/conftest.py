"""Views of a league that was played, and what a command printed."""

import pytest

from launch.viewers.view import read_offline
from league.state import FINAL
from league.wire.messages import Role, Worker


@pytest.fixture
def view(played):
    view = read_offline(played[0])
    view.seconds_left = 3725.0
    view.workers = (
        Worker(
            name="collector-0",
            role=Role.COLLECTOR,
            age=0.5,
            metrics={"env_steps_per_second": 24_000.0, "wait_share": 0.25},
        ),
        Worker(
            name="learner-0",
            role=Role.LEARNER,
            age=40.0,
            metrics={"wait_share": 0.5, "player/main/lag_mean": 1.25, "player/main/lag_p95": 2.0}
            | {"player/main/league/nash_conv": 0.4321},
        ),
    )
    return view


@pytest.fixture
def finishing(view):
    """Return a view of a league whose final evaluation is under way."""
    view.state.phase, view.state.why = FINAL, "the budget is spent"
    view.state.config.evaluation.final_games = 20
    view.state.config.budget.minutes = 1.0
    evaluation = view.state.evaluation
    for player in ("main", "exploiter"):
        evaluation.restart(player)
    evaluation.record_games("main", "random", [(0, 1)] * 3 + [(0, 0)] + [(1, 0)] * 3, 1.0)
    return view


@pytest.fixture
def out(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    return lambda: capsys.readouterr().out
