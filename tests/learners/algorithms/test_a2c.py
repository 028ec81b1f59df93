"""A2C against a slow loop written from its paper."""

import pytest
from paper_losses import LANES, Told, loss_of, n_step, total

from learners.algorithms.a2c import A2C
from learners.algorithms.a2c_config import A2CConfig


def test_the_loss_of_a2c_is_that_of_the_paper(stale, spec, policy, far):
    config = A2CConfig(gamma=0.9, value_coef=0.7)
    algorithm = A2C(config, policy, spec, far)
    lanes = [Told(algorithm, stale, lane) for lane in range(LANES)]
    terms, errors = [], []
    for told in lanes:
        for t, returned in enumerate(n_step(told, config.gamma)):
            terms.append((returned - told.values[t]) * told.log_prob[t])
            errors.append((returned - told.values[t]) ** 2)
    assert float(loss_of(algorithm, stale)) == pytest.approx(total(terms, errors, lanes, config), abs=1e-5)
