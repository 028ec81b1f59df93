"""Checks whether a result is possible for its ticket and environment; used by collectors and by the coordinator."""

from collections.abc import Sequence
from functools import lru_cache

from league.limits import ABSENT, LARGEST_RETURN, LONGEST_EPISODE
from league.spec import EnvSpec
from league.ticket import Episode, Ticket


def action_bytes(env: EnvSpec) -> int:
    """Return the size of one packed action in bytes.

    >>> from league.spec import Array, Seat
    >>> action_bytes(EnvSpec("toy", ("a",), (Seat((0,)),), Array((3,), "float32"), actions=300))
    2
    """
    if not env.single:
        return 4 * env.parts
    return 1 if env.actions <= 256 else 2 if env.actions <= 65536 else 4


@lru_cache(maxsize=4096)  # few ranks are distinct, and every episode has some
def possible(ranks: tuple[int, ...]) -> bool:
    """Return whether an episode can have these ranks: 0 is the best, and a rank is at most the number of better ones.

    Somebody took part; who did not has no place among the others.

    >>> possible((1, 0)), possible((0, 0, 2)), possible((0, 2)), possible((-7, 99))
    (True, True, False, False)
    >>> possible((1, -1, 0)), possible((-1, 1)), possible((-1, -1))
    (True, False, False)
    """
    present = sorted(rank for rank in ranks if rank != ABSENT)
    return bool(present) and all(0 <= rank <= place for place, rank in enumerate(present))


def problem(ticket: Ticket, episodes: Sequence[Episode], env: EnvSpec | None) -> str:
    """Return why the episodes of a ticket are impossible; "" if they are possible."""
    if len(episodes) != ticket.episodes:
        return f"a result with {len(episodes)} episodes instead of {ticket.episodes}"
    seats = len(ticket.entries)
    for episode in episodes:
        ranks, returns, length = episode.ranks, episode.returns, episode.length
        if len(ranks) != seats or len(returns) != seats:
            return f"a result whose episodes do not have {seats} entries"
        if not possible(ranks):
            return f"ranks {ranks}: 0 is the best, and no rank is larger than the number of better ones"
        for value in returns:
            if not -LARGEST_RETURN <= value <= LARGEST_RETURN:  # true for NaN, too
                return f"a return of {value:g}: at most {LARGEST_RETURN:g} is counted; scale the environment's rewards"
        if not 0 <= length <= LONGEST_EPISODE:
            return f"an episode of {length} moves; at most {LONGEST_EPISODE:,} are counted"
        if episode.actions and env is not None and not _fit(episode, env):
            return f"{len(episode.actions)} bytes of actions do not fit an episode of {length} moves"
    return ""


def _fit(episode: Episode, env: EnvSpec) -> bool:
    size, kept = action_bytes(env), len(episode.actions)
    return kept % size == 0 and kept <= size * episode.length * len(env.agents)
