"""Who sits where: guessed from names and spaces, known for known environments, overruled by the config."""

import pytest

from collectors.envs.adapters.pettingzoo import make
from collectors.envs.adapters.seats import agent_roles, guess_layout, make_seats
from collectors.envs.config import EnvConfig, make_environment


def table(name, agents, turn_based=False, spaces=None, **wishes):
    roles = agent_roles(spaces or dict.fromkeys(agents, 1), turn_based)
    seats = make_seats(name, roles, guess_layout(name, agents, turn_based), **wishes)
    return [([agents[a] for a in seat.agents], seat.role, seat.side) for seat in seats]


@pytest.mark.parametrize(
    ("id", "seats", "roles", "sides"),
    [
        ("classic/connect_four_v3", [(0,), (1,)], ("player", "player"), (0, 1)),
        ("mpe2/simple_tag_v3", [(0, 1, 2), (3,)], ("adversary", "agent"), (0, 1)),
        ("mpe2/simple_adversary_v3", [(0,), (1, 2)], ("adversary", "agent"), (0, 1)),
        ("mpe2/simple_spread_v3", [(0, 1, 2)], ("agent",), (0,)),
        ("mpe2/simple_push_v3", [(0,), (1,)], ("adversary", "agent"), (0, 1)),
        ("mpe2/simple_crypto_v3", [(0,), (1, 2)], ("eve", "alice+bob"), (0, 1)),
        ("mpe2/simple_world_comm_v3", [(0, 1, 2, 3), (4, 5)], ("adversary+leadadversary", "agent"), (0, 1)),
        ("mpe2/simple_speaker_listener_v4", [(0, 1)], ("listener+speaker",), (0,)),
    ],
)
def test_known_environments_are_seated_out_of_the_box(id, seats, roles, sides):
    spec = make(1, id).spec
    assert [seat.agents for seat in spec.seats] == seats
    assert (spec.roles, spec.sides) == (roles, sides)


def test_butterfly_is_co_operative():
    pong = table("butterfly/cooperative_pong_v6", ["paddle_0", "paddle_1"])
    assert pong == [(["paddle_0"], "paddle", "all"), (["paddle_1"], "paddle", "all")]
    zombies = table("knights_archers_zombies_v11", ["archer_0", "archer_1", "knight_0", "knight_1"])
    assert zombies == [
        (["archer_0", "archer_1"], "archer", "all"),
        (["knight_0", "knight_1"], "knight", "all"),
    ]
    assert table("knights_archers_zombies_v11", ["archer_0"]) == [(["archer_0"], "archer", "all")]
    pistons = [f"piston_{i}" for i in range(20)]
    assert table("pettingzoo.butterfly.pistonball-v6:env", pistons) == [(pistons, "piston", "all")]


def test_an_unknown_environment_is_seated_by_its_names():
    wolves = table("my:env", ["wolf_0", "wolf_1", "sheep_0"])
    assert wolves == [(["wolf_0", "wolf_1"], "wolf", None), (["sheep_0"], "sheep", None)]
    four = [f"player_{i}" for i in range(4)]
    assert table("my:env", four) == [([agent], "player", None) for agent in four], "a free-for-all"
    colours = table("my:env", ["red_0", "red_1", "blue_0", "blue_1"])
    assert [role for _, role, _ in colours] == ["player", "player"], "two teams that can change places"
    assert len(table("my:env", ["wolf_0", "wolf_1", "sheep_0"], turn_based=True)) == 3


def test_the_config_overrules_all():
    env = make_environment(
        EnvConfig(
            name="pettingzoo",
            id="mpe2/simple_spread_v3",
            kwargs={"N": 4},
            seats=[["agent_0"], ["agent_1"], ["agent_[23]"]],
            roles=["lone", "lone", "pair"],
            sides=["red", "blue", "red"],
        ),
        1,
    )
    assert [seat.agents for seat in env.spec.seats] == [(0,), (1,), (2, 3)]
    assert (env.spec.roles, env.spec.sides) == (("lone", "lone", "pair"), (0, 1, 0))
    env.close()


@pytest.mark.parametrize(
    ("seats", "sides"),
    [
        ([["adversary_0"], ["adversary_1"], ["adversary_2"], ["agent_0"]], (0, 0, 0, 1)),
        ([["adversary_[01]"], ["adversary_2"], ["agent_0"]], (0, 0, 1)),
        ([["agent_0"], ["adversary_*"]], (0, 1)),
        ([["agent_0", "adversary_0"], ["adversary_1"], ["adversary_2"]], (0, 1, 1)),
    ],
)
def test_a_team_that_is_split_into_seats_is_still_a_side(seats, sides):
    env = make_environment(EnvConfig(name="pettingzoo", id="mpe2/simple_tag_v3", seats=seats), 1)
    assert env.spec.sides == sides
    env.close()


def test_teams_by_name_are_sides_too_unless_the_config_says_otherwise():
    pack = {"seats": [["wolf_0"], ["wolf_1"], ["sheep_0"]]}
    agents = ["wolf_0", "wolf_1", "sheep_0"]
    assert [side for *_, side in table("my:env", agents, **pack)] == ["wolf_0+wolf_1", "wolf_0+wolf_1", None]
    alone = table("my:env", agents, **pack, sides=["a", "b", "c"])
    assert [side for *_, side in alone] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"seats": [["agent_0"], ["agent_1"]]}, r"'agent_2' has no seat.*Add it to a seat"),
        ({"seats": [["agent_*"], ["agent_1"]]}, r"'agent_1' is in seat 0 .* and seat 1"),
        ({"seats": [["agent_*"], ["wolf_*"]]}, r"'wolf_\*', but the agents are"),
        ({"sides": ["red", "blue"]}, r"env.sides has 2 names for 1 seats"),
        ({"roles": ["a", "b"]}, r"env.roles has 2 names for 1 seats"),
    ],
)
def test_a_table_that_does_not_add_up_is_refused_in_one_line(wishes, message):
    with pytest.raises(ValueError, match=message) as caught:
        table("simple_spread_v3", ["agent_0", "agent_1", "agent_2"], **wishes)
    assert "\n" not in str(caught.value)
