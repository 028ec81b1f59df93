"""Every setting of a PettingZoo environment works with env.python: the same rows, faults and checks as here."""

import re
import sys
from pathlib import Path

import far_games
import pytest

from collectors.check import check
from collectors.conformance import RuleChecker
from collectors.conforming import conform
from collectors.envs.config import EnvConfig, VariantConfig, make_environment, planned

ALLOW = [sys.executable, "foreign_games", "odd_envs", "sized_env"]
SIZES = {
    "small": VariantConfig(weight=2.0, kwargs={"size": 2, "runners": 2}),
    "large": VariantConfig(kwargs={"size": 4, "runners": 3}),
}


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.chdir(far_games.HERE)


def config(id, python=sys.executable, **settings):
    return EnvConfig(name="pettingzoo", id=id, python=python, **settings)


def both(id, **settings):
    """Return the environment in another Python and in this one."""
    return [make_environment(config(id, python, **settings), 3, ALLOW) for python in (sys.executable, "")]


FORMS = {
    "numbers for agents": ("foreign_games:numbered", {}),
    "tuples for agents": ("foreign_games:paired", {}),
    "numbers for agents in turns": ("foreign_games:NumberedAec", {}),
    "a module": ("foreign_games:old_style", {}),
    "args": ("foreign_games:Positional", {"args": [2], "kwargs": {"agents": 3}}),
    "cast of float64": ("foreign_games:Loose", {"cast": True}),
    "cast of lists": ("foreign_games:Loose", {"cast": True, "kwargs": {"form": "list"}}),
    "cast of numbers": ("foreign_games:Loose", {"cast": True, "kwargs": {"form": "scalar"}}),
    "reward_weights": ("foreign_games:Vector", {"reward_weights": [1.0, -0.5]}),
    "max_steps in turns": ("foreign_games:Unending", {"max_steps": 5}),
    "max_steps at once": ("odd_envs:Endless", {"max_steps": 7}),
    "max_steps before everybody acted": ("foreign_games:Unending", {"max_steps": 1}),
    "everything at once": ("foreign_games:NumberedAec", {"cast": True, "reward_weights": [2.0], "max_steps": 4}),
    "1e39": ("foreign_games:Pays", {}),
    "-1e39": ("foreign_games:Pays", {"kwargs": {"what": "-1e39"}}),
    "none": ("foreign_games:Pays", {"kwargs": {"what": "none"}}),
    "a wrong number of weights": ("foreign_games:Vector", {"reward_weights": [1.0]}),
    "a vector without weights": ("foreign_games:Vector", {}),
    "variants": ("sized_env:SizedRace", {"variants": SIZES}),
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_those_of_this_python(form):
    id, settings = FORMS[form]
    far, near = both(id, **settings)
    try:
        assert far.spec == near.spec
        played, expected = (RuleChecker(env).play(range(8)) for env in (far, near))
        assert played == expected
        assert [one.fault for one in played] == [one.fault for one in expected]
    finally:
        far.close()
        near.close()


def told(report):
    """Return the problems; pytest shows in this process which numbers PettingZoo's tests compared."""
    return [re.sub(r"\s+assert .*", "", problem.what) for problem in report.problems]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["numbers for agents in turns", "cast of lists", "reward_weights", "variants"])
def test_checks_see_the_converted_environment(form):
    id, settings = FORMS[form]
    far, near = (
        check(config(id, python, **settings), slots=2, allow=ALLOW, episodes=4) for python in (sys.executable, "")
    )
    # PettingZoo's seed test compares samples of spaces that are new objects each time: they differ, or not, by chance.
    assert [one for one in told(far) if "seeding" not in one] == [one for one in told(near) if "seeding" not in one]
    assert far.fit or form == "variants", "PettingZoo's tests want spaces that are the same object each time"
    assert far.notes == near.notes


@pytest.mark.slow
def test_variants_obey_all_rules_of_environments():
    made = planned(config("sized_env:SizedRace", variants=SIZES), ALLOW)
    findings = conform(made.build, range(1, 40), 6, made.returns)
    assert findings.problems == ()
    assert findings.deterministic


@pytest.mark.parametrize("name", ["Older", "older_conversion"])
def test_older_names_come_back_with_compat(name):
    report = check(config(f"foreign_games:{name}"), slots=1, allow=ALLOW, episodes=1)
    assert "It was written for an older PettingZoo, in which" in str(report.problems)
    assert check(config(f"foreign_games:{name}", compat=True), slots=1, allow=ALLOW, episodes=1).fit


def test_arguments_by_place_need_a_function():
    report = check(config("classic/rps_v2", args=[3]), allow=ALLOW)
    assert "env.args is only for environments that are named as package.module:function" in report.problems[0].what


@pytest.mark.parametrize("flaw", ["twice", "nothing", "again", "kept"])
@pytest.mark.slow
def test_who_pays_twice_is_named(flaw):
    id, kwargs = "foreign_games:Payroll", {"flaw": flaw}
    far, near = (check(config(id, python, kwargs=kwargs), slots=2, allow=ALLOW) for python in (sys.executable, ""))
    # PettingZoo's seed test compares samples of spaces that are new objects each time: they differ, or not, by chance.
    assert [one for one in told(far) if "seeding" not in one] == [one for one in told(near) if "seeding" not in one]


def test_what_it_prints_is_counted():
    made = planned(config("foreign_games:Chatty"), ALLOW)
    env = made.build(2)
    try:
        RuleChecker(env).play(range(4))
    finally:
        env.close()
    assert made.output.text.startswith("built\n")
    assert made.output.lines > 16


def test_a_closed_batch_leaves_its_process_to_the_next_one_and_the_last_ends_it():
    made = planned(config("odd_envs:Endless", max_steps=3), ALLOW)
    first = made.build(2)
    pid = first._env.pid
    first.close()
    second = made.build(5)
    assert second._env.pid == pid
    assert len(RuleChecker(second).play(range(8))) == 8
    second.close()
    del made, first, second
    assert not Path(f"/proc/{pid}").exists()
