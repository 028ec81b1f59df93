"""The interface of environments: the loop that its docstring shows, and the optional methods."""

import doctest

import numpy as np
import pytest

from collectors.envs import rows as module
from collectors.envs.adapters.pettingzoo import make
from collectors.envs.native.connect_four import ConnectFour
from collectors.envs.referee import Referee
from collectors.envs.rows import CanRehearse, Ends, HasInfos, HasPicture, HasRenderModes, together
from collectors.envs.watched import Watched, silent


def test_the_loop_of_the_docstring_runs():
    result = doctest.testmod(module)
    assert result.attempted > 5
    assert result.failed == 0


@pytest.mark.parametrize(
    ("build", "offers"),
    [
        (lambda: ConnectFour(1), set()),
        (lambda: make(1, "classic/tictactoe_v3"), {HasInfos, HasRenderModes, HasPicture}),
        (lambda: Referee(ConnectFour(1)), {HasRenderModes, HasPicture, CanRehearse}),
        (lambda: Watched(ConnectFour(1), silent), {CanRehearse}),
    ],
)
def test_what_an_environment_offers_beyond_the_loop(build, offers):
    env = build()
    assert {kind for kind in (HasInfos, HasRenderModes, HasPicture, CanRehearse) if isinstance(env, kind)} == offers


def ends_of(slot, reward):
    return Ends(
        slot=np.array([slot, slot]),
        agent=np.array([0, 1]),
        reward=np.array([reward, -reward], np.float32),
        truncated=np.zeros(2, np.bool_),
        observation=np.full((2, 3), slot, np.float32),
        over=np.array([slot]),
    )


def test_ends_of_several_ticks_become_one():
    both = together([ends_of(4, 1.0), ends_of(2, -1.0)])
    assert both.slot.tolist() == [4, 4, 2, 2]
    assert both.over.tolist() == [4, 2]
    assert both.reward.tolist() == [1.0, -1.0, -1.0, 1.0]
    assert both.observation[:, 0].tolist() == [4, 4, 2, 2]
    assert both.state is None
