"""Recurrent cells in numpy: gated recurrent units (Cho et al. 2014) and long short-term memory.

The torch side is league.policies.torch_policy; in both, the layer `memory_input` outputs the gates.
"""

import numpy as np

from league.policies.layout import FloatArray


def remember(kind: str, gates: FloatArray, recalled: FloatArray, state: FloatArray) -> FloatArray:
    """Return the memory of each row after this decision.

    `state` is the memory before it; the layers `memory_input` and `memory_state` output `gates` and `recalled`.
    """
    size = state.shape[1]
    if kind == "gru":
        reset, update = np.split(_sigmoid(gates[:, : 2 * size] + recalled[:, : 2 * size]), 2, axis=1)
        new = np.tanh(gates[:, 2 * size :] + reset * recalled[:, 2 * size :])
        kept: FloatArray = new + update * (state - new)
        return kept
    size //= 2
    both = gates + recalled
    input_gate, forget_gate, output_gate = (_sigmoid(both[:, i * size : (i + 1) * size]) for i in (0, 1, 3))
    cell = forget_gate * state[:, size:] + input_gate * np.tanh(both[:, 2 * size : 3 * size])
    return np.concatenate([output_gate * np.tanh(cell), cell], axis=1)


def _sigmoid(x: FloatArray) -> FloatArray:
    # tanh cannot overflow, as exp can.
    squashed: FloatArray = 0.5 * np.tanh(0.5 * x) + 0.5
    return squashed
