"""How much fits into one page of events, and into one piece of the fold."""

from collections.abc import Iterable
from itertools import islice

PAGE = 2000  # events in one page,
PAGE_BYTES = 1 << 18  # and bytes, of a page and of a piece of the fold: what a viewer leaves unread is in memory


def first_page(bodies: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return the events that one page can carry: at least one, if there are any."""
    taken: list[bytes] = []
    size = 0
    for body in islice(bodies, PAGE):
        size += len(body)
        if taken and size > PAGE_BYTES:
            break
        taken.append(body)
    return tuple(taken)
