"""Imitation of a noisy expert: whoever is corrected where it goes walks better than whoever only watched."""

import numpy as np
import pytest

from benchmarks.imitating import PLACES, Tightrope, Walker, compared, right_choice


def test_the_expert_of_the_tightrope_comes_back_from_everywhere():
    env, rng = Tightrope(slots=PLACES), np.random.default_rng(0)
    env.start(np.arange(PLACES, dtype=np.int32), np.arange(PLACES))
    env._walker[:] = np.arange(PLACES)
    for _ in range(PLACES // 2):
        env.step(Walker(noise=0.0).act(env.rows().observation, None, rng)[0])
    assert (env.rows().observation.argmax(axis=1) == PLACES // 2).all()
    env.step((right_choice(env._walker) + 1) % 4)
    assert (np.abs(env._walker - PLACES // 2) == 1).all(), "any other choice leads away"


@pytest.mark.slow
def test_dagger_beats_cloning_with_as_many_labels():
    rows = np.array(compared(range(2), labels=1000, noise=0.1))
    assert (rows[:, 1] > rows[:, 0]).all()
