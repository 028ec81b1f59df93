"""The lineup of a match between two players: which of them sits in which seat."""

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
    """Return the player in each seat; None where neither of the two can take the role.

    The first player takes the seat `place` and all seats of its side that fit it; the second takes the others. If all
    seats are on one side, the first takes only `place` and the seats that the second cannot take. With `alone`, the
    first takes only `place`.

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
