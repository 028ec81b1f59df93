import foreign_networks
import pytest
import torch
from bound_networks import NAMES, SPEC, bound

from league.policies import rehearsal
from league.policies.blueprint import NetworkError
from league.policies.network import NetworkOutput
from league.policies.rehearsal import rehearse


@pytest.mark.parametrize("name", NAMES)
def test_networks_that_keep_the_contract_pass(name):
    rehearse(bound(name), SPEC)


def changed(change):
    """Return a network whose output is changed."""

    class Changed(foreign_networks.Window):
        def forward(self, seen):
            return change(super().forward(seen), seen)

    return Changed


def output(found, **changes):
    parts = {"outputs": found.outputs, "value": found.value, "memory": found.memory, "extras": found.extras}
    return NetworkOutput(**{**parts, **changes})


WRONG = {
    r"returned `outputs` of shape \[6, 3\]; .* must be \[6, 4\]": lambda o, s: output(o, outputs=o.outputs[:, 1:]),
    r"returned `value` of shape \[6, 1\]; .* must be \[6\]": lambda o, s: output(o, value=o.value[:, None]),
    "returned `value` of shape NoneType": lambda o, s: output(o, value=None),
    r"returned a memory of shapes \[\], but memory\(\) declares \[\[3, 11\], \[\]\]": lambda o, s: output(o, memory=()),
    "returned tuple: return a NetworkOutput": lambda o, s: (o.outputs, o.value),
    "NaN or infinity in `outputs`": lambda o, s: output(o, outputs=o.outputs / s.observation["units"][:, 0, :1]),
    "depends on the order of rows": lambda o, s: output(o, outputs=o.outputs + torch.arange(len(o.value))[:, None]),
    "depends on other rows": lambda o, s: output(o, outputs=o.outputs - o.outputs.mean(0)),
    "another result for the same input": lambda o, s: output(o, value=o.value + torch.rand(len(o.value))),
    "`value` without a gradient": lambda o, s: output(o, value=o.value.detach()),
    "extra output 'odd' must have a row": lambda o, s: output(o, extras={"odd": torch.zeros(2)}),
    r"forward\(\) fails on observations of this game \(KeyError: 'board'\)": lambda o, s: s.observation["board"],
}


@pytest.mark.parametrize("why", WRONG)
def test_a_broken_contract_gets_one_clear_message(why, monkeypatch):
    network = changed(WRONG[why])
    monkeypatch.setattr(foreign_networks, "Window", network)
    with pytest.raises(NetworkError, match=why) as caught:
        rehearse(bound("Window"), SPEC)
    assert "Changed" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_network_that_changes_its_buffers_is_refused(monkeypatch):
    class Counting(foreign_networks.Window):
        def __init__(self, config, shape):
            super().__init__(config, shape)
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, seen):
            self.calls += 1
            return super().forward(seen)

    monkeypatch.setattr(foreign_networks, "Window", Counting)
    with pytest.raises(NetworkError, match=r"Counting\.forward\(\) changes its buffers"):
        rehearse(bound("Window"), SPEC)


def test_a_network_whose_first_weights_cannot_be_made_is_refused(monkeypatch):
    class Pretrained(foreign_networks.Window):
        def initialise(self):
            self.encoder.load_state_dict({"weight": torch.zeros(2, 2)})

    monkeypatch.setattr(foreign_networks, "Window", Pretrained)
    with pytest.raises(NetworkError, match=r"Pretrained\.initialise\(\) fails: RuntimeError: Error") as caught:
        rehearse(bound("Window"), SPEC)
    assert "\n" not in str(caught.value)


def test_batch_statistics_are_found(monkeypatch):
    class Stubborn(foreign_networks.BatchNormed):
        def train(self, mode=True):
            return super().train(True)

    monkeypatch.setattr(foreign_networks, "BatchNormed", Stubborn)
    with pytest.raises(NetworkError, match="Stubborn"):
        rehearse(bound("BatchNormed"), SPEC)


def test_a_network_that_no_message_can_carry_is_refused(monkeypatch):
    monkeypatch.setattr(rehearsal, "SEGMENTS_LIMIT", 1 << 10)
    with pytest.raises(NetworkError, match=r"BatchNormed: its weights take .* MiB.*Make the network smaller"):
        rehearse(bound("BatchNormed"), SPEC)


def test_memories_that_no_message_can_carry_are_refused():
    with pytest.raises(NetworkError, match=r"its memory of 30000000 agents takes .* Lower collector.slots"):
        rehearse(bound("Window"), SPEC, slots=10_000_000)
