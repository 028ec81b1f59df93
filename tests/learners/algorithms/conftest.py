"""Data that lags, for actor-critics; games of one decision, for replays."""

from dataclasses import replace

import numpy as np
import pytest
from paper_losses import LANES, TICKS

from league.policies.layout import PolicyConfig, initial
from league.segment import CONTINUES, TERMINATED


@pytest.fixture
def stale(play, spec, policy):
    """Segments that other weights decided: episodes of several lengths, ends of all kinds."""
    segments = play(initial(policy, spec, seed=7), lanes=LANES, ticks=TICKS)
    rng = np.random.default_rng(3)
    segments.end[:, :-1] = rng.choice([CONTINUES, CONTINUES, TERMINATED], (LANES, TICKS - 1, 1))
    segments.reward[:] = rng.standard_normal(segments.reward.shape)
    return segments


@pytest.fixture
def far(fresh):
    """Weights that are far from those that decided."""
    return fresh + np.random.default_rng(2).normal(0, 0.5, fresh.shape).astype(np.float32)


@pytest.fixture
def hints(play, spec):
    """Return one-decision episodes, played at random: in the hint's game a value is 1 or 0."""

    def run(seed=0, lanes=8):
        segments = play(initial(PolicyConfig(hidden=[16]), spec, 0), lanes, seed=seed)
        none = {name: array[:0] for name, array in segments.arrays().items() if name.startswith("tail_")}
        return replace(segments, end=np.full_like(segments.end, TERMINATED), **none)

    return run
