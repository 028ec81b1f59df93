"""A human's challenge: a rated game against one player. Pure: state in, events out.

A human is an ordinary player of the league. Its games are evaluation tickets of one episode, which nobody else can
play: if the human leaves, they are withdrawn instead of retried.
"""

import re

from league.errors import InputError
from league.events import Event, PlayerAdded, TicketIssued, TicketWithdrawn
from league.ids import TicketNumber
from league.lineup import pair_lineup
from league.matchmaking.pool import fits
from league.player import HUMAN, Player, Status
from league.state import LeagueState
from league.ticket import Entry, Purpose, Ticket
from league.wire.messages import Challenge

HUMANS = 256  # in one league, at most
HUMAN_GAME_SECONDS = 1800.0  # added to the lease of a human's game, as time to think


class ChallengeError(InputError):
    """A challenge that is refused; the message is the reason."""


def is_human(state: LeagueState, ticket: Ticket) -> bool:
    """Return whether this is the ticket of a human's game."""
    return any(state.population[entry.player].status == Status.HUMAN for entry in ticket.entries)


def take_up(state: LeagueState, challenge: Challenge) -> list[Event]:
    """Return the events that start a human's game; raise ChallengeError if it is refused.

    A new human joins the league. A human has one game at a time, so its open tickets are withdrawn.
    """
    assert state.env is not None
    human = _human(state, challenge)
    opponent = _opponent(state, challenge)
    entries = _entries(state, human, opponent)
    ticket = Ticket(number=TicketNumber(state.tickets + 1), purpose=Purpose.EVALUATE, entries=entries, episodes=1)
    before = [n for n, old in state.open.items() if any(entry.player == human.id for entry in old.entries)]
    joins = [] if human.id in state.population else [PlayerAdded(player=human)]
    return [*(TicketWithdrawn(ticket=number) for number in before), *joins, TicketIssued(ticket=ticket)]


def _human(state: LeagueState, challenge: Challenge) -> Player:
    assert state.env is not None
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,47}", challenge.name):
        raise ChallengeError(
            f"{challenge.name!r} is no name for a player: use up to 48 letters (a to z), digits, - and _ (--name)"
        )
    if challenge.role not in (None, *state.env.roles):
        raise ChallengeError(f"{state.env.name} has the roles {sorted(set(state.env.roles))}, not {challenge.role!r}")
    if challenge.name not in state.population:
        if sum(player.status == Status.HUMAN for player in state.population) >= HUMANS:
            raise ChallengeError(f"{HUMANS} humans have played in this league, and no more may join: use their names")
        return Player(id=challenge.name, kind=HUMAN, role=challenge.role)
    known = state.population[challenge.name]
    if known.status != Status.HUMAN:
        raise ChallengeError(f"{challenge.name!r} is a player of the league, and no human: choose another --name")
    if challenge.role not in (None, known.role):
        raise ChallengeError(
            f"{challenge.name!r} plays {known.role or 'all roles'}: choose another --name, or no --role"
        )
    return known


def _opponent(state: LeagueState, challenge: Challenge) -> Entry:
    if challenge.opponent not in state.population:
        raise ChallengeError(f"there is no player {challenge.opponent!r}")
    if state.population[challenge.opponent].status == Status.HUMAN:
        raise ChallengeError(f"{challenge.opponent!r} is a human, too, and not here")
    entry = state.contestant(challenge.opponent)
    if entry is None:
        raise ChallengeError(f"{challenge.opponent!r} has no candidate yet; try again in a while")
    return entry


def _entries(state: LeagueState, human: Player, opponent: Entry) -> tuple[Entry, ...]:
    """Return the entries of a game: the human in one seat, another one in each game, the opponent in all others."""
    assert state.env is not None
    roles, other, entry = state.env.roles, state.population[opponent.player], Entry(human.id)

    def can_take(one: Entry, role: str) -> bool:
        return fits(human if one == entry else other, frozenset({role}))

    places = [place for place, role in enumerate(roles) if can_take(entry, role)]
    lineups = [pair_lineup(state.env, place, entry, opponent, can_take, alone=True) for place in places]
    complete = [[one for one in lineup if one is not None] for lineup in lineups if None not in lineup]
    if not complete:
        raise ChallengeError(
            f"{other.id!r} plays {other.role or 'all roles'}, and cannot have all seats but one of {list(roles)}: "
            "choose another player, or another --role"
        )
    return tuple(complete[state.games[human.id] % len(complete)])
