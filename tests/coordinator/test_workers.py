"""Workers: who is listened to, which sessions live, and how many names are remembered."""

import pytest

from coordinator.workers import REPLACED, SESSIONS, SILENT, Holdings, Workers, holder_of
from league.wire.messages import Role

ROSTER = ("collector-0", "collector-1", "learner-0")


@pytest.fixture
def workers():
    return Workers(ROSTER)


def note(workers, name="collector-0", session="s", now=0.0, host="", **metrics):
    workers.note(name, Role.COLLECTOR, session, metrics, now, host)


@pytest.mark.parametrize(
    ("name", "proven", "heard"),
    [
        ("collector-0", None, True),
        ("collector-9", None, False),
        ("human-ada", None, True),
        ("collector-9", "collector-9", True),  # `ludus scale` made it and its key
        ("collector-0", "collector-1", False),
        ("human-ada", "human", True),
        ("collector-0", "human", False),
        ("human-ada", "collector-0", False),
    ],
)
def test_a_name_is_admitted_by_its_key_or_by_the_launcher(workers, name, proven, heard):
    assert (workers.refusal(name, "s", proven) == "") == heard


def test_a_session_that_is_silent_and_has_a_successor_is_over(workers):
    note(workers, session="old", now=0.0)
    assert workers.replaced(100.0) == [], "nobody came after it"
    note(workers, session="new", now=REPLACED)
    assert workers.replaced(REPLACED) == []
    assert workers.replaced(REPLACED + 0.1) == [holder_of("collector-0", "old")]
    assert workers.replaced(REPLACED + 0.1) == [], "once"


def test_a_late_message_of_a_session_that_is_over_takes_nothing_from_its_successor(workers):
    note(workers, session="old", now=0.0)
    note(workers, session="new", now=9.0)
    assert workers.replaced(9.0) == [holder_of("collector-0", "old")]
    note(workers, session="old", now=10.0)
    assert workers.replaced(20.0) == [holder_of("collector-0", "old")], "not the new one, which plays a long move"


def test_two_sessions_that_both_speak_both_live(workers):
    for now in range(100):
        note(workers, session="one", now=float(now))
        note(workers, session="two", now=float(now))
        assert workers.replaced(float(now)) == []


def test_sessions_of_one_name_are_bounded(workers):
    for number in range(SESSIONS):
        assert workers.refusal("collector-0", f"s{number}", None) == ""
        note(workers, session=f"s{number}")
    assert "8 processes call themselves 'collector-0'" in workers.refusal("collector-0", "one more", None)
    assert workers.refusal("collector-0", "s0", None) == "", "those that are there stay"
    assert workers.refusal("collector-1", "s", None) == ""
    workers.replaced(REPLACED + 0.1)
    assert workers.refusal("collector-0", "one more", None) == "", "a process that crashes in a loop comes back"


def test_every_later_session_is_a_restart_perhaps_on_another_machine(workers):
    note(workers, session="one", host="node-1")
    assert [(one.host, one.restarts) for one in workers.listed(0.0)] == [("node-1", 0)]
    note(workers, session="two", now=1.0, host="node-2")
    note(workers, session="one", now=1.5, host="node-1")
    assert [(one.host, one.restarts) for one in workers.listed(2.0)] == [("node-2", 1)]


def test_a_late_message_of_an_ended_session_is_no_restart(workers):
    note(workers, session="old", now=0.0)
    note(workers, session="new", now=9.0)
    workers.replaced(9.0)
    note(workers, session="old", now=10.0)
    assert [one.restarts for one in workers.listed(10.0)] == [1]


def test_restarts_are_remembered_of_who_is_forgotten_and_silence_is_none(workers):
    note(workers, session="one", now=0.0)
    note(workers, session="two", now=1.0)
    workers.forget(2 * SILENT)
    note(workers, session="two", now=2 * SILENT)
    assert [one.restarts for one in workers.listed(2 * SILENT)] == [1], "the same process speaks again"
    workers.forget(4 * SILENT)
    note(workers, session="three", now=4 * SILENT)
    assert [one.restarts for one in workers.listed(4 * SILENT)] == [2]


def test_processes_are_listed_with_the_tickets_that_they_hold(workers):
    note(workers)
    note(workers, "collector-1")
    listed = {one.name: one for one in workers.listed(0.0, Holdings({"collector-1": 9}, {"collector-1": [3, 4]}))}
    assert (listed["collector-0"].held, listed["collector-0"].plays) == (0, ())
    assert (listed["collector-1"].held, listed["collector-1"].plays) == (9, (3, 4))


def test_humans_are_not_remembered(workers):
    for number in range(1000):
        note(workers, name=f"human-{number}")
    assert list(workers.listed(0.0)) == []


def test_who_is_silent_for_long_is_forgotten(workers):
    note(workers, now=0.0, speed=1.0)
    note(workers, "collector-1", now=SILENT)
    workers.forget(SILENT + 1)
    assert workers.collectors() == {"collector-1"}


def test_the_newest_metrics_of_each_are_taken_once(workers):
    for number in range(100):
        note(workers, speed=float(number))
    assert workers.take_metrics() == [("collector-0", {"speed": 99.0})]
    assert workers.take_metrics() == []


def test_a_speed_is_the_mean_over_all_reports_since_it_was_taken_last(workers):
    """A collector that played for 3 s, and rested in the second before the row is written, did not stand still."""
    note(workers, env_steps_per_second=100.0, seconds=3.0, env_steps=300.0)
    note(workers, env_steps_per_second=0.0, seconds=1.0, env_steps=300.0)
    (taken,) = workers.take_metrics()
    assert taken == ("collector-0", {"env_steps_per_second": 75.0, "seconds": 4.0, "env_steps": 300.0})
    note(workers, env_steps_per_second=10.0, seconds=1.0, env_steps=310.0)
    assert workers.take_metrics()[0][1]["env_steps_per_second"] == 10.0, "what was taken is told"


def test_a_report_that_measured_no_time_takes_nothing_from_the_one_before(workers):
    note(workers, updates_per_second=4.0, seconds=2.0)
    note(workers, version=3.0)
    assert workers.take_metrics()[0][1] == {"updates_per_second": 4.0, "seconds": 2.0, "version": 3.0}
    note(workers, updates_per_second=4.0, seconds=-1e100)
    note(workers, updates_per_second=2.0, seconds=1.0)
    assert workers.take_metrics()[0][1]["updates_per_second"] == 2.0


def test_a_collector_is_behind_if_it_lives_and_told_nothing_since_the_last_row(workers):
    note(workers, "collector-0", speed=1.0)
    note(workers, "collector-1")
    assert not workers.behind(1.0, 10.0), "one that never measures is not waited for"
    workers.take_metrics()
    assert workers.behind(1.0, 10.0)
    assert not workers.behind(10.0, 10.0), "it may be dead"
    note(workers, "collector-0", now=2.0, speed=1.0)
    assert not workers.behind(2.0, 10.0)
