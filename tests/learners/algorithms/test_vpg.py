"""The vanilla policy gradient against a slow loop written from its paper."""

import pytest
from paper_losses import LANES, Told, loss_of, mean, n_step, total

from learners.algorithms.vpg import VPG
from learners.algorithms.vpg_config import VPGConfig


@pytest.mark.parametrize("baseline", ["value", "mean", "none"])
def test_the_loss_is_that_of_reinforce(stale, spec, policy, far, baseline):
    config = VPGConfig(gamma=0.9, value_coef=0.7, baseline=baseline, normalise_advantages=False)
    algorithm = VPG(config, policy, spec, far)
    lanes = [Told(algorithm, stale, lane) for lane in range(LANES)]
    returns = [n_step(told, config.gamma) for told in lanes]
    average = mean([one for row in returns for one in row])
    terms, errors = [], []
    for told, row in zip(lanes, returns, strict=True):
        for t, returned in enumerate(row):
            usual = {"value": told.values[t], "mean": average, "none": 0.0}[baseline]
            terms.append((returned - usual) * told.log_prob[t])
            errors.append((returned - told.values[t]) ** 2)
    assert float(loss_of(algorithm, stale)) == pytest.approx(total(terms, errors, lanes, config), abs=1e-5)


def test_an_unknown_baseline_is_refused():
    with pytest.raises(ValueError, match=r"algo.baseline: unknown 'median'. Known: value, mean, none"):
        VPGConfig(baseline="median")
