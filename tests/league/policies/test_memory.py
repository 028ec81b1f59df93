"""Recurrent memories: known answers, and the same steps in numpy as in torch."""

import numpy as np
import pytest
import torch
from team_spec import TEAM, random_weights

from league.policies.flat_policy import Lanes, Observed
from league.policies.layout import PolicyConfig
from league.policies.memory import remember
from league.policies.numpy_actor import NumpyActor
from league.policies.torch_policy import TorchPolicy


def test_a_gru_with_all_gates_at_zero_forgets_half():
    state = np.array([[1.0, -2.0]], np.float32)
    nothing = np.zeros((1, 6), np.float32)
    np.testing.assert_allclose(remember("gru", nothing, nothing, state), [[0.5, -1.0]])


def test_a_gru_whose_update_gate_is_open_keeps_everything():
    state = np.array([[1.0, -2.0]], np.float32)
    gates = np.array([[0, 0, 1000, 1000, 5, 5]], np.float32)  # reset, update, new: no gate overflows
    np.testing.assert_allclose(remember("gru", gates, np.zeros((1, 6), np.float32), state), state)


def test_an_lstm_keeps_its_cell_and_shows_what_the_output_gate_lets_out():
    state = np.array([[0.3, 2.0]], np.float32)  # output, cell
    gates = np.array([[-1000, 1000, 5, 0]], np.float32)  # let nothing in, keep everything, and let half of it out
    np.testing.assert_allclose(
        remember("lstm", gates, np.zeros((1, 4), np.float32), state), [[0.5 * np.tanh(2.0), 2.0]], rtol=1e-6
    )


@pytest.mark.parametrize("memory", ["gru", "lstm"])
def test_a_memory_runs_on_in_numpy_as_in_torch(memory):
    """Agents are absent in some ticks, and forget where a new episode begins."""
    config = PolicyConfig(hidden=[8], memory=memory, memory_size=6)
    flat, rng = random_weights(config, TEAM), np.random.default_rng(1)
    lanes, ticks = 4, 7
    shape = (lanes, ticks, 3)
    observation = rng.standard_normal((*shape, 5)).astype(np.float32)
    present, restart = rng.random(shape) < 0.7, rng.random(shape) < 0.2
    start = rng.standard_normal((lanes, 3, config.state_size)).astype(np.float32)
    actor, state = NumpyActor(config, TEAM, flat), start.copy()
    expected = np.zeros((*shape, 4), np.float32)
    for tick in range(ticks):
        state[restart[:, tick]] = 0
        who = present[:, tick]
        mine = state[who]
        expected[:, tick][who] = actor.outputs(observation[:, tick][who], memory=mine)
        state[who] = mine
    policy = TorchPolicy(config, TEAM)
    policy.write(flat)
    seen = Observed(
        torch.from_numpy(observation[present]), lanes=Lanes(*map(torch.from_numpy, (present, restart, start)))
    )
    with torch.no_grad():
        found, _ = policy(seen, torch.ones(int(present.sum()), 4, dtype=torch.bool))
        _, after = policy.values(seen)
    logits = expected[present]
    np.testing.assert_allclose(
        found.log_probs.numpy(), logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)), atol=1e-5
    )
    last = present.shape[1] - 1 - present[:, ::-1].argmax(axis=1)
    after_LTAM = np.zeros((*shape, config.state_size), np.float32)
    after_LTAM[present] = after.numpy()
    kept = present.any(axis=1)
    final = np.take_along_axis(after_LTAM, last[:, None, :, None], axis=1)[:, 0]
    forgot = np.array([[restart[i, last[i, a] + 1 :, a].any() for a in range(3)] for i in range(lanes)])
    np.testing.assert_allclose(state[kept & ~forgot], final[kept & ~forgot], atol=1e-5)


def test_without_memory_every_decision_is_the_first():
    config = PolicyConfig(hidden=[8], memory="gru", memory_size=6)
    actor = NumpyActor(config, TEAM, random_weights(config, TEAM))
    seen = np.random.default_rng(0).standard_normal((2, 5)).astype(np.float32)
    np.testing.assert_array_equal(actor.outputs(seen), actor.outputs(seen, memory=np.zeros((2, 6), np.float32)))
