"""What the league knows of an environment."""

import msgspec
import pytest

from league.spec import Array, EnvSpec, Seat


def spec(**changes):
    fields = {
        "name": "tag",
        "agents": ("fox", "hound_0", "hound_1"),
        "seats": (Seat((0,), "fox"), Seat((1, 2), "pack")),
        "observation": Array((3, 4), "float32"),
        "actions": 5,
    }
    return EnvSpec(**{**fields, **changes})


def test_sizes_and_roles():
    assert spec().observation.size == 12
    assert Array((), "int8").size == 1
    assert spec().roles == ("fox", "pack")


@pytest.mark.parametrize(
    "seats",
    [
        (Seat((0,)), Seat((1,))),  # hound_1 stands
        (Seat((0, 1)), Seat((1, 2))),  # hound_0 sits twice
        (Seat((0, 1, 2)), Seat((3,))),  # there is no fourth agent
        (),
    ],
)
def test_every_agent_sits_exactly_once(seats):
    with pytest.raises(ValueError, match=r"Correct env\.seats"):
        spec(seats=seats)


def test_the_signature_is_about_the_spaces_and_nothing_else():
    same = spec(name="other", agents=("a", "b", "c"), seats=(Seat((2, 1, 0)),))
    assert same.signature == spec().signature
    changed = [
        spec(actions=6),
        spec(observation=Array((4, 3), "float32")),
        spec(observation=Array((3, 4), "float64")),
    ]
    assert len({spec().signature, *(c.signature for c in changed)}) == 4


def test_a_spec_survives_json_and_is_checked_again():
    body = msgspec.json.encode(spec())
    assert msgspec.json.decode(body, type=EnvSpec) == spec()
    with pytest.raises(msgspec.ValidationError, match="exactly one seat"):
        msgspec.json.decode(body.replace(b"[1,2]", b"[1,1]"), type=EnvSpec)
