"""Samples actions in numpy: choices by an exponential race, continuous numbers from Gaussians squashed by tanh.

A network outputs a logit for each option of each choice, then the mean of each Gaussian, and with
`policy.deviation=state` the logarithm of its deviation; else that is a parameter. The torch side, which must compute
the same log-probabilities, is league.policies.distribution.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from league.policies.layout import EDGE, HALF_LOG_TWO_PI, ILLEGAL, LARGEST, LOG_STD_RANGE, FloatArray
from league.spec import EnvSpec

Actions = npt.NDArray[Any]  # int32 [rows] for one choice, else float32 [rows, parts]
NEVER_ZERO = np.float32(1e-20)  # float32 samples can be exactly 0, and 0 / 0 would choose an illegal action


def bounded(outputs: FloatArray) -> FloatArray:
    """Return the outputs of a network, clipped to finite numbers above ILLEGAL; NaN becomes the smallest of them.

    >>> bounded(np.array([1.5, np.nan, -1e12, np.inf], np.float32)).tolist()
    [1.5, -100000000.0, -100000000.0, 100000000.0]
    """
    limited: FloatArray = np.fmin(np.fmax(outputs, np.float32(-LARGEST)), np.float32(LARGEST))
    return limited


def race(
    logits: FloatArray, mask: npt.NDArray[np.bool_], noise: FloatArray
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return a legal action for each row of `mask` and its log-probability.

    `logits` and `noise`, which holds standard exponential samples, are [actions, rows].
    """
    z = np.where(mask.T, bounded(logits), np.float32(ILLEGAL))
    z -= np.maximum.reduce(z, axis=0)
    p = np.exp(z)
    total = np.add.reduce(p, axis=0)
    # An exponential race: the argmax of p / Exp(1) has the distribution p, which need not be normalised.
    p /= noise + NEVER_ZERO
    action = p.argmax(axis=0)
    log_prob = z.take(action * len(action) + np.arange(len(action)))
    log_prob -= np.log(total)
    return action.astype(np.int32), log_prob


def probabilities(logits: npt.NDArray[Any], mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return the probability of each action of one choice [rows, actions]: those with which `race` samples.

    >>> probabilities(np.array([[0.0, 0.0, 9.0]]), np.array([[True, True, False]])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    z = np.where(mask, bounded(logits), ILLEGAL).astype(np.float64)
    p = np.exp(z - z.max(axis=1, keepdims=True)) * mask
    found: npt.NDArray[np.float64] = p / p.sum(axis=1, keepdims=True)
    return found


def sample(
    spec: EnvSpec, outputs: FloatArray, log_std: FloatArray, mask: npt.NDArray[np.bool_], rng: np.random.Generator
) -> tuple[Actions, npt.NDArray[np.float32]]:
    """Return a legal action for each row of a network's `outputs` and its log-probability, summed over parts."""
    if spec.single:
        logits = np.ascontiguousarray(outputs.T)
        return race(logits, mask, rng.standard_exponential(logits.shape, dtype=np.float32))
    actions = np.empty((len(outputs), spec.parts), np.float32)
    log_prob = np.zeros(len(outputs), np.float32)
    end = 0
    for choice, options in enumerate(spec.heads):
        begin, end = end, end + options
        logits = np.ascontiguousarray(outputs[:, begin:end].T)
        noise = rng.standard_exponential(logits.shape, dtype=np.float32)
        actions[:, choice], chance = race(logits, mask[:, begin:end], noise)
        log_prob += chance
    if spec.continuous:
        mean, own = np.split(bounded(outputs[:, end:]), [spec.continuous], axis=1)
        log_std = np.clip(own if own.shape[1] else bounded(log_std), *LOG_STD_RANGE)
        noise = rng.standard_normal(mean.shape, dtype=np.float32)
        numbers = np.clip(np.tanh(mean + np.exp(log_std) * noise), -EDGE, EDGE)
        actions[:, len(spec.heads) :] = numbers
        log_prob += squashed_log_prob(numbers, mean, log_std).sum(axis=1)
    return actions, log_prob


def squashed_log_prob(action: FloatArray, mean: FloatArray, log_std: FloatArray) -> FloatArray:
    """Return the log density of each a = tanh(u), u Gaussian: that of u, minus log(1 - a^2).

    It is computed from `a` and not from `u`: the learner knows only `a`, and must compute the same number.
    """
    z = (np.arctanh(action) - mean) / np.exp(log_std)
    density: FloatArray = -0.5 * z * z - log_std - np.float32(HALF_LOG_TWO_PI) - np.log((1 - action) * (1 + action))
    return density


def best(spec: EnvSpec, outputs: FloatArray, mask: npt.NDArray[np.bool_]) -> Actions:
    """Return the most probable legal option of each choice, and the mean of each Gaussian."""
    z = np.where(mask, bounded(outputs[:, : spec.actions]), np.float32(ILLEGAL))
    if spec.single:
        choices: Actions = z.argmax(axis=1).astype(np.int32)
        return choices
    actions = np.empty((len(outputs), spec.parts), np.float32)
    end = 0
    for choice, options in enumerate(spec.heads):
        begin, end = end, end + options
        actions[:, choice] = z[:, begin:end].argmax(axis=1)
    actions[:, len(spec.heads) :] = np.tanh(bounded(outputs[:, end : end + spec.continuous]))
    return actions


def legal(spec: EnvSpec, actions: Actions, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return for each row whether its action is legal: options exist and are allowed, numbers are within [-1, 1]."""
    vectors = actions.reshape(len(actions), spec.parts)
    fine = np.ones(len(actions), np.bool_)
    begin = 0
    for choice, options in enumerate(spec.heads):
        option = vectors[:, choice]
        index = np.clip(np.nan_to_num(option), 0, options - 1).astype(np.intp)
        fine &= (index == option) & mask[np.arange(len(mask)), begin + index]
        begin += options
    fine &= (np.abs(vectors[:, len(spec.heads) :]) <= 1).all(axis=1)
    return fine
