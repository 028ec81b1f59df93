"""`check`: tells what an environment is, and what is wrong with it, and never raises."""

import importlib.util
import sys
from pathlib import Path

import pytest

from collectors import check as check_module
from collectors.check import check


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(check_module, "SPEED_SECONDS", 0.01)


@pytest.fixture
def odd(monkeypatch):
    spec = importlib.util.spec_from_file_location("odd_envs", Path(__file__).parent / "odd_envs.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "odd_envs", module)
    spec.loader.exec_module(module)
    return module


def test_a_native_game():
    report = check("connect_four", slots=4)
    assert report.fit, report.lines()
    assert (report.zero_sum, report.deterministic, report.episodes) == (True, True, 16)
    assert 7 <= report.length[0] <= report.length[1] <= 42
    assert report.steps_per_second > 0
    text = "\n".join(report.lines())
    assert "connect_four: fit for a league" in text
    assert "2 (player: player_0; player: player_1)" in text
    assert "int8 [6, 7, 2]" in text


@pytest.mark.parametrize(
    ("id", "kwargs", "zero_sum"),
    [
        ("classic/tictactoe_v3", {}, True),
        ("classic/rps_v2", {}, True),
        ("mpe2/simple_spread_v3", {"max_cycles": 10}, False),
    ],
)
def test_pettingzoo_games(id, kwargs, zero_sum):
    report = check("pettingzoo", slots=2, kwargs={"id": id, "kwargs": kwargs}, episodes=4)
    assert report.fit, report.lines()
    assert report.name == id
    assert report.zero_sum is zero_sum


def problems(name, **kwargs):
    report = check(name, slots=2, kwargs={"kwargs": kwargs} if kwargs else None, allow=["odd_envs"], episodes=4)
    assert not report.fit
    assert all(problem.remedy for problem in report.problems)
    text = "\n".join(report.lines())
    assert "problem" in text
    assert "remedy" in text
    return text


def test_names_that_lead_nowhere():
    assert "Did you mean 'connect_four'" in problems("connect_for")
    assert "unknown PettingZoo environment" in problems("classic/nothing_v0")


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize(
    ("how", "expected"),
    [("step", "the board caught fire"), ("nan", "NaN"), ("mask", "allows no action"), ("reset", "dice fell")],
)
def test_broken_environments_are_told(how, expected):
    assert expected in problems("odd_envs:Broken", how=how, always=True)


@pytest.mark.usefixtures("odd")
def test_pettingzoos_own_tests_are_run():
    assert "PettingZoo's api_test: AssertionError" in problems("odd_envs:Broken", how="dtype", always=True)


@pytest.mark.usefixtures("odd")
def test_chance_that_ignores_the_seed_is_told():
    assert "same seed and actions gave other rows" in problems("odd_envs:GlobalDice")


@pytest.mark.usefixtures("odd")
def test_unknown_action_spaces_are_told():
    assert "agent 'walker_0' has the action space Sequence" in problems("odd_envs:unknown_actions")


@pytest.mark.usefixtures("odd")
def test_an_odd_but_lawful_environment_is_fit():
    report = check("odd_envs:deaths", allow=["odd_envs"], episodes=4)
    assert report.fit, report.lines()
