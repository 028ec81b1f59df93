"""Whole leagues on games that are not zero-sum: players are compared within their role, returns are beside ratings."""

import pytest
from rich.console import Console

from launch.config.compose import compose
from launch.config.config import stored
from launch.config.track import TrackConfig
from launch.processes.inline import play
from launch.start import begin
from launch.verify.verify import verify
from launch.viewers.curves import Curves
from launch.viewers.payoff_matrix import payoff_json, return_matrix
from launch.viewers.tables import standings_json, standings_table
from launch.viewers.view import read_offline

pytestmark = pytest.mark.slow  # seconds each
SMALL = ("launch=inline", "league=pfsp", "policy.hidden=[8]", "collector.slots=8", "league.evaluation.final_games=16")


def walk(runs, env, *more):
    """Play a short league; return the run and its state."""
    overrides = ["env=pettingzoo", f"env.id=small_envs:{env}", *SMALL, "league.budget.env_steps=1200", *more]
    config = compose([*overrides, f"runs={runs}", f"name={env.lower()}"])
    with begin(config, allow=("small_envs",), accept=False, notify=lambda line: None) as run:
        state = play(stored(run), run, allow=("small_envs",))
    assert verify(run) == 0
    return run, state


def curves(run):
    rows = []
    read_offline(run, watcher=Curves(TrackConfig(every=1), rows.append))
    return {name for row in rows for name in row.values}


@pytest.mark.parametrize("by", ["outcome", "return"])
def test_a_tiger_is_no_better_than_a_deer_for_its_seat(tmp_path, by):
    run, state = walk(tmp_path, "Hunt", f"league.payoff={by}")
    assert state.keeps_returns
    rows = {row["player"]: row for row in standings_json(state)}
    assert rows["main_tiger"]["anchors"]["random"] == 1.0, "it always returns more: the score says nothing"
    assert rows["main_deer"]["anchors"]["random"] == 0.0
    scale = 300 if by == "outcome" else 10
    assert abs(rows["main_tiger"]["rating"] - rows["main_deer"]["rating"]) < scale
    tiger, deer = rows["main_tiger"]["returns"]["tiger"], rows["main_deer"]["returns"]["deer"]
    assert tiger["mean"]["mean"] > 15
    assert deer["mean"]["mean"] < -9
    assert set(rows["random"]["returns"]) == {"tiger", "deer"}
    players = payoff_json(state)["evaluate"]["players"]
    cell = payoff_json(state)["evaluate"]["cells"][players.index("main_tiger")][players.index("random")]
    assert cell["returned"]["mean"] > 15
    assert {"return/main_tiger", "over_median/main_tiger", "return/random_as_deer"} <= curves(run)
    console = Console(width=100, record=True, file=None)
    with console.capture() as shown:
        console.print(standings_table(state))
        console.print(return_matrix(state, "Returns"))
    assert "over median" in shown.get()
    assert "mean return, games" in shown.get()


def test_a_dilemma_shows_returns_beside_ratings(tmp_path):
    _, state = walk(tmp_path, "Dilemma")
    assert state.keeps_returns
    found = {row["player"]: row["returns"]["player"] for row in standings_json(state) if "returns" in row}
    assert found["main"]["mean"]["games"] > 0
    assert found["main"]["over"] is not None


def test_a_zero_sum_game_keeps_no_returns(tmp_path):
    run, state = walk(tmp_path, "Duel")
    assert not state.keeps_returns
    assert not any("returns" in row for row in standings_json(state))
    assert return_matrix(state, "Returns") is None
    assert not any(name.startswith(("return/", "over_median/")) for name in curves(run))
    cells = payoff_json(state)["evaluate"]["cells"]
    assert not any("returned" in cell for line in cells for cell in line if cell)
