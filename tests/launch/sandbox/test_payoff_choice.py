"""What counts as better, as the trial before a run shows it."""

import pytest

from collectors.check import try_out
from collectors.envs.config import EnvConfig, make_environment
from launch.sandbox.payoff_choice import EPISODES, choose_payoff, settled


@pytest.mark.parametrize(
    ("env", "by", "why"),
    [
        (EnvConfig(name="connect_four"), "outcome", "32 episodes of random play ended with a win, a draw or a loss"),
        (EnvConfig(name="tic_tac_toe"), "outcome", "episodes of random play ended"),
        (EnvConfig(name="rock_paper_scissors"), "return", "its games end with leads of"),
        (EnvConfig(name="openspiel", id="kuhn_poker"), "return", "leads of 1 and 2, not just with a winner"),
        (EnvConfig(name="openspiel", id="leduc_poker"), "return", "leads of"),
        (EnvConfig(name="rock_paper_scissors", draw_margin=3.0), "outcome", "episodes of random play ended"),
        (EnvConfig(name="simple_spread"), "outcome", "it has one side"),
    ],
)
def test_a_game_of_stakes_goes_by_return(env, by, why):
    if env.name == "openspiel":
        pytest.importorskip("pyspiel")
    made = make_environment(env, 2)
    played = try_out(made, seconds=20.0, enough=settled if len(set(made.spec.sides)) == 2 else bool)
    chosen, reason = choose_payoff(played.margins, made.spec)
    assert chosen == by
    assert why in reason
    made.close()


def test_rounding_makes_no_stakes_and_no_episode_makes_no_choice():
    spec = make_environment(EnvConfig(name="tic_tac_toe"), 1).spec
    assert choose_payoff([0.30000001, -0.3, 0.0], spec)[0] == "outcome"
    assert choose_payoff([], spec) == ("outcome", "no episode ended in the trial")
    assert not settled([1.0] * (EPISODES - 1))
    assert settled([1.0] * EPISODES)
    assert settled([1.0, -1.5])
