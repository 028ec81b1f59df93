"""What names say: numbers at their ends, and beginnings that they share."""

import pytest

from collectors.envs.adapters.team_names import base_name, shared_beginnings


@pytest.mark.parametrize(
    ("agent", "base"),
    [
        ("wolf_0", "wolf"),
        ("drone12", "drone"),
        ("red 2", "red"),
        ("red-2", "red"),
        ("team1_3", "team1"),
        ("3", "player"),
        ("alice", "alice"),
    ],
)
def test_the_number_at_the_end_only_distinguishes(agent, base):
    assert base_name(agent) == base


@pytest.mark.parametrize(
    ("names", "teams"),
    [
        (["redmelee", "redranged", "bluemelee", "blueranged"], ["red", "red", "blue", "blue"]),
        (["redmelee", "redranged", "bluemelee"], ["red", "red", "blue"]),
        (["red_tank", "red_medic", "blue_tank", "blue_medic"], ["red", "red", "blue", "blue"]),
        (["east_pawn", "east_king", "west_pawn", "west_king"], ["east", "east", "west", "west"]),
        (["wolf", "sheep"], []),
        (["red", "blue"], []),
        (["redfox", "bluebird"], []),
        (["adversary", "agent"], []),
        (["east_pawn", "east_king", "west_pawn"], []),
        (["archer", "knight", "zombie"], []),
    ],
)
def test_names_of_a_team_and_a_task(names, teams):
    found = shared_beginnings(names)
    assert [found[name] for name in names if found] == teams
