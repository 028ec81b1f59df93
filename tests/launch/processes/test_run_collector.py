"""A collector's process."""

import subprocess
import sys

from launch.topology.parts import HUNG

CODE = """
import time
import sys
from launch.config.config import Config
from launch.processes.run_collector import HangWatch
config = Config()
config.env.name, config.collector.hang_seconds = "words", 0.2
ticks = iter(range(3))
watch = HangWatch(config, sys.stderr)
watch.progress, watch.building = lambda: next(ticks, 3), False
watch.start()
time.sleep(60)
"""


def test_a_loop_that_stands_still_ends_its_process_and_names_the_environment():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == HUNG
    assert "the environment words hangs" in done.stderr
    assert "Thread 0x" in done.stderr, "and where it is"
