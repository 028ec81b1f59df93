"""A word on what takes long, on a terminal only, and one at a time."""

import io
import time

import pytest
from rich.console import Console

from launch.progress import Progress


@pytest.fixture
def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def until(terminal, text):
    deadline = time.monotonic() + 20
    while text not in terminal.file.getvalue():
        assert time.monotonic() < deadline, terminal.file.getvalue()
        time.sleep(0.01)


def test_it_comes_by_itself_and_says_how_far_it_is(terminal):
    with Progress("export", terminal, quiet=0.05) as progress:
        until(terminal, "export ...")
        progress.tell("match 7")
        until(terminal, "export: match 7")
    shown = terminal.file.getvalue()
    time.sleep(0.05)
    assert terminal.file.getvalue() == shown, "it is gone"


def test_what_is_quick_and_what_nobody_sees_says_nothing(terminal):
    with Progress("export", terminal) as progress:
        progress.tell("match 7")
    assert terminal.file.getvalue() == ""
    pipe = Console(file=io.StringIO())
    with Progress("export", pipe, quiet=0.0) as progress:
        progress.tell("match 7")
        time.sleep(0.05)
    assert pipe.file.getvalue() == ""


def test_one_inside_another_is_silent(terminal):
    with Progress("outer", terminal, quiet=0.0), Progress("inner", terminal, quiet=0.0) as inner:
        inner.tell("far")
        until(terminal, "outer ...")
    assert "inner" not in terminal.file.getvalue()
    with Progress("next", terminal, quiet=0.0):
        until(terminal, "next ...")
