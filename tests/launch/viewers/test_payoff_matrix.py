"""The payoff matrix of a league by return, the cells that ratings fill, and what describes the whole league."""

import io
import json
import re

import pytest
from rich.console import Console

from launch.viewers.payoff_matrix import payoff_json, payoff_matrix
from league.evaluation_payoff import RatedGame
from league.events import PlayerAdded
from league.player import Player
from league.rulebook import LeagueConfig
from league.state import LeagueState, apply


def league(*mains):
    state = LeagueState(LeagueConfig())
    for name in mains:
        apply(state, PlayerAdded(player=Player(id=name, kind="main")))
    apply(state, PlayerAdded(player=Player(id="random", kind="scripted", bot="random", anchor=0.0)))
    return state


def shown(renderable):
    console = Console(file=io.StringIO(), width=80)
    console.print(renderable)
    return console.file.getvalue()


def test_a_league_by_return_shows_margins():
    state = league("main")
    state.evaluation.go_by_return(10.0)
    games = [[RatedGame(float(k % 3 == 0), True, 5.0 if k % 3 == 0 else -1.0)] for k in range(300)]
    state.evaluation.record_turns("main", "random", games)
    matrix = shown(payoff_matrix(state, state.evaluation, "Evaluation"))
    assert "margin, games" in matrix
    assert re.search(r"main .* 1  300", matrix)
    cell = payoff_json(state)["evaluate"]["cells"][0][1]
    assert cell["margin"]["mean"] == pytest.approx(1.0)
    assert cell["margin"]["low"] < 1 < cell["margin"]["high"]
    assert cell["score"] == pytest.approx(1 / 3), "the share of points beside it"


def test_what_describes_the_league_is_beside_the_payoff_and_filled_cells_are_marked():
    state = league("main", "other")
    for player, wins in (("main", 75), ("other", 50)):
        games = [[RatedGame(float(k < wins), k % 2 == 0)] for k in range(100)]
        state.evaluation.record_turns(player, "random", games)
    found = json.loads(json.dumps(payoff_json(state), allow_nan=False))
    described = found["league"]
    assert described["nash"] == {"main": pytest.approx(1.0)}
    assert (described["nash_entropy"], described["diversity"]) == (0, 0)
    assert described["cycle_strength"] == pytest.approx(0, abs=1e-3)
    assert described["top_cycle"] == ["main"]
    assert (described["misfit"], described["worst_pairs"]) == (None, [])
    players = found["evaluate"]["players"]
    filled = found["evaluate"]["filled"][players.index("main")][players.index("other")]
    assert filled == pytest.approx(0.75, abs=0.02)
    matrix = shown(payoff_matrix(state, state.evaluation, "Evaluation"))
    assert re.search(rf"main .*\({100 * filled:.0f}\)", matrix)
    assert "(in brackets) they have not met: what their" in matrix
    assert "brackets" not in shown(payoff_matrix(state, state.training, "Training"))
