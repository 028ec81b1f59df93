"""A word on what takes long: one line on a terminal, plain lines elsewhere, and one at a time."""

import io
import time

import pytest
from rich.console import Console

from launch.terminal.spinner import Spinner, hushed


@pytest.fixture
def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def until(terminal, text):
    deadline = time.monotonic() + 20
    while text not in terminal.file.getvalue():
        assert time.monotonic() < deadline, terminal.file.getvalue()
        time.sleep(0.01)


def test_it_comes_by_itself_and_says_how_far_it_is(terminal):
    with Spinner("export", terminal, quiet=0.05) as progress:
        until(terminal, "export ...")
        progress.update("match 7")
        until(terminal, "export: match 7")
    shown = terminal.file.getvalue()
    time.sleep(0.05)
    assert terminal.file.getvalue() == shown, "it is gone"


def test_what_is_quick_says_nothing(terminal):
    pipe = Console(file=io.StringIO())
    for console in (terminal, pipe):
        with Spinner("export", console) as progress:
            progress.update("match 7")
        assert console.file.getvalue() == ""


def test_elsewhere_it_writes_plain_lines_until_it_is_over():
    pipe = Console(file=io.StringIO())
    with Spinner("export", pipe, first=0.02) as progress:
        until(pipe, "ludus: export ..., ")
        progress.update("match 1 of 4", share=0.25)
        until(pipe, "ludus: export: match 1 of 4, ")
    written = pipe.file.getvalue()
    time.sleep(0.05)
    assert pipe.file.getvalue() == written, "it is over"


def test_one_inside_another_is_silent(terminal):
    with Spinner("outer", terminal, quiet=0.0), Spinner("inner", terminal, quiet=0.0) as inner:
        inner.update("far")
        until(terminal, "outer ...")
    assert "inner" not in terminal.file.getvalue()
    with Spinner("next", terminal, quiet=0.0):
        until(terminal, "next ...")


def test_nothing_is_shown_where_it_is_to_be_quiet(terminal):
    with hushed(), Spinner("outer", terminal, quiet=0.0) as progress:
        progress.update("match 7")
    assert terminal.file.getvalue() == ""
    with hushed(False), Spinner("outer", terminal, quiet=0.0):
        until(terminal, "outer ...")
