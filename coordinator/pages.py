"""The size of a page of events, and of a chunk of the fold."""

from collections.abc import Iterable
from itertools import islice

PAGE = 2000  # events in one page
PAGE_BYTES = 1 << 18  # bytes in one page or chunk: while a viewer does not read it, it occupies memory


def first_page(bodies: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return the first events, as many as fit into one page, but at least one if there is any."""
    taken: list[bytes] = []
    size = 0
    for body in islice(bodies, PAGE):
        size += len(body)
        if taken and size > PAGE_BYTES:
            break
        taken.append(body)
    return tuple(taken)
