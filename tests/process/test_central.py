"""Central inference in real processes: collectors without weights, and an inference process that is killed.

The process is launch.processes.run_beside_learner.
"""

import os
import signal

import pytest

from launch.verify.verify import verify
from launch.viewers.view import open_view
from tests.process.test_kill import SMALL

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.parametrize(
    "overrides",
    [
        ["launch.transport=tcp"],
        ["policy.memory=gru", "policy.memory_size=16"],
        ["policy=foreign_networks:Window", "--allow", "foreign_networks"],
    ],
    ids=str,
)
def test_a_killed_inference_process_comes_back_and_play_goes_on(start, patiently, overrides):
    league = start(*SMALL, "collector.inference=central", *overrides)

    def version():
        if not league.run.rendezvous.exists():
            return -1
        candidate = open_view(league.run).state.candidate("main")
        return -1 if candidate is None else candidate.version

    patiently(lambda: version() > 0, 120, "training")
    before = league.children()["inference"]
    assert len(before) == 1
    os.kill(before[0], signal.SIGKILL)
    patiently(lambda: league.children()["inference"] not in ([], before), 60, "a new inference process")
    at_kill, results = version(), league.results()
    patiently(lambda: version() > at_kill and league.results() > results + 20, 120, "training that goes on")
    assert league.interrupt() == 130
    assert verify(league.run) == 0
