"""What the names of agents say about teams: numbers at their ends, and beginnings that they share.

>>> base_name("wolf_0"), base_name("drone12"), base_name("red 2"), base_name("7")
('wolf', 'drone', 'red', 'player')
>>> shared_beginnings(["redmelee", "redranged", "bluemelee", "blueranged"])
{'redmelee': 'red', 'redranged': 'red', 'bluemelee': 'blue', 'blueranged': 'blue'}
"""

import re
from collections.abc import Sequence

ALIKE = frozenset(
    ("first", "second", "third", "fourth", "red", "blue", "green", "yellow", "black", "white", "left", "right")
)
"""Names that only distinguish agents: with equal spaces they are interchangeable."""

LEAST = 2  # letters of a beginning or an end that means something
BETWEEN = "_- ."


def base_name(agent: str) -> str:
    """Return the name of an agent without the number at its end; "player" for a number alone."""
    return re.sub(r"[_\-\s.]*\d+$", "", agent) or "player"


def shared_beginnings(names: Sequence[str]) -> dict[str, str]:
    """Return the team of each name if the names consist of a team and a task; nothing if they do not.

    They do if all begin with words like red and blue, fewer than there are names, or if every beginning goes with
    every end: `eastpawn`, `eastking`, `westpawn`, `westking`.
    """
    colours = {name: word for name in names for word in ALIKE if name.startswith(word) and name != word}
    if len(colours) == len(names) and 1 < len(set(colours.values())) < len(names):
        return {name: colours[name] for name in names}
    first = names[0] if names else ""
    for cut in range(len(first) - LEAST, LEAST - 1, -1):
        found = _every_end(names, first[:cut], first[cut:])
        if found:
            return found
    return {}


def _every_end(names: Sequence[str], beginning: str, end: str) -> dict[str, str]:
    """Return the beginning of each name if the names are all beginnings with all ends; nothing if not."""
    beginnings = [name.removesuffix(end) for name in names if name.endswith(end) and len(name) - len(end) >= LEAST]
    ends = [name.removeprefix(beginning) for name in names if name.startswith(beginning)]
    product = {b + e: b.strip(BETWEEN) for b in beginnings for e in ends}
    return product if min(len(beginnings), len(ends)) > 1 and sorted(product) == sorted(names) else {}


def task_name(name: str, team: str) -> str:
    """Return what is left of a name without its team.

    >>> task_name("red_melee", "red")
    'melee'
    """
    return name.removeprefix(team).strip(BETWEEN)
