"""Changes between two configs: found, told in one line each, and harmless or not."""

import pytest

from launch.config.changes import differences


def test_equal_configs_have_no_differences():
    plain = {"a": {"b": [1, 2]}, "c": None, "d": {}}
    assert differences(plain, {"d": {}, "c": None, "a": {"b": [1, 2]}}) == []


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ({"league": {"episodes": 8}}, {"league": {"episodes": 16}}, "league.episodes: 8 -> 16"),
        ({"seed": 1}, {}, "seed: 1 -> (nothing)"),
        ({}, {"a": {"b": {"c": True}}}, "a.b.c: (nothing) -> true"),
        ({"minutes": None}, {"minutes": 2.5}, "minutes: null -> 2.5"),
        ({"hidden": [128]}, {"hidden": [128, 64]}, "hidden: [128] -> [128,64]"),
        ({"name": "mlp"}, {"name": "board_conv"}, "name: mlp -> board_conv"),
        ({"rate": 1}, {"rate": True}, "rate: 1 -> true"),
    ],
)
def test_a_change_is_one_line(old, new, line):
    assert [str(change) for change in differences(old, new)] == [line]


def test_an_empty_group_that_gets_a_key():
    found = [str(change) for change in differences({"kwargs": {}}, {"kwargs": {"size": 3}})]
    assert found == ["kwargs.size: (nothing) -> 3", "kwargs: {} -> (nothing)"]


@pytest.mark.parametrize(
    ("key", "harmless"),
    [
        ("launch.collectors", True),
        ("league.budget.minutes", True),
        ("collector.slots", True),
        ("track.to", True),
        ("name", True),
        ("collector.ticks", False),
        ("league.budgets", False),
        ("launcher", False),
        ("seed", False),
        ("env.name", False),
        ("league.players.main.rate", False),
    ],
)
def test_harmless(key, harmless):
    nested: object = 1
    for part in reversed(key.split(".")):
        nested = {part: nested}
    (change,) = differences({}, nested)
    assert change.harmless == harmless
