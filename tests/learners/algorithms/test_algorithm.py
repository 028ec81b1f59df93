"""What an algorithm may return to its learner."""

import numpy as np
import pytest
import torch

from learners.algorithms.algorithm import AlgorithmError, check_metrics


class Own:
    """An algorithm of a user."""


GOOD = {"losses/rollbacks": 0.0}


def test_metrics_of_any_kind_of_number_become_plain_numbers():
    found = check_metrics(Own(), {"losses/rollbacks": False, "a": np.float32(0.5), "b": torch.tensor(2), "c": np.nan})
    assert found == {"losses/rollbacks": 0.0, "a": 0.5, "b": 2.0, "c": pytest.approx(np.nan, nan_ok=True)}
    assert {type(value) for value in found.values()} == {float}


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "returned NoneType, not a dict of metrics"),
        ({}, "returned no 'losses/rollbacks', only an empty dict. Return 0.0 there, or 1.0 if"),
        ({"rollbacks": 0.0}, "returned no 'losses/rollbacks', only 'rollbacks'"),
        ({**GOOD, "losses/policy_loss": "low"}, "returned 'low' as 'losses/policy_loss', not a number"),
        ({**GOOD, "losses/policy_loss": None}, "returned None as 'losses/policy_loss', not a number"),
        ({**GOOD, "losses/policy_loss": torch.ones(2)}, "as 'losses/policy_loss', not a number"),
        ({**GOOD, 3: 1.0}, "a metric called 3: names are strings"),
    ],
)
def test_metrics_that_a_learner_cannot_use_are_refused(returned, message):
    with pytest.raises(AlgorithmError) as caught:
        check_metrics(Own(), returned)
    assert message in str(caught.value)
    assert "Own.update()" in str(caught.value), "whose fault it is"
