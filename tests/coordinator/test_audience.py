"""Who is answered when: fair turns, one wish of a kind for each peer, limits that hold whatever a peer does."""

import pytest

from coordinator import audience as module
from coordinator.audience import BURST, DEAF, MAY_ASK, PEER_RATE, PEERS, ROLE_RATE, SILENT, Audience, Bucket
from league.wire.messages import FetchFold, Follow, Note, Report, Role


def follow(request=1, since=0):
    return Follow(request=request, since=since)


def heard(audience, peer, wish=None, role=Role.VIEWER, now=0.0):
    return audience.receive(peer, role, wish or follow(), now)


def in_line(audience, now=0.0):
    return [(waiting.peer, waiting.wish) for waiting in audience.waiting(now)]


@pytest.mark.parametrize("role", [None, *Role])
@pytest.mark.parametrize("wish", [follow(), FetchFold(request=1), Note(request=1, name="csv", text="here")])
def test_each_role_may_ask_for_its_own_things(role, wish):
    viewers = {None, Role.VIEWER, Role.OPERATOR, Role.TRACKER}
    may = role in ({None, Role.TRACKER} if isinstance(wish, Note) else viewers)
    audience = Audience()
    assert (audience.receive(b"x", role, wish, 0.0) == "") == may
    assert len(in_line(audience)) == may
    assert type(wish) in MAY_ASK


def test_other_messages_are_refused():
    reason = Audience().receive(b"x", Role.VIEWER, Report(request=1, name="c", session="s"), 0.0)
    assert reason == "a viewer key may not send Report to the replica"


@pytest.mark.parametrize(
    "wish",
    [
        follow(since=-1),
        follow(since=1 << 63),
        Follow(request=1, since=0, mark="x"),
        Follow(request=1, since=0, measured=1 << 62),
        FetchFold(request=1, offset=-1),
        Note(request=1, name="csv", text="x" * 5000),
        Note(request=1, name="x" * 65, text=""),
    ],
)
def test_wishes_out_of_bounds_are_refused(wish):
    audience = Audience()
    assert audience.receive(b"x", None, wish, 0.0)
    assert in_line(audience) == []


def test_a_peer_has_one_wish_of_each_kind_and_keeps_its_place():
    audience = Audience()
    for request in range(3000):
        heard(audience, b"flood", follow(request))
        if not request:
            heard(audience, b"honest")
    heard(audience, b"flood", FetchFold(request=1))
    assert in_line(audience) == [
        (b"flood", follow(2999)),
        (b"honest", follow()),
        (b"flood", FetchFold(request=1)),
    ]


def test_a_newer_wish_waits_when_the_older_one_is_answered():
    audience = Audience()
    heard(audience, b"x", follow(1))
    (first,) = audience.waiting(0.0)
    heard(audience, b"x", follow(2))
    audience.served(first, 10, 0.0)
    assert in_line(audience) == [(b"x", follow(2))]
    (second,) = audience.waiting(0.0)
    audience.served(second, 10, 0.0)
    assert in_line(audience) == []


def test_roles_take_turns():
    audience = Audience()
    for i in range(3):
        heard(audience, b"viewer-%d" % i)
    heard(audience, b"tracker", role=Role.TRACKER)
    assert [peer for peer, _ in in_line(audience)][:2] == [b"viewer-0", b"tracker"]
    first = next(audience.waiting(0.0))
    audience.served(first, 10, 1.0)
    assert [peer for peer, _ in in_line(audience, 1.0)] == [b"tracker", b"viewer-1", b"viewer-2"]


def take_all(audience, peers, size, seconds, role=Role.VIEWER):
    """Let peers ask and be answered all the time; return how many bytes each of them got."""
    got = dict.fromkeys(peers, 0)
    for step in range(int(seconds * 100)):
        now = step / 100
        for peer in peers:
            heard(audience, peer, role=role, now=now)
        for waiting in audience.waiting(now):
            audience.served(waiting, size, now)
            got[waiting.peer] += size
    return got


def test_a_peer_gets_no_more_than_its_rate():
    (got,) = take_all(Audience(), [b"x"], 1 << 18, 10.0).values()
    assert PEER_RATE * 10 <= got <= PEER_RATE * (10 + BURST) + (1 << 18)


def test_a_crowd_gets_no_more_than_the_rate_of_its_role_and_shares_it():
    peers = [b"%d" % i for i in range(100)]
    got = take_all(Audience(), peers, 1 << 18, 10.0)
    assert sum(got.values()) <= ROLE_RATE * (10 + BURST) + 100 * (1 << 18)
    assert min(got.values()) >= 0.5 * max(got.values())


def test_a_crowd_of_viewers_takes_nothing_from_trackers():
    audience = Audience()
    take_all(audience, [b"%d" % i for i in range(100)], 1 << 20, 5.0)
    heard(audience, b"tracker", role=Role.TRACKER, now=5.0)
    assert (b"tracker", follow()) in in_line(audience, 5.0)


def test_a_peer_that_does_not_read_is_not_listened_to_for_a_while():
    audience = Audience()
    heard(audience, b"deaf")
    heard(audience, b"deaf", FetchFold(request=1))
    audience.drop(next(audience.waiting(0.0)), 0.0)
    assert in_line(audience) == []
    assert heard(audience, b"deaf", now=DEAF / 2) == "", "it gets no answer, not even a refusal"
    assert in_line(audience, DEAF / 2) == []
    heard(audience, b"deaf", now=DEAF)
    assert len(in_line(audience, DEAF)) == 1


def test_the_number_of_peers_is_bounded_and_silent_ones_make_room(monkeypatch):
    monkeypatch.setattr(module, "PEERS", 5)
    audience = Audience()
    for i in range(5):
        assert heard(audience, b"%d" % i, now=float(i)) == ""
    assert "5 peers" in heard(audience, b"late", now=5.0)
    assert heard(audience, b"tracker", role=Role.TRACKER, now=5.0) == ""
    assert heard(audience, b"late", now=SILENT + 1.5) == "", "0 and 1 have been silent for long"
    assert len(audience) == 3 + 1 + 1
    assert PEERS >= 64


def test_a_bucket_never_holds_more_than_a_burst():
    bucket = Bucket(rate=10, now=0.0)
    bucket.pay(1000 * BURST, 1000.0)
    assert not bucket.ready(1001.0)
    assert bucket.ready(1000 + 100 * BURST)
