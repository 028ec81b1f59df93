"""The mirror: folds pages of the feed, serves the newest events, keeps older pages."""

import pytest

from coordinator.mirror import Mirror
from league import events
from league.events import OperatorActed, TermBegan
from league.wire.messages import Follow, Page

BODIES = tuple(
    events.encode(event)
    for event in (TermBegan(term=1), OperatorActed(action="pause"), OperatorActed(action="unpause"))
)


def page(since, bodies, head):
    return Page(term=1, request=1, since=since, events=tuple(bodies), head=head)


@pytest.fixture
def mirror(config):
    return Mirror(config())


def test_pages_bring_it_forward_and_a_gap_does_not(mirror):
    mirror.take(page(0, BODIES[:1], head=3))
    assert (mirror.seq, mirror.complete, mirror.state.term) == (1, False, 1)
    mirror.take(page(2, BODIES[2:], head=3))
    assert mirror.seq == 1
    mirror.take(page(1, BODIES[1:], head=3))
    assert (mirror.seq, mirror.complete, mirror.state.paused) == (3, True, False)


def test_the_newest_events_are_served_without_the_coordinator(mirror):
    mirror.take(page(0, BODIES, head=3))
    follow = Follow(request=5, since=1)
    assert mirror.has(follow)
    found = mirror.page(follow)
    assert (found.request, found.since, found.events, found.head) == (5, 1, BODIES[1:], 3)


def test_a_shorter_ledger_is_another_one(mirror):
    mirror.take(page(0, BODIES, head=3))
    mirror.take(page(3, (), head=1))
    assert (mirror.seq, mirror.state.term) == (0, 0)


def test_an_older_page_is_kept_and_the_last_one_is_not(mirror):
    first, last = Follow(request=1, since=0, measured=0), Follow(request=1, since=1, measured=0)
    mirror.keep(first, page(0, BODIES[:1], head=3))
    mirror.keep(last, page(1, BODIES[1:], head=3))
    assert mirror.cached(Follow(request=9, since=0, measured=0)).request == 9
    assert mirror.cached(last) is None
