"""A learner of two ranks in a real league: both learn, and if one is killed, the group comes back by itself."""

import os
import signal
from pathlib import Path

import pytest

from launch.verify.verify import verify
from launch.viewers.view import open_view
from tests.process.test_kill import SMALL

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def trained(league):
    """Return how many decisions the newest candidate of the main was trained on."""
    if not league.run.rendezvous.exists():
        return 0
    candidate = open_view(league.run).state.candidate("main")
    return candidate.decisions if candidate is not None else 0


def ranks(league):
    """Return the process ids of the ranks: the learner's processes without torchrun's agent."""
    lines = {pid: cmdline(pid) for pid in league.children()["learner"]}
    return sorted(pid for pid, line in lines.items() if line and b"torch.distributed.run" not in line)


def cmdline(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has just ended
        return b""


@pytest.mark.parametrize("share", ["ddp", "async", "gossip"])
def test_a_killed_rank_comes_back_with_its_group(start, patiently, share):
    league = start(*SMALL, "launch.ranks=2", f"learner.share={share}")
    patiently(lambda: trained(league) > 8192, 120, "training on two ranks")
    before = patiently(lambda: len(found := ranks(league)) == 2 and found, 30, "two ranks")
    os.kill(before[1], signal.SIGKILL)
    at_kill = trained(league)
    patiently(lambda: len(ranks(league)) == 2 and not set(before) & set(ranks(league)), 60, "a new group")
    patiently(lambda: trained(league) > at_kill, 120, "training that goes on")
    assert league.interrupt() == 130
    assert verify(league.run) == 0


def test_a_rank_that_got_too_much_does_not_keep_the_others_from_their_batch(start, patiently):
    """Lanes hold many batches, and episodes are long: what one lane of messages brings to a rank is never even."""
    league = start(
        "env=gymnasium",
        "env.id=Pendulum-v1",
        "league=cooperative",
        "policy.hidden=[8]",
        "algo.batch=64",
        "algo.minibatch=64",
        "algo.epochs=1",
        "learner.candidate_decisions=2048",
        "collector.slots=8",
        "collector.ticks=64",
        "league.budget.minutes=30",
        "launch.ranks=2",
        "launch.collectors=1",
    )
    patiently(lambda: trained(league) >= 8192, 120, "training that never stands still")
    assert league.interrupt() == 130
