"""Server-sent events: the status of a run once, then what changes in it.

A delta has only the keys whose values are new, so that a page adds nothing up and a lost or repeated event changes no
number. A browser that reconnects begins with the whole status again.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec

from launch.dashboard.run_feed import RunFeed

LOOK_SECONDS = 0.5  # between two looks for something new
FIRST_SECONDS = 0.1  # between two looks while there is nothing to see yet
ALIVE_SECONDS = 10.0  # between two signs of life: a proxy or a tunnel may close what is silent

Sleep = Callable[[float], Awaitable[None]]


def event(name: str, plain: Any) -> bytes:
    r"""Return one event of a stream.

    >>> event("status", {"matches": 3})
    b'event: status\ndata: {"matches":3}\n\n'
    """
    return b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode(plain) + b"\n\n"


def delta(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the keys that are new or have another value.

    >>> delta({"matches": 3, "phase": "training"}, {"matches": 4, "phase": "training"})
    {'matches': 4}
    """
    return {key: value for key, value in after.items() if key not in before or before[key] != value}


async def status_events(feed: RunFeed, sleep: Sleep) -> AsyncIterator[bytes]:
    """Yield the events of a run until the reader leaves, or another run has its name."""
    shown: dict[str, Any] = {}
    silent = 0.0
    yield b"retry: 1000\n\n"
    while not feed.closed:
        feed.look()
        newest = feed.status | {"problem": feed.problem, "reading": feed.reading if not feed.status else None}
        change = delta(shown, newest)
        seconds = LOOK_SECONDS if feed.status else FIRST_SECONDS
        silent += seconds
        if change:
            yield event("delta" if shown else "status", change)
            shown, silent = newest, 0.0
        elif silent >= ALIVE_SECONDS:
            yield b": alive\n\n"
            silent = 0.0
        await sleep(seconds)
