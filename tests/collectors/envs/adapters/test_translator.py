"""Observations of any structure become the same rows as in a league."""

import numpy as np
import pytest
from gymnasium import spaces

from collectors.envs.adapters.space_forms import agent_spaces
from collectors.envs.adapters.translator import ObservationError, Translator
from league.agent_spaces import layout_of
from league.spec import Array, EnvSpec, Seat

NESTED = spaces.Dict(
    {
        "map": spaces.Box(0, 255, (2, 2), np.uint8),
        "self": spaces.Tuple((spaces.Discrete(3), spaces.Box(-1, 1, (2,), np.float32))),
    }
)


def translator(observation, action=None):
    action = action or spaces.Discrete(4)
    spec = EnvSpec("toy", ("a",), (Seat((0,)),), Array((9,), "float32"), actions=4)
    return Translator(spec, {"a": agent_spaces(observation, action)})


def seen(**changes):
    return {"map": np.full((2, 2), 7, np.uint8), "self": (1, np.array([0.5, -0.5], np.float32)), **changes}


def test_a_structure_becomes_a_flat_row():
    row, mask = translator(NESTED).read("a", seen())
    assert row.tolist() == [7, 7, 7, 7, 0, 1, 0, 0.5, -0.5]
    assert mask.all()


def test_spaces_and_a_structure_that_contradict_each_other_are_refused():
    spaces_of_a = {"a": agent_spaces(NESTED, spaces.Discrete(4))}
    parts = tuple(layout_of(spaces_of_a["a"].observation))
    for structure in ((), parts):
        Translator(EnvSpec("toy", ("a",), (Seat((0,)),), Array((9,), "float32", structure), actions=4), spaces_of_a)
    with pytest.raises(ValueError, match="another structure"):
        Translator(EnvSpec("toy", ("a",), (Seat((0,)),), Array((9,), "float32", parts[:2]), actions=4), spaces_of_a)


def test_a_mask_may_lie_beside_the_observation_or_be_given():
    both = {"observation": np.zeros(9, np.float32), "action_mask": np.array([1, 0, 0, 1], np.int8)}
    box = spaces.Box(-1, 1, (9,), np.float32)
    for space in (box, spaces.Dict({"observation": box, "action_mask": spaces.MultiBinary(4)})):
        reader = translator(space)
        assert reader.read("a", both)[1].tolist() == [True, False, False, True]
        assert reader.read("a", both["observation"], [0, 1, 0, 0])[1].tolist() == [False, True, False, False]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"map": 1}, r"the observation has the parts \['map'\], expected \['map', 'self'\]"),
        (np.zeros(9), "the observation is float64 \\(9,\\), expected"),
        (seen(map=np.zeros((3, 2), np.uint8)), r"\['map'\] is uint8 \(3, 2\), expected uint8 \(2, 2\)"),
        (seen(map=np.zeros((2, 2))), r"\['map'\] is float64 \(2, 2\), expected uint8"),
        (seen(self=(3, np.zeros(2))), r"\['self'\]\[0\] is 3, expected one of 3"),
        (seen(self=(0, np.array([np.nan, 0]))), "holds NaN"),
        (seen(self=[[1, 2], [3]]), r"\['self'\]\[0\] is a list, expected one of 3"),
        (None, "there is no observation"),
    ],
)
def test_a_wrong_structure_is_named(given, said):
    with pytest.raises(ObservationError, match=said):
        translator(NESTED).read("a", given)


def test_a_wrong_mask_is_named():
    with pytest.raises(ObservationError, match="no legal action; is its episode over"):
        translator(NESTED).read("a", seen(), np.zeros(4, np.int8))
    with pytest.raises(ObservationError, match="has shape \\(3,\\), but it has 4 actions"):
        translator(NESTED).read("a", seen(), np.zeros(3, np.int8))
    with pytest.raises(ObservationError, match="other numbers than 0"):
        translator(NESTED).read("a", seen(), np.array([0.0, -np.inf, 0.0, 0.0]))


def test_spaces_that_contradict_the_spec_are_refused():
    with pytest.raises(ValueError, match="but its spec says"):
        translator(NESTED, spaces.Discrete(5))
