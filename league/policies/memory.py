"""Recurrent memories in numpy: gated recurrent units (Cho et al. 2014) and long short-term memory.

The torch side is league.policies.torch_policy; both take the outputs of the layer `memory_input` as gates.
"""

import numpy as np

from league.policies.layout import FloatArray


def remember(kind: str, gates: FloatArray, recalled: FloatArray, state: FloatArray) -> FloatArray:
    """Return the memory of each row after this decision.

    `gates` come from the observation, `recalled` from `state`, the memory before.
    """
    size = state.shape[1]
    if kind == "gru":
        reset, update = np.split(_sigmoid(gates[:, : 2 * size] + recalled[:, : 2 * size]), 2, axis=1)
        new = np.tanh(gates[:, 2 * size :] + reset * recalled[:, 2 * size :])
        kept: FloatArray = new + update * (state - new)
        return kept
    size //= 2
    both = gates + recalled
    let_in, keep, let_out = (_sigmoid(both[:, i * size : (i + 1) * size]) for i in (0, 1, 3))
    cell = keep * state[:, size:] + let_in * np.tanh(both[:, 2 * size : 3 * size])
    return np.concatenate([let_out * np.tanh(cell), cell], axis=1)


def _sigmoid(x: FloatArray) -> FloatArray:
    # By tanh, which cannot overflow as exp can.
    squashed: FloatArray = 0.5 * np.tanh(0.5 * x) + 0.5
    return squashed
