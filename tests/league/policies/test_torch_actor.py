"""Networks for inference on a device answer as numpy does."""

import numpy as np
import pytest

from league.policies import numpy_actor
from league.policies.layout import PolicyConfig, initial
from league.policies.numpy_actor import NumpyActor
from league.policies.torch_actor import TorchActor
from league.spec import Array, EnvSpec, Seat

SPEC = EnvSpec(
    name="pairs",
    agents=("a", "b"),
    seats=(Seat(agents=(0, 1)),),
    observation=Array(shape=(3,), dtype="float32"),
    actions=4,
)
PLAIN = PolicyConfig(hidden=[8])
LSTM = PolicyConfig(hidden=[8], memory="lstm", memory_size=4)
VALUES = PolicyConfig(hidden=[8], head="values")
GRU = PolicyConfig(hidden=[8], memory="gru", memory_size=5, agent_id=True)


def seen(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, 3)).astype(np.float32)


@pytest.mark.parametrize("folds", [True, False], ids=["folded", "tanh"])
@pytest.mark.parametrize("policy", [PLAIN, GRU, LSTM, VALUES], ids=["mlp", "gru", "lstm", "values"])
def test_torch_answers_as_numpy_does(policy, folds, monkeypatch):
    """On a GPU it is the same code; here it runs on the CPU. Numpy has one way with AVX-512, and another without."""
    monkeypatch.setattr(numpy_actor, "FOLDS", folds)
    flat = initial(policy, SPEC, 3)
    answers = []
    for network in (NumpyActor(policy, SPEC, flat), TorchActor(policy, SPEC, flat, device="cpu")):
        memory, place, found = np.zeros((6, policy.state_size), np.float32), np.arange(6) % 2, []
        for tick in range(3):
            found.append(network.outputs(seen(6, tick), place, memory if policy.recurrent else None))
        answers.append([*found, memory, network.log_std, network.exploration])
    for one, other in zip(*answers, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_arrays_from_the_wire_are_read_only_and_answered_without_a_memory_too():
    flat, rows = initial(PLAIN, SPEC, 0), seen(2)
    for array in (flat, rows):
        array.flags.writeable = False
    outputs = TorchActor(PLAIN, SPEC, flat, device="cpu").outputs(rows, None, None)
    np.testing.assert_allclose(outputs, NumpyActor(PLAIN, SPEC, flat).outputs(rows), rtol=1e-4, atol=1e-6)
