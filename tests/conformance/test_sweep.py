"""The sweep: every installed environment is played through the real collector, and pays what it pays by itself."""

import time
import warnings

import pettingzoo
import pytest

from benchmarks.environments import config_of, pace, plan_of, play_matches, wrong
from benchmarks.known_environments import KNOWN
from collectors.conforming import conform
from collectors.envs.rows import Ends

QUICK = [id for id, known in KNOWN.items() if known.quick]
REST = [id for id, known in KNOWN.items() if not (known.quick or known.alike or id.startswith("pgx/"))]  # see test_pgx


def pays_what_it_should(id):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what environments warn of is not ours
        made = plan_of(id)
        assert wrong(made) == []
        return conform(made.build, range(1, 3), 2, made.returns)


@pytest.mark.parametrize("id", QUICK)
def test_quick(id):
    findings = pays_what_it_should(id)
    assert findings.problems == ()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("id", REST)
def test_rest(id):
    findings = pays_what_it_should(id)
    assert findings.problems == ()


def test_no_installed_environment_is_left_out():
    from mpe2.all_modules import mpe_environments
    from pettingzoo.env_registry.registration import aec_registry, parallel_registry

    registered = {id.replace("-v", "_v") for id in (*aec_registry, *parallel_registry)}
    found = set(registered)
    found |= {name.replace("mpe/", "mpe2/") for name in mpe_environments}
    assert len(found) > 20
    assert found <= set(KNOWN), "add it to benchmarks/known_environments.py"


def test_the_sweep_finds_a_payment_that_is_lost():
    made = plan_of("classic/tictactoe_v3")

    class Greedy:
        def __init__(self, env):
            self.env = env

        def step(self, actions):
            ends = self.env.step(actions)
            names = ("slot", "agent", "reward", "truncated", "observation", "over", "faults", "idle", "state")
            return Ends(**{name: getattr(ends, name) for name in names} | {"reward": abs(ends.reward)})

        def __getattr__(self, name):
            return getattr(self.env, name)

    unfair = type(made)(build=lambda slots: Greedy(made.build(slots)), returns=made.returns)
    assert any("seat" in found for found in wrong(unfair))


def test_a_match_that_breaks_is_told():
    class Broken:
        def __init__(self, env):
            self.env = env

        def step(self, actions):
            if len(actions):
                raise RuntimeError("the board caught fire")
            return self.env.step(actions)

        def __getattr__(self, name):
            return getattr(self.env, name)

    with pytest.raises(RuntimeError, match="caught fire"):
        play_matches(Broken(plan_of("classic/tictactoe_v3").build(2)))


def test_pettingzoo_is_the_version_of_the_list():
    assert pettingzoo.__version__.startswith("1.27"), "run the sweep again and renew docs/environments.md"


def test_speeds_leave_out_how_long_it_takes_to_build():
    made = plan_of("classic/tictactoe_v3")

    def slowly(slots):
        end = time.process_time() + 1.0
        while time.process_time() < end:
            pass
        return made.build(slots)

    found = pace(config_of("classic/tictactoe_v3"), type(made)(build=slowly), 0.05, 1)
    assert found.ratio > 0.2  # a second in a slice of 0.05 s would leave 0.05
    assert found.own > 0.2 * found.bare
