"""The settings of a learner."""

import pytest

from learners.config import LearnerConfig


@pytest.mark.parametrize("wrong", [{"heartbeat": 0.0}, {"candidate_decisions": 0}])
def test_a_wrong_config_is_refused(wrong):
    with pytest.raises(ValueError, match="must be positive"):
        LearnerConfig(**wrong)


@pytest.mark.parametrize("ema", [-0.1, 1.0])
def test_an_average_that_forgets_nothing_or_all_is_refused(ema):
    with pytest.raises(ValueError, match=r"learner\.ema must be at least 0 and less than 1"):
        LearnerConfig(ema=ema)


@pytest.mark.parametrize("kept", [{"keep_replay": True}, {"replay_in": "buffer"}])
def test_ranks_that_do_not_wait_keep_no_replay(kept):
    with pytest.raises(ValueError, match=r"learner\.share=async needs learner\.(keep_replay=false|replay_in=learner)"):
        LearnerConfig(share="async", **kept)
