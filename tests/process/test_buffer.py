"""A buffer process among real processes: collectors feed it, the learner draws from it, and it is killed."""

import os
import signal

import pytest

from launch.verify.verify import verify
from launch.viewers.view import open_view
from tests.process.test_kill import SMALL

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

VALUES = [
    "algo=dqn",
    "policy.head=values",
    "algo.batch=256",
    "algo.minibatch=64",
    "algo.warmup=500",
    "algo.samples_per_insert=2",
    "learner.replay_in=buffer",
]


@pytest.mark.parametrize(("transport", "ranks"), [("tcp", 1), ("ipc", 2)])  # on tcp it comes back at another address
def test_a_killed_buffer_process_comes_back_and_fills_again(start, patiently, transport, ranks):
    league = start(*SMALL, *VALUES, f"launch.transport={transport}", f"launch.ranks={ranks}")

    def metrics():
        if not league.run.rendezvous.exists():
            return {}
        return next((w.metrics for w in open_view(league.run).workers if w.name == "learner-0"), {})

    def learned():
        """The version of `main`, if gradient steps are taken."""
        found = metrics()
        return found.get("player/main/version", 0) if found.get("player/main/losses/gradient_steps") else 0

    patiently(lambda: learned() > 2, 120, "training")
    # A look that finds the coordinator busy falls back to the ledger, and knows no workers.
    found = patiently(lambda: "buffer/wait_share" in (told := metrics()) and told, 60, "what the learner measured")
    assert found["player/main/reuse"] > 0
    assert 0 <= found["buffer/wait_share"] <= 1
    before = league.children()["buffer"]
    assert len(before) == ranks
    os.kill(before[-1], signal.SIGKILL)
    patiently(lambda: len({*league.children()["buffer"]} - {*before}) == 1, 60, "a new buffer process")
    at_kill, results = learned(), league.results()
    patiently(lambda: learned() > at_kill + 3 and league.results() > results + 20, 120, "training that goes on")
    assert league.interrupt() == 130
    assert verify(league.run) == 0
