"""Environments of tests in another process of this very Python."""

import sys
from contextlib import ExitStack

import far_games
import pytest

from collectors.envs.other_python.far_environment import FarEnvironment
from collectors.envs.other_python.far_order import FarOrder, opening_of


@pytest.fixture
def far(monkeypatch):
    """Return a function that makes an environment of tests/support on a far side; all are closed at the end."""
    monkeypatch.chdir(far_games.HERE)
    with ExitStack() as stack:

        def make(id, slots=3, python=sys.executable, seconds=30.0, state=False, **kwargs):
            opening = opening_of(id, kwargs, [], allow=[id.partition(":")[0]])
            env = FarEnvironment(FarOrder(python, id, opening, seconds, state), slots)
            stack.callback(env.close)
            return env

        yield make
