"""The world of a collector that plays tic-tac-toe."""

import pytest
from collector_world import World

from collectors.envs.native.tic_tac_toe import TicTacToe


@pytest.fixture
def world(tmp_path):
    return World(tmp_path, TicTacToe(slots=4))
