"""Exploration of players whose network outputs values, by epsilon-greedy choices, or actions, by Gaussian noise.

Live weights carry two numbers that are not trained, `epsilon` and `spread`. With spread 0 all slots explore with
epsilon; else slot i of n explores with epsilon ** (1 + spread * i / (n - 1)), so that rates differ widely between slots
(Ape-X, Horgan et al. 2018, uses epsilon 0.4 and spread 7). Frozen players use `policy.epsilon`. For actions, epsilon
is the deviation of the noise; frozen players have none.
"""

import numpy as np
import numpy.typing as npt

from league.policies.actions import bounded
from league.policies.layout import ILLEGAL, FloatArray

NEVER = np.float32(1e-30)  # the probability of illegal actions: its logarithm is finite


def rates(exploration: FloatArray, share: FloatArray | None, rows: int) -> FloatArray:
    """Return the epsilon of each row; `share` is the position of its slot, from 0 (the first) to 1 (the last).

    >>> rates(np.array([0.4, 7], np.float32), np.array([0, 1], np.float32), 2).round(5).tolist()
    [0.4000000059604645, 0.0006600000197067857]
    """
    epsilon, spread = exploration
    if share is None or not spread:
        return np.full(rows, epsilon, np.float32)
    found: FloatArray = epsilon ** (1 + spread * share)
    return found


def epsilon_greedy(values: FloatArray, mask: npt.NDArray[np.bool_], epsilon: FloatArray) -> FloatArray:
    """Return log-probabilities [rows, actions]: the best legal action, or with probability epsilon a uniform legal one.

    They can be used as logits: sampling then returns the exact log-probability.
    """
    best = np.where(mask, bounded(values), np.float32(ILLEGAL)).argmax(axis=1)
    chance = mask * (epsilon / mask.sum(axis=1))[:, None]
    chance[np.arange(len(best)), best] += 1 - epsilon
    found: FloatArray = np.log(np.maximum(chance, NEVER)).astype(np.float32)
    return found


def noisy(outputs: FloatArray, deviation: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return actions [rows, numbers]: the tanh of each output, plus Gaussian noise with the deviation of its row.

    >>> noisy(np.array([[0.0, 9.0]], np.float32), np.zeros(1, np.float32), np.random.default_rng(0)).round(3).tolist()
    [[0.0, 1.0]]
    """
    noise = rng.standard_normal(outputs.shape, dtype=np.float32)
    wanted = np.tanh(bounded(outputs)) + deviation[:, None] * noise
    actions: FloatArray = np.fmin(np.fmax(wanted, np.float32(-1)), np.float32(1))  # legal even if the weights are NaN
    return actions
