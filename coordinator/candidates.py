"""Checks of the candidates that learners report. Pure: the check of the file is an argument.

A bad candidate could be frozen, and would then stay in the pool for ever. So before a candidate becomes an event, its
player, its numbers and its file are checked.
"""

from collections.abc import Callable, Collection

from league.ids import PlayerId
from league.state import LeagueState
from league.wire.messages import Candidate

VERSIONS = 1 << 20  # from one candidate of an incarnation to the next, at most
DECISIONS = 10**10  # from one candidate of a player to the next, at most

Inspect = Callable[[Candidate], str | None]
"""Returns the problem of a candidate's file, "" if it has none; None if the file is missing, as it may be at first."""


def is_news(state: LeagueState, candidate: Candidate) -> bool:
    """Return whether a candidate is newer than the newest known one: learners repeat theirs with every report."""
    if state.incarnations.get(candidate.player) != candidate.incarnation:
        return False
    newest = state.candidate(candidate.player)
    return newest is None or candidate.version > newest.version


def problem(state: LeagueState, candidate: Candidate, assigned: Collection[PlayerId]) -> str:
    """Return why a candidate's player or numbers are impossible; "" if they are possible."""
    if candidate.player not in assigned:
        return "this learner does not train that player"
    newest, before = state.candidate(candidate.player), state.candidates.get(candidate.player)
    version, decisions = newest.version if newest else 0, before.decisions if before else 0
    if candidate.version > version + VERSIONS:
        return f"version {candidate.version} cannot follow version {version}"
    if not decisions <= candidate.decisions <= decisions + DECISIONS:
        return f"{candidate.decisions} decisions cannot follow {decisions}"
    return ""
