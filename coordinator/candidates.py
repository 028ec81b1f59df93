"""What a learner may report as a candidate. Pure: the look into the store is an argument.

A candidate that is wrong would be frozen, met by everybody and kept for ever, so it is checked before it becomes an
event: whose it is, how far it may have come, and its file.
"""

from collections.abc import Callable, Collection

from league.ids import PlayerId
from league.state import LeagueState
from league.wire.messages import Candidate

VERSIONS = 1 << 20  # from one candidate of an incarnation to the next, at most
DECISIONS = 10**10

Inspect = Callable[[Candidate], str | None]
"""Returns what is wrong with the file of a candidate, "" if nothing is; None if it is not there, which may change."""


def is_news(state: LeagueState, candidate: Candidate) -> bool:
    """Whether a candidate is later than the newest one: learners repeat theirs with every report."""
    if state.incarnations.get(candidate.player) != candidate.incarnation:
        return False
    newest = state.candidate(candidate.player)
    return newest is None or candidate.version > newest.version


def problem(state: LeagueState, candidate: Candidate, assigned: Collection[PlayerId]) -> str:
    """Return what is wrong with a candidate by its numbers; nothing if it may be true."""
    if candidate.player not in assigned:
        return "this learner does not train that player"
    newest, before = state.candidate(candidate.player), state.candidates.get(candidate.player)
    version, decisions = newest.version if newest else 0, before.decisions if before else 0
    if candidate.version > version + VERSIONS:
        return f"version {candidate.version} cannot follow version {version}"
    if candidate.decisions > decisions + DECISIONS:
        return f"{candidate.decisions} decisions cannot follow {decisions}"
    return ""
