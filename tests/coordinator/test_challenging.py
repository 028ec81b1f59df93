"""A human's challenge, as events: the human, its ticket, and the game it left behind."""

import pytest

from coordinator.challenging import ChallengeError, is_human, take_up
from league.events import PlayerAdded, TicketIssued, TicketWithdrawn
from league.ticket import Purpose
from league.wire.messages import Challenge


def challenge(name="ada", opponent="random", role=None):
    return Challenge(request=1, name=name, session="s", opponent=opponent, role=role)


def test_a_new_human_joins_and_gets_a_game_of_one_episode(league):
    joined, issued = take_up(league.state, challenge())
    assert isinstance(joined, PlayerAdded)
    assert (joined.player.id, joined.player.kind) == ("ada", "human")
    assert [entry.player for entry in issued.ticket.entries] == ["ada", "random"]
    assert (issued.ticket.purpose, issued.ticket.episodes, issued.ticket.number) == (Purpose.EVALUATE, 1, 1)


def test_a_game_that_was_left_behind_is_withdrawn(league):
    for event in take_up(league.state, challenge()):
        league.coordinator.emit(event)
    assert is_human(league.state, league.state.open[1])
    again = take_up(league.state, challenge(opponent="main"))
    assert [type(event) for event in again] == [TicketWithdrawn, TicketIssued]
    assert (again[0].ticket, again[1].ticket.number) == (1, 2)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"name": "a b"}, "is no name for a player"),
        ({"name": "main"}, "is a player of the league, and no human"),
        ({"opponent": "nobody"}, "there is no player 'nobody'"),
        ({"role": "king"}, r"has the roles \['player'\], not 'king'"),
    ],
)
def test_a_challenge_that_cannot_be_taken_up_says_why(league, wrong, why):
    with pytest.raises(ChallengeError, match=why):
        take_up(league.state, challenge(**wrong))


def test_a_player_without_a_candidate_cannot_be_challenged(bench):
    with pytest.raises(ChallengeError, match="'main' has no candidate yet"):
        take_up(bench().state, challenge(opponent="main"))
