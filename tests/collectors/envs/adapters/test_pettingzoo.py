"""The PettingZoo adapter: ids, spaces, seats, wrappers, faults."""

import odd_envs as odd
import pytest

from collectors.envs.adapters.pettingzoo import adapt, make
from collectors.envs.plan import plan
from league.plugins import PluginError

# --- names ---


def test_ids_of_every_kind():
    assert make(1, "classic/connect_four_v3").spec.observation.shape == (6, 7, 2)
    assert make(1, "mpe2/simple_spread_v3", kwargs={"N": 2}).spec.agents == ("agent_0", "agent_1")
    assert make(1, "mpe2.simple_v3:env").spec.agents == ("agent_0",)
    assert plan("odd_envs:OddAec", {"kwargs": {"agents": 2}}, allow=["odd_envs"]).build(2).spec.agents == (
        "walker_0",
        "walker_1",
    )
    assert plan("pettingzoo", {"id": "classic/tictactoe_v3"}).build(1).spec.actions == 9
    assert plan("connect_four").build(3).slots == 3


@pytest.mark.parametrize(
    ("id", "message"),
    [
        ("", "env.id is missing"),
        ("classic/connect_five_v3", r"'classic/connect_five_v3'; did you mean 'classic/connect_four_v3'\?$"),
        ("nothing/like_it", "known ones are atari/.* classic/go_v5, "),
        ("mpe2/simple_nothing_v9", "cannot load 'mpe2/simple_nothing_v9'"),
        ("odd_envs:OddAec", "--allow odd_envs"),
        ("os:system", "not allowed"),
    ],
)
def test_ids_that_lead_nowhere(id, message):
    with pytest.raises((ValueError, PluginError), match=message):
        make(1, id)


def test_what_is_no_environment_is_refused():
    with pytest.raises(ValueError, match="expected a PettingZoo environment"):
        adapt(dict, 1)


# --- seats and roles ---


def test_roles_follow_names_and_spaces():
    assert make(1, "mpe2/simple_tag_v3").spec.roles == ("adversary", "agent")
    assert make(1, "classic/connect_four_v3").spec.roles == ("player", "player")
    assert adapt(odd.Composite, 1).spec.roles == ("walker", "walker_1")  # same name, other spaces


def test_teams():
    seats = [["adversary_0", "adversary_1", "adversary_2"], ["agent_0"]]
    spec = make(1, "mpe2/simple_tag_v3", seats=seats).spec
    assert [(seat.agents, seat.role) for seat in spec.seats] == [((0, 1, 2), "adversary"), ((3,), "agent")]
    uneven = adapt(odd.OddAec, 1, seats=[["walker_0", "walker_1"], ["walker_2"]]).spec
    assert uneven.roles == ("walker", "1 walker")
    assert adapt(odd.OddAec, 1, roles=["a", "b", "b"]).spec.roles == ("a", "b", "b")


@pytest.mark.parametrize(
    ("seats", "roles", "message"),
    [
        ([["walker_0"], ["walker_9"]], None, "walker_9"),
        ([["walker_0"], ["walker_1"]], None, "exactly one seat"),
        (None, ["a"], "one for each seat"),
    ],
)
def test_wrong_seats_are_refused(seats, roles, message):
    with pytest.raises(ValueError, match=message):
        adapt(odd.OddAec, 1, seats=seats, roles=roles)


def test_spaces_larger_than_memory_should_hold_are_refused():
    with pytest.raises(ValueError, match=r"vast: agent 'runner_0': a space has 3 axes \(3, 2400, 2400\).*env.wrappers"):
        adapt(odd.Vast, 1, name="vast")
