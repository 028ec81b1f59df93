"""The lineup of two players: which of them sits in which seat."""

from collections.abc import Callable
from typing import TypeVar

from league.spec import EnvSpec

Entrant = TypeVar("Entrant")


def pair_lineup(
    env: EnvSpec,
    place: int,
    first: Entrant,
    second: Entrant,
    fits: Callable[[Entrant, str], bool],
    alone: bool = False,
) -> list[Entrant | None]:
    """Return who of two sits in each seat; None where the roles of both forbid it.

    The first has the seat `place` and as much of its side as it can, the second everything else. Where all seats are
    on one side, the first has only its seat and those that the second cannot take; `alone`, it never has another.

    >>> from league.spec import Array, Seat
    >>> teams = tuple(Seat((i,), side=side) for i, side in enumerate(("red", "red", "blue", "blue")))
    >>> env = EnvSpec("toy", ("a", "b", "c", "d"), teams, Array((3,), "float32"), actions=2)
    >>> pair_lineup(env, 1, "first", "second", lambda player, role: True)
    ['first', 'first', 'second', 'second']
    """
    lineup: list[Entrant | None] = []
    together = env.cooperative and not alone
    for seat, (role, side) in enumerate(zip(env.roles, env.sides, strict=True)):
        order: tuple[Entrant, ...] = (second,)
        if together:
            order = (second, first)
        elif not alone and side == env.sides[place]:
            order = (first, second)
        lineup.append(first if seat == place else next((one for one in order if fits(one, role)), None))
    return lineup
