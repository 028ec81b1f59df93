"""The report of `ludus check-env`."""

import odd_envs
import pytest

from collectors.check import check
from collectors.env_report import EnvReport


@pytest.fixture
def odd():
    return odd_envs


@pytest.mark.usefixtures("odd")
def test_agents_spaces_and_parts_are_told():
    report = check("odd_envs:continuous", allow=["odd_envs"], episodes=2)
    assert report.fit, report.lines()
    lines = [line.strip() for line in report.lines()]
    place = lines.index("agent          walker_1")
    assert lines[place + 1 : place + 3] == [
        "sees         Box(-10.0, 1000.0, (2,), float32)",
        "acts         Discrete(4, start=1)",
    ]
    assert "actions        choices of 4, 2, 2 options; 2 continuous" in lines


def test_sides_are_told():
    def side(id):
        lines = check("pettingzoo", slots=1, kwargs={"id": id, "kwargs": {"max_cycles": 2}}, episodes=1).lines()
        return next(line.split(maxsplit=1)[1] for line in lines if line.strip().startswith("sides"))

    assert side("mpe2/simple_spread_v3") == "one seat: nobody is beaten, its return counts"
    assert side("butterfly/cooperative_pong_v6") == "all seats on one side: nobody is beaten, returns count"


@pytest.mark.parametrize(
    ("deterministic", "told"),
    [
        (True, "yes: the same seed and actions gave the same rows"),
        (False, "no: the same seed and actions gave different rows"),
        (None, "unknown"),
    ],
)
def test_whether_it_is_deterministic_is_explained(deterministic, told):
    lines = EnvReport("toy", episodes=1, deterministic=deterministic).lines()
    assert f"  deterministic  {told}" in lines
