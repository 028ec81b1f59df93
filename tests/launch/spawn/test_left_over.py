"""Processes that an environment left are ended and waited for."""

import os
import time

from launch.spawn.left_over import children, end_left_over


def forked(seconds):
    """Start a process that sleeps, and return its id."""
    child = os.fork()
    if not child:
        time.sleep(seconds)
        os._exit(0)
    return child


def test_what_was_started_since_is_ended_and_reaped():
    before = children()
    sleeping, ended = forked(60), forked(0)
    os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
    assert {sleeping, ended} <= children() - before
    assert end_left_over(before) == 1
    assert not {sleeping, ended} & children()
