"""The settings of evolution strategies: what is refused, and why."""

import pytest

from league.policies.layout import PolicyConfig
from learners.algorithms.es_config import ESConfig


def test_a_network_that_normalises_is_refused():
    with pytest.raises(ValueError, match="cannot normalise observations"):
        ESConfig().refuse(PolicyConfig(normalise=True))


def test_a_network_of_values_is_refused():
    with pytest.raises(ValueError, match=r"policy\.head=logits"):
        ESConfig().refuse(PolicyConfig(head="values"))


@pytest.mark.parametrize("wrong", [{"sigma": 0.0}, {"sigma": 1e9}, {"batch": 1}, {"weight_decay": -1.0}])
def test_settings_that_cannot_train_are_refused(wrong):
    with pytest.raises(ValueError, match="algo"):
        ESConfig(**wrong)
