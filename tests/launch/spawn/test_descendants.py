"""A watcher ends what a process started, however that ends, and nothing that was there before."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launch.spawn import descendants as program
from launch.spawn.descendants import LOOK_SECONDS, began_at, descendants

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
OWNER = """
import subprocess, sys, time
sys.path[:0] = {paths!r}
from launch.spawn.descendants import descendants_end
words = {words!r}
earlier = subprocess.Popen(words)
with descendants_end():
    inside = subprocess.Popen(words, start_new_session=True)
    print(earlier.pid, inside.pid, flush=True)
    time.sleep(600)
"""


def test_descendants_are_those_of_children_too():
    words = [sys.executable, "-S", "-c", f"import subprocess; subprocess.run({SLEEP!r})"]
    with subprocess.Popen(words) as child:
        while len(found := descendants(child.pid)) < 1:
            assert child.poll() is None
        (inner,) = found
        assert found == {inner: began_at(inner)}
        assert descendants(child.pid, without={inner}) == {}
        subprocess.run(["kill", "-9", str(inner)], check=True)
    assert not began_at(child.pid)


def test_a_watcher_that_another_process_adopted_ends_itself_and_nothing_else():
    with subprocess.Popen(SLEEP) as child:  # of this process, as others are of the one that adopts orphans
        gone = subprocess.run(
            [sys.executable, "-S", "-c", "import os; print(os.getpid())"], capture_output=True, check=True
        )
        words = [sys.executable, "-I", "-S", program.__file__, gone.stdout.decode().strip()]
        watcher = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True)
        assert (watcher.stdout, watcher.stderr) == (b".", b"")
        assert began_at(child.pid)
        child.kill()


@pytest.mark.slow
def test_kill_9_ends_what_was_started_inside_and_nothing_else(patiently):
    words = [sys.executable, "-c", OWNER.format(paths=[str(Path(__file__).parents[3])], words=SLEEP)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as owner:
        earlier, inside = map(int, owner.stdout.readline().split())
        seen = time.monotonic() + 4 * LOOK_SECONDS
        patiently(lambda: time.monotonic() > seen, 10, "a look of the watcher")
        owner.send_signal(signal.SIGKILL)
    patiently(lambda: not began_at(inside), 10, "the end of what was started")
    assert began_at(earlier)
    subprocess.run(["kill", "-9", str(earlier)], check=True)
