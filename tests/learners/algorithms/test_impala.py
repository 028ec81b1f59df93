"""IMPALA against a slow loop written from its paper."""

import pytest
from paper_losses import LANES, Told, loss_of, total, v_trace

from learners.algorithms.impala import IMPALA
from learners.algorithms.impala_config import IMPALAConfig


@pytest.mark.parametrize(("rho_max", "c_max", "lambda_"), [(1.0, 1.0, 1.0), (2.0, 0.5, 0.9)])
def test_the_loss_of_impala_is_that_of_the_paper(stale, spec, policy, far, rho_max, c_max, lambda_):
    config = IMPALAConfig(gamma=0.9, value_coef=0.7, rho_max=rho_max, c_max=c_max, vtrace_lambda=lambda_)
    algorithm = IMPALA(config, policy, spec, far)
    lanes = [Told(algorithm, stale, lane) for lane in range(LANES)]
    assert max(abs(ratio - 1) for told in lanes for ratio in told.ratio) > 0.1, "the data does lag"
    terms, errors = [], []
    for told in lanes:
        targets, advantages = v_trace(told, config, lambda_)
        terms += [a * p for a, p in zip(advantages, told.log_prob, strict=True)]
        errors += [(target - value) ** 2 for target, value in zip(targets, told.values, strict=True)]
    assert float(loss_of(algorithm, stale)) == pytest.approx(total(terms, errors, lanes, config), abs=1e-5)
