"""How far the final evaluation of a league is."""

import pytest

from launch.viewers.tables import status_json
from league.state import OVER


def test_how_long_the_final_evaluation_takes_follows_from_the_speed_of_collectors(finishing):
    state = finishing.state
    left = status_json(finishing)
    games = left["final_wanted"] - left["final_done"]
    length = state.steps["evaluate"] / state.episodes["evaluate"]
    assert left["final_seconds_left"] == pytest.approx(games * length / 24_000)
    finishing.workers[0].metrics["env_steps_per_second"] = 0.01
    assert status_json(finishing)["final_seconds_left"] == 30.0, "it ends after half of the budget"
    finishing.workers = ()
    assert status_json(finishing)["final_seconds_left"] is None
    state.phase = OVER
    assert {status_json(finishing)[f"final_{name}"] for name in ("done", "wanted", "seconds_left")} == {None}
