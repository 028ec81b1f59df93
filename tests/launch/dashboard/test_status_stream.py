import asyncio
import json
from types import SimpleNamespace

from launch.dashboard.status_stream import delta, status_events


def events(feed, changes, most):
    """Return the events of a stream as (name, data); each sleep makes the next change."""
    changes = iter(changes)

    async def sleep(seconds):
        next(changes, lambda: None)()

    async def collect():
        found = []
        async for piece in status_events(feed, sleep):
            lines = dict(
                line.split(": ", 1) for line in piece.decode().strip().splitlines() if not line.startswith(":")
            )
            if "event" in lines:
                found.append((lines["event"], json.loads(lines["data"])))
            if len(found) == most:
                return found
        return found

    return asyncio.run(collect())


def test_the_whole_status_comes_first_and_then_only_what_changes():
    feed = SimpleNamespace(
        closed=False, status={"matches": 1, "phase": "training"}, problem="", reading=(0, 0), look=lambda: None
    )

    def change():
        feed.status = {"matches": 2, "phase": "training"}

    (first, whole), (second, news) = events(feed, [lambda: None, change], 2)
    assert (first, second) == ("status", "delta")
    assert whole["matches"] == 1
    assert news == {"matches": 2}


def test_a_run_that_cannot_be_read_says_why():
    feed = SimpleNamespace(closed=False, status={}, problem="it is damaged", reading=(3, 9), look=lambda: None)
    ((_, whole),) = events(feed, [], 1)
    assert whole == {"problem": "it is damaged", "reading": [3, 9]}


def test_a_delta_has_no_key_twice():
    assert delta({}, {"a": 1}) == {"a": 1}
    assert delta({"a": 1, "b": 2}, {"a": 1, "b": 3}) == {"b": 3}


def test_the_stream_of_a_run_that_was_replaced_ends():
    feed = SimpleNamespace(closed=False, status={"matches": 1}, problem="", reading=(0, 0), look=lambda: None)

    def close():
        feed.closed = True

    assert [name for name, _ in events(feed, [close], 9)] == ["status"]
