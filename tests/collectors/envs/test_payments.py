"""Why the two ways to read the rewards of an AEC environment may differ."""

import foreign_games
import pytest

from collectors.conforming import conform
from collectors.envs.payments import Payments, why_differs
from collectors.envs.plan import plan


def test_an_environment_whose_ways_agree_is_not_at_fault():
    assert why_differs("a", Payments(listed=3.0, paid=3.0, again=6.0, after_end=0.0)) is None


@pytest.mark.parametrize(
    ("flaw", "expected"),
    [
        ("twice", "last() pays agent 'walker_0' twice: 6, where env.rewards adds up to 3"),
        ("nothing", "last() pays agent 'walker_0' nothing, though env.rewards adds up to 3"),
        ("again", "last() pays agent 'walker_0' the same reward again at each turn"),
        (
            "kept",
            "env.rewards pays agent 'walker_1' twice: 0.25 is still there after the step of an agent that is done",
        ),
    ],
)
def test_who_pays_twice_is_named_with_the_agent_and_the_amounts(flaw, expected):
    made = plan("foreign_games:Payroll", {"kwargs": {"flaw": flaw}}, ["foreign_games"])
    findings = conform(made.build, [1, 2], 1, made.returns, payments=made.payments)
    (problem,) = findings.problems
    assert problem.what.startswith(expected)
    assert problem.what.endswith("(seed 1)")
    assert "_was_dead_step" in problem.remedy if flaw == "kept" else "call _accumulate_rewards() once" in problem.remedy


def test_an_environment_without_a_flaw_has_no_problem():
    made = plan("foreign_games:Payroll", {}, ["foreign_games"])
    assert conform(made.build, [1, 2], 1, made.returns, payments=made.payments).problems == ()
    assert foreign_games.Payroll().flaw == "none"
