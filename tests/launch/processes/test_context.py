"""The signals that end a process."""

import os
import signal
import subprocess
import sys

import pytest

from launch.processes.context import StopFlag


@pytest.fixture
def signals():
    kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    before = {kind: signal.getsignal(kind) for kind in kinds}
    yield
    for kind, handler in before.items():
        signal.signal(kind, handler)


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGUSR1])
def test_signals_ask_the_loop_to_stop_and_ctrl_c_does_not(kind):
    stop = StopFlag()
    os.kill(os.getpid(), signal.SIGINT)
    assert not stop.asked
    os.kill(os.getpid(), kind)
    assert stop.asked


def test_a_process_ends_when_its_standard_input_does():
    code = "import time; from launch.processes.context import die_with_parent; die_with_parent(); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    child.stdin.close()
    assert child.wait(60) == 1
