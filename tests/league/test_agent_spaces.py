import pytest

from league.agent_spaces import BoxForm, DictForm, DiscreteForm, MultiDiscreteForm, TupleForm, plain_spaces, size_of
from league.spec import Array, EnvSpec, Seat


@pytest.mark.parametrize(
    "form",
    [
        BoxForm(shape=(1 << 13, 1 << 13), dtype="int8"),
        BoxForm(shape=(-1,), dtype="int8"),
        DiscreteForm(n=0),
        MultiDiscreteForm(options=[2, 2], start=[0, 0], shape=(3,)),
        DictForm(parts=(("a", DiscreteForm(n=1 << 24)), ("b", DiscreteForm(n=1)))),
    ],
)
def test_impossible_sizes_are_refused(form):
    with pytest.raises(ValueError, match="space has"):
        size_of(form)


def test_agents_of_our_games_see_what_rows_hold():
    spec = EnvSpec("toy", ("a",), (Seat((0,)),), Array((3,), "float32"), actions=5, choices=(2, 3), continuous=1)
    found = plain_spaces(spec)["a"]
    assert size_of(found.observation) == 3
    assert isinstance(found.action, TupleForm)
    assert size_of(found.action) == 6
