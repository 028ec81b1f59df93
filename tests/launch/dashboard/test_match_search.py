import pytest

from launch.dashboard.match_search import MatchFilter, PagedRows, find_match, search_matches, sides_of
from launch.viewers.reading import Matches
from launch.viewers.view import ViewError, read_offline
from league.ids import PlayerId, TicketNumber
from league.store.ledger import open_copy
from league.ticket import Entry, Purpose, Ticket
from league.wire.messages import Follow, Page, Refused


def all_matches(run, wanted, limit=50, sides=(0, 1)):
    found, before = [], None
    while True:
        page = search_matches(run, wanted, before, limit, sides)
        found += page["matches"]
        before = page["before"]
        if before is None:
            return found


def test_matches_are_those_of_the_command(played):
    seen = Matches(None, 10_000)
    read_offline(played[0], seen)
    printed = list(reversed(seen.newest))
    for limit in (7, 200):
        found = all_matches(played[0], MatchFilter(), limit)
        assert [{name: one[name] for name in printed[0]} for one in found] == printed


@pytest.mark.parametrize("purpose", ["train", "evaluate"])
def test_filters_choose_among_all(played, purpose):
    everything = all_matches(played[0], MatchFilter(), 200)
    wanted = MatchFilter(player="main", against="random", purpose=purpose)
    found = all_matches(played[0], wanted, 5)
    assert [one["ticket"] for one in found] == [
        one["ticket"]
        for one in everything
        if one["purpose"] == purpose and sorted(one["players"]) == ["main", "random"]
    ]


def test_endings_are_those_of_the_player(played):
    for ending in ("won", "lost", "drawn"):
        for one in all_matches(played[0], MatchFilter(player="main", ending=ending), 50):
            score = one["scores"][one["players"].index("main")]
            assert (score > 0.5, score < 0.5) == (ending == "won", ending == "lost")
    assert all_matches(played[0], MatchFilter(ending="void")) == []


def test_length_is_that_of_the_longest_episode(played):
    found = all_matches(played[0], MatchFilter(longest=9))
    assert found
    assert all(max(one["lengths"]) >= 9 for one in found)


def test_a_player_that_met_itself_is_its_own_opponent():
    entry = Entry(PlayerId("main"))
    ticket = Ticket(number=TicketNumber(1), purpose=Purpose.TRAIN, entries=(entry, entry), episodes=1)
    assert MatchFilter(player="main", against="main").wants(ticket)
    other = Ticket(number=TicketNumber(1), purpose=Purpose.TRAIN, entries=(entry, Entry(PlayerId("b"))), episodes=1)
    assert not MatchFilter(player="main", against="main").wants(other)


def test_one_match_is_found_with_and_without_its_row(played):
    one = search_matches(played[0], MatchFilter(), None, 1, (0, 1))["matches"][0]
    for seq in (one["seq"], None):
        assert find_match(played[0], one["ticket"], seq).ticket.number == one["ticket"]
    with pytest.raises(ViewError, match="ticket 999999 is not settled"):
        find_match(played[0], 999_999, None)


def test_sides_and_seed_come_from_the_state(state):
    assert sides_of(state) == {"sides": (0, 1), "seed": state.seed}


class FakeReplica:
    """Answers as a replica does, from a copy of a ledger, two rows at a time."""

    def __init__(self, ledger, refuses=False):
        self._ledger, self._refuses, self._asked = ledger, refuses, []

    def send(self, message, arrays=None):
        assert isinstance(message, Follow)
        self._asked.append(message)
        return True

    def receive(self, timeout):
        asked, self._asked = self._asked, []
        if self._refuses:
            return [(Refused(reason="too many"), {})]
        return [(self._page(one), {}) for one in asked]

    def _page(self, one):
        rows = self._ledger.read(one.since, 2) if one.since < self._ledger.head else []
        bodies = tuple(body for _, body in rows)
        return Page(term=1, request=one.request, since=one.since, events=bodies, head=self._ledger.head)


def test_rows_of_a_replica_are_those_of_the_ledger(played):
    with open_copy(played[0].ledger) as ledger:
        rows = PagedRows(FakeReplica(ledger))
        rows.open()
        assert rows.head == ledger.head
        assert rows.read(3, 5) == [(seq, bytes(body)) for seq, body in ledger.read(3, 5)]
        assert rows.read(ledger.head, 5) == []


def test_a_replica_that_refuses_says_why(played):
    with open_copy(played[0].ledger) as ledger, pytest.raises(ViewError, match="the replica refused: too many"):
        PagedRows(FakeReplica(ledger, refuses=True)).open()
