"""Standings and payoff in one variant."""

import json

import pytest

from launch.api import League
from launch.config.compose import compose
from launch.config.config import to_plain
from launch.processes.inline import play
from launch.verify.verify import verify
from launch.viewers import reading
from launch.viewers.variant_view import state_in
from launch.viewers.view import ViewError
from league.store.run_directory import RunDirectory

SMALL = (
    "env=pettingzoo", "env.id=sized_env:SizedRace", "env.variants.small.kwargs.size=2",
    "env.variants.large={weight: 2, kwargs: {size: 4, runners: 3}}", "league=pfsp", "launch=inline",
    "policy.hidden=[8]", "algo.batch=128", "algo.minibatch=128", "collector.slots=8", "learner.candidate_decisions=256",
    "league.budget.minutes=null", "league.budget.env_steps=900", "league.evaluation.final_games=8", "name=maps",
    "league.matchmaking.variant_weighting=hard",
)  # fmt: skip
ALLOW = ("sized_env",)


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    config = compose(SMALL, ALLOW)
    run = RunDirectory(tmp_path_factory.mktemp("runs") / "maps").create()
    run.write_config(to_plain(config))
    return run, play(config, run, ALLOW)


def games(state):
    players = [player.id for player in state.population]
    return sum(sum(state.evaluation.counts(a, b)) for a in players for b in players)


def test_games_of_all_variants_are_those_of_the_league(maps):
    run, state = maps
    parts = [state_in(run, name) for name in ("small", "large")]
    assert all(games(part) > 0 for part in parts)
    assert sum(map(games, parts)) == games(state)
    assert sum(part.env_steps for part in parts) == state.env_steps


def test_commands_take_a_variant(maps, capsys):
    run, state = maps
    assert reading.standings(run, as_json=True, variant="small") == 0
    rows = json.loads(capsys.readouterr().out)
    assert sum(row["games"] for row in rows) < sum(state.evaluated.values()) * 2
    assert reading.payoff(run, variant="large") == 0
    assert "Evaluation" in capsys.readouterr().out
    assert reading.standings(run) == 0
    assert "variants: small 33%, large 67%" in " ".join(capsys.readouterr().out.split())
    assert {match["variant"] for match in matches(run, capsys)} == {"small", "large"}


def matches(run, capsys):
    assert reading.matches(run, limit=50, as_json=True) == 0
    return json.loads(capsys.readouterr().out)


def test_the_api_takes_a_variant(maps):
    run, _ = maps
    league = League(run, ALLOW)
    assert {row.player for row in league.standings("small")} == {row.player for row in league.standings()}
    with pytest.raises(ViewError, match=r"has no variant 'smal'; did you mean 'small'\?"):
        league.payoff(variant="smal")


def test_a_league_in_variants_verifies(maps):
    run, _ = maps
    assert verify(run) == 0
