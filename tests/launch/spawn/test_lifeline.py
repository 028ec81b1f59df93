"""A child does not outlive its parent."""

import subprocess
import sys
from pathlib import Path

CHILD = """
import time
from launch.spawn.lifeline import end_with_parent
end_with_parent()
print("ready", flush=True)
time.sleep(60)
"""
PARENT = f"""
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
os._exit(0)
"""


def test_the_kernel_ends_a_child_whose_parent_is_gone(patiently):
    done = subprocess.run([sys.executable, "-c", PARENT], capture_output=True, text=True, timeout=60, check=True)
    status = Path(f"/proc/{int(done.stdout)}/stat")

    def gone():
        return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"

    patiently(gone, 20, "the end of the child")
