import torch

from league.policies.layout import PolicyConfig
from league.policies.network import leaves_of, like, network_shape, unflattened
from league.spec import Array, EnvSpec, ObservationPart, Seat

PARTS = (
    ObservationPart(("clock", 0), 0, (), (3,)),
    ObservationPart(("clock", 1), 3, (2,), (2, 3)),
    ObservationPart(("units",), 8, (2, 2)),
)
SPEC = EnvSpec("toy", ("a", "b"), (Seat((0, 1)),), Array((12,), "float32", PARTS), actions=4, continuous=1)


def test_a_row_gets_its_structure_back():
    row = torch.tensor([[0, 0, 1, 0, 1, 1, 0, 0, 5, 6, 7, 8.0], [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1.0]])
    seen = unflattened(SPEC, row)
    assert seen["clock"][0].tolist() == [2, 0]
    assert seen["clock"][1].tolist() == [[1, 0], [0, 2]]
    assert seen["units"].tolist() == [[[5, 6], [7, 8]], [[0, 0], [0, 1]]]
    assert seen["clock"][0].dtype == torch.int64


def test_an_array_stays_one_tensor_of_floats():
    board = EnvSpec("toy", ("a",), (Seat((0,)),), Array((2, 3), "int8"), actions=2)
    seen = unflattened(board, torch.ones(5, 2, 3, dtype=torch.int8))
    assert (seen.shape, seen.dtype) == ((5, 2, 3), torch.float32)


def test_a_deviation_that_depends_on_the_state_is_an_output():
    assert network_shape(PolicyConfig(), SPEC).outputs == 4 + 1
    assert network_shape(PolicyConfig(deviation="state"), SPEC).outputs == 4 + 2


def test_the_shape_has_the_structure_too():
    shape = network_shape(PolicyConfig(), SPEC)
    assert shape.observation["units"].shape == (2, 2)
    assert shape.observation["clock"][1].choices == (2, 3)
    assert (shape.outputs, shape.options, shape.agents) == (5, 4, 2)


def test_leaves_go_back_where_they_were():
    tree = {"a": (1, {"b": 2}), "c": 3}
    assert leaves_of(tree) == [1, 2, 3]
    assert like(tree, [4, 5, 6]) == {"a": (4, {"b": 5}), "c": 6}
    assert like((), []) == ()
