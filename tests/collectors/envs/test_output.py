"""What an environment prints is caught, capped and counted."""

import subprocess
import sys
import threading
from contextlib import suppress

import numpy as np
from driving import begin, open_env

from collectors.envs.output import KEPT, EnvOutput


def test_what_is_printed_is_kept_up_to_a_limit_and_counted(capsys):
    output = EnvOutput()
    with output:
        print("first")
        print("x" * KEPT, file=sys.stderr)
    print("after")
    assert capsys.readouterr() == ("after\n", "")
    assert (output.lines, output.characters) == (2, 6 + KEPT + 1)
    assert output.text == f"first\n{'x' * (KEPT - 6)}"
    assert str(output) == f"it printed 2 lines ({KEPT + 7:,} characters), which are not shown; the first: 'first'"


def test_blocks_may_be_nested_and_broken_off(capsys):
    output = EnvOutput()
    with output, output:
        print("inside")
    with suppress(KeyError), output:
        raise KeyError
    print("outside")
    assert (output.lines, capsys.readouterr().out) == (1, "outside\n")


def test_what_another_thread_prints_goes_where_it_should(capsys):
    output = EnvOutput()
    with output:
        other = threading.Thread(target=print, args=("table",))
        other.start()
        other.join()
    assert (output.lines, capsys.readouterr().out) == (0, "table\n")


def test_the_log_is_told_at_first_and_when_it_is_ten_times_as_much():
    output, told = EnvOutput(), 0
    for _ in range(1000):
        output.add("line\n")
        told += bool(output.news())
    assert told == 4  # after 1, 10, 100 and 1,000 lines
    assert EnvOutput().news() == ""


def test_somebody_who_debugs_sees_everything(monkeypatch, capsys):
    monkeypatch.setenv("LUDUS_PRINT", "1")
    output = EnvOutput()
    with output:
        print("board")
    assert (output.lines, capsys.readouterr().out) == (0, "board\n")


def test_an_environment_that_prints_at_every_step_is_silent(capsys, caplog):
    caplog.set_level("INFO", logger="ludus.collector")
    env = begin(open_env("pettingzoo", "foreign_games:Chatty", allow=["foreign_games"]), 1)
    for _ in range(3):
        env.step(np.zeros(len(env.rows()), np.int32))
    assert capsys.readouterr() == ("", "")
    (told,) = caplog.messages
    assert told.startswith("the environment foreign_games:Chatty: it printed 3 lines")
    assert told.endswith("the first: 'built'")


THREADS = """
import sys, threading
from collectors.envs.output import EnvOutput

def talk():
    while not over:
        print("a thread prints")

over = []
threads = [threading.Thread(target=talk) for _ in range(3)]
sys.setswitchinterval(1e-6)
for thread in threads:
    thread.start()
output = EnvOutput()
for _ in range(10_000):
    with output:
        pass
over.append(True)
for thread in threads:
    thread.join()
"""


def test_threads_that_print_meanwhile_do_not_crash_the_process():
    """print() borrows sys.stdout: if a stream that took its place is gone before it has written, Python crashes."""
    done = subprocess.run(
        [sys.executable, "-c", THREADS], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
