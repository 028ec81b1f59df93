"""A process that always fails alike is recognised."""

import pytest

from launch.processes.failing import Failures, last_traceback


def crash(what, noise="2026-11-17 INFO ludus.learner: starts"):
    return f'{noise}\nTraceback (most recent call last):\n  File "x.py", line 3, in update\n    f(x)\n{what}\n'


def test_the_same_error_is_counted_whatever_its_numbers():
    failures = Failures()
    for number in range(3):
        failures.note(crash(f"ValueError: batch {number} at 0x7f{number}a of loss {number}.5e-{number}"), worked=False)
    assert (failures.same, failures.idle) == (3, 3)
    assert failures.traceback.endswith("ValueError: batch 2 at 0x7f2a of loss 2.5e-2")


@pytest.mark.parametrize(
    ("log", "worked"),
    [(crash("KeyError: 'other'"), False), (crash("ValueError: x"), True), ("killed, without a word", False)],
    ids=["another error", "work in between", "no traceback"],
)
def test_another_end_or_work_in_between_begins_the_count_again(log, worked):
    failures = Failures()
    failures.note(crash("ValueError: x"), worked=False)
    failures.note(crash("ValueError: x"), worked=False)
    failures.note(log, worked=worked)
    assert failures.same == int("Traceback" in log)
    failures.note(crash("TypeError: y"), worked=False)
    assert failures.same == 1


def test_the_traceback_of_a_rank_is_found_below_that_of_its_launcher():
    rank = "".join(f"[rank1]: {line}\n" for line in crash("ValueError: x").splitlines()[1:])
    agent = crash("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ")
    found = last_traceback(rank + agent)
    assert found.splitlines()[0] == "Traceback (most recent call last):"
    assert found.endswith("ValueError: x")
