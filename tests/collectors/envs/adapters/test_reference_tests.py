"""PettingZoo's reference tests find what is wrong, and its own loop gives the returns to compare with."""

import odd_envs as odd
import pytest

from collectors.envs.adapters.pettingzoo import builder
from collectors.envs.adapters.reference_tests import complaints, outside, returns, spaces


def test_a_good_environment_has_no_complaints():
    assert complaints(builder("classic/tictactoe_v3")) == []


def test_returns_are_those_of_pettingzoos_own_loop():
    moves = [{f"player_{1 + move % 2}": cell} for move, cell in enumerate([0, 3, 1, 4, 2])]
    assert returns(builder("classic/tictactoe_v3"), 1, moves) == {"player_1": 1.0, "player_2": -1.0}


def test_actions_of_another_agent_are_an_error():
    with pytest.raises(ValueError, match="agent 'player_1' is to act, but the rows had agent 'player_2' act"):
        returns(builder("classic/tictactoe_v3"), 1, [{"player_2": 0}])


def test_observations_outside_of_their_space_are_found():
    ticks = [dict.fromkeys(odd.Stray().possible_agents, 0)] * 5
    assert outside(odd.Stray, 1, ticks)
    assert outside(builder("mpe2/simple_spread_v3"), 1, [dict.fromkeys(("agent_0", "agent_1", "agent_2"), 0)]) == {}


def test_spaces_are_texts():
    assert spaces(builder("classic/tictactoe_v3"))["player_2"][1] == "Discrete(9)"
