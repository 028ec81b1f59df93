"""Who meets whom in a match: once for each pair of sides, never oneself."""

from hypothesis import given
from hypothesis import strategies as st

from league.meetings import by_pair, mates, meetings

MATCHES = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=6)


@given(MATCHES)
def test_two_players_meet_once_for_each_pair_of_their_sides(match):
    players, sides = zip(*match, strict=True)
    met = [(frozenset((players[i], players[j])), frozenset((sides[i], sides[j]))) for i, j in meetings(players, sides)]
    expected = {
        (players[i], players[j], sides[i], sides[j])
        for i in range(len(match))
        for j in range(len(match))
        if players[i] != players[j] and sides[i] != sides[j]
    }
    assert len(met) == len(expected) / 2, "each meeting has two views"


@given(MATCHES)
def test_grouped_by_pair_no_meeting_is_lost_and_the_first_player_is_the_first(match):
    players, sides = zip(*match, strict=True)
    met = meetings(players, sides)
    grouped = by_pair(players, met)
    assert sum(map(len, grouped.values())) == len(met)
    assert len({frozenset(pair) for pair in grouped}) == len(grouped)
    for (a, b), entries in grouped.items():
        assert {(players[i], players[j]) for i, j in entries} == {(a, b)}


def test_teams_that_sit_in_turn_meet_once():
    """Sides red, blue, red, blue: one game of two teams, as with red, red, blue, blue."""
    assert meetings(["a", "b", "a", "b"], [0, 1, 0, 1]) == [(0, 1)]


def test_mates_share_a_side():
    assert mates(["a", "b", "b"], [0, 0, 0]) == [("a", "b", 0), ("b", "a", 0)]
    assert mates(["a", "b"], [0, 1]) == []
    assert mates(["a", None], [0, 0]) == [("a", None, 0), (None, "a", 0)]
