"""Replays that are kept: a killed learner of two ranks, or a killed buffer process, goes on with its own."""

import os
import re
import signal

import pytest

from tests.process.test_buffer import VALUES
from tests.process.test_kill import SMALL

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.parametrize(("where", "ranks"), [("learner", 2), ("buffer", 1)])
def test_a_killed_process_goes_on_with_its_replay(start, patiently, where, ranks):
    more = [f"learner.replay_in={where}", f"launch.ranks={ranks}", "learner.candidate_decisions=2048"]
    league = start(*SMALL, *VALUES, *more, "learner.keep_replay=true")

    def kept():
        """The ranks that have kept a replay of some learned version of `main`."""
        found = league.run.replays_of("main").glob("*.safetensors") if league.run.root.exists() else ()
        return {path.name.partition("-")[0] for path in found if not path.name.endswith("-0.safetensors")}

    def resumed():
        text = "".join(path.read_text() for path in league.run.logs.glob(f"{where}-*.log"))
        return re.findall(r"player main goes on with .*\d decisions of version [1-9]", text)

    patiently(lambda: kept() == {str(rank) for rank in range(ranks)}, 120, "replays of a learned version")
    assert not resumed()
    os.kill(league.children()[where][-1], signal.SIGKILL)
    patiently(lambda: len(resumed()) >= ranks, 120, "a process that goes on with its replay")
    assert league.interrupt() == 130
