import msgspec
import numpy as np
import pytest
from gymnasium import spaces

from collectors.envs.adapters.space_forms import form_of, space_of
from league.agent_spaces import BoxForm, SpaceForm

SPACES = [
    spaces.Box(0, 255, (4, 4, 3), np.uint8),
    spaces.Box(-np.inf, np.inf, (3,), np.float64),
    spaces.Box(np.array([0, -2], np.float32), np.array([1, np.inf], np.float32)),
    spaces.Box(-(2**63), 2**63 - 1, (2,), np.int64),
    spaces.Box(0, 1, (2, 2), np.bool_),
    spaces.Discrete(5, start=2),
    spaces.MultiDiscrete([[2, 3], [4, 5]]),
    spaces.MultiBinary((2, 2)),
    spaces.Dict({"z": spaces.Discrete(2), "a": spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary((4,))))}),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_a_space_survives_as_json(space):
    text = msgspec.json.encode(form_of(space))
    assert space_of(msgspec.json.decode(text, type=SpaceForm)) == space


def test_a_dtype_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="no dtype of numbers"):
        space_of(BoxForm(shape=(1,), dtype="O"))
