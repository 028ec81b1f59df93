"""Once round with more than two seats: free-for-all, two against two, roles, co-operation."""

import pytest

from launch.config.compose import compose
from launch.config.config import to_plain
from launch.processes.inline import play
from launch.start import rehearse
from launch.verify.verify import verify
from launch.viewers.payoff_matrix import payoff_json
from launch.viewers.tables import standings_json
from league.state import OVER
from league.store.run_directory import RunDirectory

ALLOW = ["beacon"]
SMALL = [
    "launch=inline",
    "launch.collectors=1",
    "collector.slots=16",
    "collector.flush_decisions=100",
    "policy.hidden=[16]",
    "algo.batch=512",
    "algo.minibatch=128",
    "algo.lr=5e-3",
    "learner.candidate_decisions=2048",
    "league.promotion.min_decisions=3000",
    "league.promotion.max_decisions=6000",
    "league.evaluation.final_games=32",
    "league.budget.minutes=null",
]
BEACON = ["env=pettingzoo", "env.id=beacon:Beacon", "policy=mlp", "league.budget.env_steps=2500"]


def walk(tmp_path, *overrides):
    config = compose([*SMALL, *overrides])
    rehearse(config, ALLOW)
    run = RunDirectory(tmp_path / "run").create()
    run.write_config(to_plain(config))
    state = play(config, run, ALLOW)
    assert state.phase == OVER
    assert state.voids == 0
    assert verify(run) == 0
    return state


def score(state, player, opponent):
    return state.evaluation.win_share(player, opponent)[0]


@pytest.mark.slow
def test_a_free_for_all_of_four(tmp_path):
    state = walk(tmp_path, *BEACON, "league=pfsp")
    assert (state.env.roles, state.env.sides) == (("player",) * 4, (0, 1, 2, 3))
    assert score(state, "main", "random") > 0.75


@pytest.mark.slow
def test_two_against_two_with_team_mates_from_the_pool(tmp_path):
    state = walk(tmp_path, *BEACON, "league=pfsp", "env.sides=[red,red,blue,blue]")
    assert state.env.sides == (0, 0, 1, 1)
    assert score(state, "main", "random") > 0.75
    mates = [p.id for p in state.population if state.training.return_games("main", p.id) > 0]
    assert mates[0] == "main"
    assert any(mate.startswith("main.") for mate in mates), "the past was drawn as a team-mate"


@pytest.mark.slow
def test_cross_play_of_strangers(tmp_path):
    state = walk(tmp_path, *BEACON, "league=cross_play", "env.kwargs.players=2", "env.sides=[all,all]")
    table = payoff_json(state)["evaluate"]
    cell = {
        (a, b): table["returns"][i][j]
        for i, a in enumerate(table["players"])
        for j, b in enumerate(table["players"])
    }  # fmt: skip
    assert cell["main_a", "main_b"] == cell["main_b", "main_a"]
    assert cell["main_a", "main_a"]["low"] > cell["random", "main_a"]["high"]
    assert cell["main_a", "main_b"]["games"] >= 32
    best = standings_json(state)[0]
    assert best["rating"] is None
    assert best["own"]["mean"] > 4


@pytest.mark.slow
def test_simple_tag_has_mains_and_exploiters_on_both_sides(tmp_path):
    state = walk(tmp_path, "experiment=simple_tag", "league.budget.env_steps=2000", "league.evaluation.final_games=8")
    learning = {str(p.id): p.role for p in state.population.learning()}
    kinds = ("main", "main_exploiter", "league_exploiter")
    assert learning == {f"{kind}_{role}": role for kind in kinds for role in ("adversary", "agent")}
    assert state.evaluation.games("main_adversary", "main_exploiter_adversary") == 0, "the same side never meets"


@pytest.mark.slow
def test_agents_of_one_team_with_a_network_each(tmp_path):
    small = ["league=pfsp", "league.budget.env_steps=600", "league.evaluation.final_games=4", "collector.slots=8"]
    seats = "env.seats=[[adversary_0],[adversary_1],[adversary_2],[agent_0]]"
    roles = "env.roles=[left,middle,right,prey]"
    state = walk(tmp_path, "env=pettingzoo", "env.id=mpe2/simple_tag_v3", seats, roles, *small)
    assert state.env.sides == (0, 0, 0, 1), "predators with a seat each hunt together"
    learning = {str(p.id): p.role for p in state.population.learning()}
    assert learning == {f"main_{role}": role for role in ("left", "middle", "right", "prey")}
    assert state.training.return_games("main_left", "main_middle") > 0
    assert len({state.candidate(player).snapshot for player in learning}) == 4


def test_simple_spread_is_one_team(tmp_path):
    state = walk(
        tmp_path, "experiment=simple_spread", "league.budget.env_steps=1500", "league.evaluation.final_games=8"
    )
    assert len(state.env.seats) == 1
    main = next(row for row in standings_json(state) if row["player"] == "main")
    assert main["own"]["mean"] < 0
    assert main["cross"] is None


@pytest.mark.slow
def test_simple_spread_with_partners_from_the_pool(tmp_path):
    state = walk(
        tmp_path, "experiment=simple_spread_partners", "league.budget.env_steps=1500", "league.evaluation.final_games=8"
    )
    main = next(row for row in standings_json(state) if row["player"] == "main")
    assert main["cross"]["games"] >= 16
