import foreign_networks
import numpy as np
import pytest
import torch
from bound_networks import NAMES, SPEC, bound
from torch import nn

from league.policies.blueprint import NetworkError, acting_mode
from league.policies.layout import LOG_STD, describe, initial
from league.spec import Array, EnvSpec, Seat


@pytest.mark.parametrize("name", NAMES)
def test_weights_depend_on_the_seed_alone(name):
    policy = bound(name)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = initial(policy, SPEC, 1)
    assert torch.equal(torch.get_rng_state(), before), "the generator of others is left alone"
    np.testing.assert_array_equal(first, initial(bound(name), SPEC, 1))
    assert not np.array_equal(first, initial(policy, SPEC, 2))


def test_buffers_are_part_of_the_weights():
    layout = describe(bound("BatchNormed"), SPEC)
    assert {"body.0.running_mean", "body.0.num_batches_tracked"} <= layout.untrained
    assert "body.0.weight" not in layout.untrained
    views = layout.views(initial(bound("BatchNormed"), SPEC, 0))
    assert (views["body.0.running_var"] == 1).all()


def test_what_ludus_adds_has_its_initial_values():
    spec = EnvSpec("toy", ("a",), (Seat((0,)),), Array((3,), "float32"), actions=2, continuous=2)
    views = describe(bound("BatchNormed", spec), spec).views(initial(bound("BatchNormed", spec), spec, 0))
    np.testing.assert_allclose(views["log_std"], LOG_STD)
    views = describe(bound("BatchNormed", head="values"), SPEC).views(
        initial(bound("BatchNormed", head="values"), SPEC, 0)
    )
    assert views["exploration"].tolist() == [1, 0]


def test_the_memory_is_what_the_network_declares():
    assert bound("Window", kwargs={"window": 5}).state_size == 5 * 11 + 1
    assert bound("Window").recurrent
    assert not bound("BatchNormed").recurrent


def test_settings_are_checked():
    with pytest.raises(NetworkError, match="foreign_networks:Window has no setting 'widht'; did you mean 'width'"):
        _ = bound("Window", kwargs={"widht": 3}).state_size
    with pytest.raises(NetworkError, match=r"Expected `int`, got `str` - at `\$.width` \(foreign_networks:Window\)"):
        _ = bound("Window", kwargs={"width": "x"}).state_size
    with pytest.raises(NetworkError, match="Window cannot be built: AssertionError: embed_dim must be divisible"):
        _ = bound("Window", kwargs={"width": 7}).state_size


class Lazy(foreign_networks.BatchNormed):
    def __init__(self, config, shape):
        super().__init__(config, shape)
        self.policy = nn.LazyLinear(4)


class Clash(foreign_networks.BatchNormed):
    def __init__(self, config, shape):
        super().__init__(config, shape)
        self.exploration = nn.Parameter(torch.zeros(2))


def test_lazy_layers_and_taken_names_are_refused(monkeypatch):
    monkeypatch.setattr(foreign_networks, "Window", Lazy)
    with pytest.raises(NetworkError, match="lazy layers"):
        describe(bound("Window"), SPEC)
    monkeypatch.setattr(foreign_networks, "Window", Clash)
    with pytest.raises(NetworkError, match="own parameter 'exploration'"):
        describe(bound("Window", head="values"), SPEC)


def test_recurrent_layers_stay_in_train_mode():
    module = acting_mode(nn.Sequential(nn.LSTM(2, 2), nn.Dropout(0.5), nn.LSTM(2, 2, 2, dropout=0.5)))
    assert [layer.training for layer in module] == [True, False, False]
