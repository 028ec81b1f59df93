"""Mean returns for people: with itself and with others in co-operation, by role where a game is not zero-sum.

    return_heads(state)                     # ("mean return", "over median")
    return_cells(state, row)                # ["17.1 ±0.2", "2.0 ±0.3"]; of several roles "tiger 17.1 ±0.2, deer -4 ±1"

Value over replacement is called "over median": what a player returns more than the pool's median player in its role.
"""

import math

from league.role_returns import MeanReturn
from league.standings import Standing
from league.state import LeagueState

UNKNOWN = "-"


def return_heads(state: LeagueState) -> tuple[str, ...]:
    """Return the heads of the columns with returns; none in a zero-sum league, where scores say who plays well."""
    if is_cooperative(state):
        return "with itself", "with others"
    return ("mean return", "over median") if state.keeps_returns else ()


def return_cells(state: LeagueState, row: Standing) -> list[str]:
    """Return the cells under `return_heads`."""
    if is_cooperative(state):
        return [returned_text(row.own), returned_text(row.cross)]
    if not state.keeps_returns:
        return []
    found = row.returns or {}
    means: dict[str, MeanReturn | None] = {role: one.mean for role, one in found.items()}
    return [_by_role(means), _by_role({role: one.over for role, one in found.items()})]


def is_cooperative(state: LeagueState) -> bool:
    """Whether all players are on one side in this league: then tables show returns instead of scores."""
    return state.env is not None and state.env.cooperative


def rounded(found: MeanReturn | None) -> str:
    """Return a mean with as many decimals as its interval is worth.

    >>> rounded(MeanReturn(mean=17.1234, low=16.9, high=17.35, games=40))
    '17.12 ±0.23'
    """
    if found is None:
        return UNKNOWN
    if found.high is None:
        return f"{found.mean:z.4g} ±?"
    reach = found.high - found.mean
    decimals = 2 if reach <= 0 else min(max(0, 1 - math.floor(math.log10(reach))), 6)
    return f"{found.mean:z.{decimals}f} ±{reach:.2g}"


def returned_text(found: MeanReturn | None) -> str:
    """Return a mean return with its interval in four digits."""
    if found is None:
        return UNKNOWN
    reach = "?" if found.high is None else f"{found.high - found.mean:.2g}"
    return f"{found.mean:z.4g} ±{reach}"


def _by_role(found: dict[str, MeanReturn | None]) -> str:
    known = {role: rounded(one) for role, one in found.items() if one is not None}
    if len(found) == 1:
        return next(iter(known.values()), UNKNOWN)
    return ", ".join(f"{role} {text}" for role, text in known.items()) or UNKNOWN
