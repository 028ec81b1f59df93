"""A player that evolves in real processes: it trains, also after a collector and its learner were killed."""

import os
import signal

import pytest

from launch.verify.verify import verify
from tests.process.test_kill import SMALL
from tests.process.test_ranks import trained

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_an_evolving_player_goes_on_after_kills(start, patiently):
    league = start(*SMALL, "algo=es", "algo.batch=64", "policy.hidden=[16]", "learner.candidate_decisions=1024")
    patiently(lambda: trained(league) > 1024, 120, "training")
    os.kill(league.children()["collector"][0], signal.SIGKILL)
    os.kill(league.children()["learner"][0], signal.SIGKILL)
    at_kill = trained(league)
    patiently(lambda: trained(league) > at_kill + 1024, 120, "training that goes on")
    assert league.interrupt() == 130
    assert verify(league.run) == 0
