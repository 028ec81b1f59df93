"""For all tests: one thread each, skips that `.ci/run` does not forgive, patience, and small disks to fill."""

import gc
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

# On shared cores more threads are slower, and some libraries read this only once.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# A shell that starts a suite in the background lets it, and all that it starts, ignore SIGINT.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    """Keep what was imported and collected, half a million objects, out of every later garbage collection."""
    gc.collect()
    gc.freeze()


# --- skips ---------------------------------------------------------------------------------------------------

# Where the machine lacks something (the right to mount, a codec, a Slurm), a test skips itself and says what it needs.
# `.ci/run` sets LUDUS_NO_SKIPS, and then a skip is a failure: what nobody runs, nobody knows to hold.
# Here are the beginnings of the ids of tests that need hardware which no CI has:
FORGIVEN = ()


def _unforgiven(report):
    if report.skipped and not hasattr(report, "wasxfail") and not report.nodeid.startswith(FORGIVEN):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"LUDUS_NO_SKIPS is set, and this would be skipped: {reason}"
    return report


if os.environ.get("LUDUS_NO_SKIPS"):

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport():
        return _unforgiven((yield))

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report():
        return _unforgiven((yield))


# --- figures -------------------------------------------------------------------------------------------------


# docs/reliability.md shows the figures of the tests that it names: `make reliability` writes them there.
FIGURES = "LUDUS_FIGURES"  # a file that gets a line of JSON for each figure


@pytest.fixture
def figure(record_property):
    """Return a function that records what a test measured; all figures are printed at the end."""
    return lambda text: record_property("figure", text)


def pytest_terminal_summary(terminalreporter):
    """Print what tests measured, and append it to the file that LUDUS_FIGURES names."""
    found = [
        (report.nodeid, text)
        for report in terminalreporter.getreports("passed")
        for name, text in report.user_properties
        if name == "figure" and report.when == "call"
    ]
    for test, text in found:
        terminalreporter.write_line(f"{test}: {text}")
    if os.environ.get(FIGURES):
        with Path(os.environ[FIGURES]).open("a") as file:
            file.writelines(json.dumps({"test": test, "figure": text}) + "\n" for test, text in found)


# --- patience ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def patiently():
    """Return a function that waits for a condition, and returns what it returned."""

    def wait_for(condition, seconds, what):
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < deadline, f"{what} did not happen within {seconds:g} s"
            time.sleep(0.1)
        return found

    return wait_for


# --- disks ---------------------------------------------------------------------------------------------------


class Disk:
    """A small file system that can be filled."""

    def __init__(self, path):
        self.path = path

    def fill(self, leave=0):
        with (self.path / "rest").open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                file.truncate(max(0, file.tell() - leave))

    def clear(self):
        (self.path / "rest").unlink()


@pytest.fixture
def mount():
    """Return a function that mounts a disk of so many MB at a path."""
    mounted = []

    def at(path, size):
        path.mkdir(parents=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", str(path)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("needs the right to mount a small file system (root)")
        mounted.append(path)
        return Disk(path)

    yield at
    for path in mounted:
        subprocess.run(["umount", "-l", str(path)], check=True)
