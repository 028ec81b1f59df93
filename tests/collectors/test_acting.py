"""Acting: legal actions, whatever the weights."""

import numpy as np
import pytest
from collector_world import POLICY, evaluation, training

from league.policies.layout import initial


@pytest.mark.parametrize("size", [1e12, 3e38])
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_weights_that_explode_play_legal_moves(world, size):
    world.flat = np.where(np.arange(initial(POLICY, world.env.spec, 0).size) % 2, size, -size).astype(np.float32)
    world.begin(training(episodes=8), evaluation(number=2, episodes=8))
    done = set()
    while done < {1, 2}:
        report = world.play()
        assert not report.faults
        done |= {result.ticket for result in report.results}
