"""Children that may hang: they are waited for, given up, and gone in the end."""

import sys

import pytest

from launch.spawn.child import child_process, wait_for

HANG = [sys.executable, "-c", "import time; time.sleep(600)"]


def test_a_child_that_ends_is_waited_for():
    with child_process([sys.executable, "-c", "raise SystemExit(3)"]) as child:
        assert wait_for(child, give_up=lambda: "") == ""
    assert child.returncode == 3


def test_a_child_that_hangs_is_given_up_for_a_reason_and_killed():
    checks = []

    def give_up():
        checks.append(None)
        return "three checks" if len(checks) == 3 else ""

    with child_process(HANG) as child:
        assert wait_for(child, give_up) == "three checks"
        assert child.poll() is None
    assert child.returncode == -9


def test_no_child_outlives_an_error():
    with pytest.raises(KeyError), child_process(HANG) as child:
        raise KeyError
    assert child.returncode == -9
