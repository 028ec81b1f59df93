"""What native code and children print is caught, counted and capped; a child that comes back from a call ends."""

import ctypes
import os
import sys
import threading

import numpy as np
from driving import begin, open_env

from collectors.envs.native_output import CAME_BACK, READ, NativeOutput
from collectors.envs.output import EnvOutput

LIBC = ctypes.CDLL(None)


def test_c_and_plain_descriptors_are_caught(capfd):
    output = EnvOutput()
    with output:
        LIBC.printf(b"from C\n")
        os.write(1, b"past every stream\n")
        os.write(2, b"a complaint\n")
    os.write(1, b"after\n")
    assert capfd.readouterr() == ("after\n", "")
    assert (output.lines, output.characters) == (3, 7 + 18 + 12)
    assert "from C\n" in output.text


def test_more_than_is_read_is_counted(capfd):
    output = EnvOutput()
    with output:
        os.write(1, b"x" * (READ + 500))
    assert output.characters == READ + 500
    assert capfd.readouterr().out == ""


def test_what_was_printed_before_and_what_other_threads_print_goes_where_it_should(capfd):
    output = EnvOutput()
    sys.stdout.write("before\n")  # stays in the stream until it is flushed
    with output:
        sys.stdout.flush()
        other = threading.Thread(target=print, args=("table",))
        other.start()
        other.join()
        os.write(1, b"caught")
    assert sorted(capfd.readouterr().out.split()) == ["before", "table"]
    assert output.text == "caught"


def test_a_child_that_lives_on_prints_into_the_file(capfd):
    output = EnvOutput()
    ready, told = os.pipe()
    go, begun = os.pipe()
    with output:
        os.write(1, b"x")
    output.text, output.characters = "", 0
    with output:
        child = os.fork()
        if not child:
            os.read(go, 1)
            os.write(1, b"much later\n")
            os.write(told, b".")
            os._exit(0)
    os.write(begun, b".")
    os.read(ready, 1)
    os.waitpid(child, 0)
    with output:
        os.write(1, b"after\n")
    assert output.text == "much later\nafter\n"
    assert output.characters == 17, "the file was emptied, and nobody left a hole in it"
    assert capfd.readouterr().out == ""
    for descriptor in (ready, told, go, begun):
        os.close(descriptor)


def test_a_forked_process_that_comes_back_from_its_call_ends(capfd):
    output = EnvOutput()
    parent = os.getpid()
    with output:
        child = os.fork()
    assert os.getpid() == parent, "nobody but the parent gets here"
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == CAME_BACK
    assert "forked a process that came back from its call" in capfd.readouterr().err


def test_a_closed_descriptor_hurts_nobody():
    native = NativeOutput()
    saved = os.dup(1)
    os.close(1)
    try:
        native.catch()
        native.release()
    finally:
        os.dup2(saved, 1)
        os.close(saved)
    assert native.take() == ("", 0)


def test_an_environment_that_prints_in_c_at_every_step_is_silent(capfd, caplog):
    caplog.set_level("INFO", logger="ludus.collector")
    env = begin(open_env("pettingzoo", "busy_envs:Native", allow=["busy_envs"]), 1)
    for _ in range(3):
        env.step(np.zeros(len(env.rows()), np.int32))
    assert capfd.readouterr() == ("", "")
    (told,) = caplog.messages
    assert "it printed 3 lines" in told or "it printed 4 lines" in told, told


def test_all_threads_can_be_caught(capfd):
    output = EnvOutput(everybody=True)
    with output:
        other = threading.Thread(target=print, args=("chatter",))
        other.start()
        other.join()
        os.write(2, b"more\n")
        assert "2 lines" in output.news()
    assert capfd.readouterr() == ("", "")
