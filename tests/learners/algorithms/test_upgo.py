"""The actor-critic of AlphaStar against a slow loop written from its paper."""

import pytest
from paper_losses import LANES, TICKS, Told, lambda_return, loss_of, total, upgoing_return, v_trace

from learners.algorithms.upgo import UPGO
from learners.algorithms.upgo_config import UPGOConfig


@pytest.mark.parametrize(("rho_max", "td_lambda", "coef"), [(1.0, 0.8, 1.0), (2.0, 0.3, 0.4)])
def test_the_loss_is_that_of_alphastar(stale, spec, policy, far, rho_max, td_lambda, coef):
    config = UPGOConfig(gamma=0.9, value_coef=0.7, rho_max=rho_max, td_lambda=td_lambda, upgo_coef=coef)
    algorithm = UPGO(config, policy, spec, far)
    lanes = [Told(algorithm, stale, lane) for lane in range(LANES)]
    terms, errors = [], []
    for told in lanes:
        _, advantages = v_trace(told, config, 1.0)
        for t in range(TICKS):
            upgoing = min(rho_max, told.ratio[t]) * (upgoing_return(told, t, config.gamma) - told.values[t])
            terms.append((advantages[t] + coef * upgoing) * told.log_prob[t])
            errors.append((lambda_return(told, t, config.gamma, td_lambda) - told.values[t]) ** 2)
    assert float(loss_of(algorithm, stale)) == pytest.approx(total(terms, errors, lanes, config), abs=1e-5)


def test_upgoing_returns_stop_at_the_first_decision_that_went_worse_than_expected(stale, spec, policy, far):
    algorithm = UPGO(UPGOConfig(gamma=0.9), policy, spec, far)
    told = [Told(algorithm, stale, lane) for lane in range(LANES)]
    ways = {
        upgoing_return(one, t, 0.9) == pytest.approx(one.reward(t) + 0.9 * one.following(t, one.values))
        for one in told
        for t in range(TICKS)
        if one.end(t) == 0
    }
    assert ways == {True, False}, "the data has decisions of both kinds"


@pytest.mark.parametrize(("field", "value"), [("td_lambda", 1.5), ("upgo_coef", -1.0)])
def test_settings_out_of_range_are_refused(field, value):
    with pytest.raises(ValueError, match=f"algo.{field} must"):
        UPGOConfig(**{field: value})
