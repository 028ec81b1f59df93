"""Recall: only the last action counts, and only the first observation tells which."""

import numpy as np
import pytest

from collectors.conforming import conform
from collectors.envs.native.recall import Recall


def test_it_obeys_the_rules_for_environments():
    findings = conform(lambda slots: Recall(slots, blanks=2), range(1, 30), 8, None)
    assert findings.problems == ()
    assert findings.deterministic


@pytest.mark.parametrize("right", [True, False])
def test_naming_the_cue_in_the_last_step_pays_one(right):
    env = Recall(slots=32, cues=4, blanks=3)
    env.start(np.arange(32, dtype=np.int32), np.arange(32))
    cue = env.rows().observation.argmax(axis=1)
    assert set(cue.tolist()) == {0, 1, 2, 3}
    for step in range(5):
        seen = env.rows().observation
        assert env.rows().first.all() == (step == 0)
        assert seen[:, -1].all() == (step == 4)
        assert seen[:, :-1].any() == (step == 0)
        wanted = cue if right else (cue + 1) % 4
        ends = env.step((wanted if step == 4 else (cue + 2) % 4).astype(np.int32))
    assert ends.reward.tolist() == [float(right)] * 32
    assert len(ends.over) == 32
    assert not env.active


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="cues must be at least 2"):
        Recall(cues=1)
