"""The settings of a learner."""

import pytest

from learners.config import LearnerConfig


@pytest.mark.parametrize("wrong", [{"heartbeat": 0.0}, {"candidate_decisions": 0}])
def test_a_wrong_config_is_refused(wrong):
    with pytest.raises(ValueError, match="must be positive"):
        LearnerConfig(**wrong)
