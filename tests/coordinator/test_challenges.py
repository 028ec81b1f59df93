"""Answers to challenges: a ticket for the human's session, or a refusal; so many in a second."""

from coordinator.challenges import CHALLENGES
from coordinator.challenging import HUMAN_GAME_SECONDS
from league.wire.messages import Challenge, Orders, Refused, Role


def challenge(name="ada", opponent="random"):
    return Challenge(request=1, name=name, session="s", opponent=opponent)


def test_a_human_gets_a_ticket_that_waits_while_it_thinks(league):
    orders = league.handle(challenge(), Role.COLLECTOR)
    assert isinstance(orders, Orders)
    assert [entry.player for entry in orders.tickets[0].entries] == ["ada", "random"]
    league.now = HUMAN_GAME_SECONDS
    assert league.tick() == []
    league.now += league.coordinator.leases.seconds
    league.tick()
    assert league.state.open == {}, "withdrawn, not tried again"


def test_a_refusal_says_why_and_issues_nothing(league):
    refused = league.handle(challenge(opponent="nobody"))
    assert refused == Refused(reason="there is no player 'nobody'")
    assert league.state.tickets == 0


def test_challenges_are_bounded_in_a_second(league):
    answers = [league.handle(challenge()) for _ in range(10 * CHALLENGES)]
    refused = [answer for answer in answers if isinstance(answer, Refused)]
    assert refused
    assert refused[0].reason == f"more than {CHALLENGES} challenges a second: try again in a moment"
    league.now += 60.0
    assert isinstance(league.handle(challenge()), Orders)
