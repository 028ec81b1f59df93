"""Meetings: who plays against whom, and who with whom, in a match of several seats and sides."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TypeVar

from league.ids import PlayerId

Seated = TypeVar("Seated", PlayerId, PlayerId | None)


def meetings(players: Sequence[PlayerId], sides: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs of entries of a match whose ranks make a game: of different players on different sides.

    Two players meet once for each pair of sides, however many seats they have there: a team of two equals that
    beats another one has won one game, not four.

    >>> meetings([PlayerId(p) for p in "aabb"], [0, 0, 1, 1]), meetings([PlayerId(p) for p in "abca"], [0, 1, 2, 3])
    ([(0, 2)], [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)])
    """
    if len(players) == 2:  # nearly all matches
        return [(0, 1)] if sides[0] != sides[1] and players[0] != players[1] else []
    found: dict[frozenset[tuple[int, PlayerId]], tuple[int, int]] = {}
    for i, j in combinations(range(len(players)), 2):
        if sides[i] != sides[j] and players[i] != players[j]:
            found.setdefault(frozenset(((sides[i], players[i]), (sides[j], players[j]))), (i, j))
    return list(found.values())


def mates(players: Sequence[Seated], sides: Sequence[int]) -> list[tuple[Seated, Seated, int]]:
    """Return who plays with whom on which side, in both orders; with itself only if it has the whole side.

    Who has a seat against others, and nobody beside it, has no mates.

    >>> a, b = PlayerId("a"), PlayerId("b")
    >>> mates([a, b, b], [0, 0, 0]), mates([a, a], [0, 0]), mates([a], [0]), mates([a, b], [0, 1])
    ([('a', 'b', 0), ('b', 'a', 0)], [('a', 'a', 0)], [('a', 'a', 0)], [])
    """
    found = []
    for side in dict.fromkeys(sides):
        team = [player for player, where in zip(players, sides, strict=True) if where == side]
        different = list(dict.fromkeys(team))
        found += [(a, b, side) for a in different for b in different if a != b]
        if len(different) == 1 and (len(team) > 1 or len(team) == len(players)):
            found.append((team[0], team[0], side))
    return found


def by_pair(
    players: Sequence[PlayerId], met: Iterable[tuple[int, int]]
) -> dict[tuple[PlayerId, PlayerId], list[tuple[int, int]]]:
    """Return the meetings of a match by the two players that meet: it may be in more than two seats.

    >>> by_pair([PlayerId(p) for p in "aba"], [(0, 1), (1, 2)])
    {('a', 'b'): [(0, 1), (2, 1)]}
    """
    pairs: dict[tuple[PlayerId, PlayerId], list[tuple[int, int]]] = {}
    for i, j in met:
        a, b = players[i], players[j]
        if (b, a) in pairs:
            pairs[b, a].append((j, i))
        else:
            pairs.setdefault((a, b), []).append((i, j))
    return pairs
