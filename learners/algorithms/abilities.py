"""What each algorithm handles, as its config class declares: who can learn a game, and the table of them all.

python -m learners.algorithms.abilities docs/algorithms.md      # writes the table between the two marks of that page
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from league.plugins import BUILTIN, PluginError, names, resolve
from league.spec import ACTIONS

GROUP = "ludus.algorithms"
BEGIN, END = "<!-- abilities: begin -->", "<!-- abilities: end -->"
COLUMNS = {  # class variables of AlgoConfig with a column of their own
    "remembers": "memory",
    "teams": "a seat of several agents",
    "takes_turns": "that act in turns",
    "replays": "replay",
    "central_critic": "central critic",
    "normalises": "`policy.normalise`",
    "torch_networks": "networks in torch",
    "ranks": "several ranks",
}


def able_to(ability: str, wanted: object = True) -> list[str]:
    """Return the names of built-in and registered algorithms with an ability, which is a class variable of AlgoConfig.

    >>> able_to("actions", "mixtures")[:2]
    ['a2c', 'appo']
    """
    return [name for name in names(GROUP) if _can(_config_class(name), ability, wanted)]


def _config_class(name: str) -> Any:
    try:
        return resolve(GROUP, name)
    except PluginError:  # an installed package that does not load is nobody's advice
        return None


def _can(kind: Any, ability: str, wanted: object) -> bool:
    found = getattr(kind, ability, False)
    return wanted in found if isinstance(found, tuple) else bool(found)


def table() -> Iterator[str]:
    """Yield the lines of the table of all built-in algorithms."""
    heads = ["algorithm", *ACTIONS, *COLUMNS.values()]
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for name in sorted(BUILTIN[GROUP]):
        kind = resolve(GROUP, name)
        cells = [_cell(action in kind.actions) for action in ACTIONS]
        cells += [_cell(getattr(kind, ability)) for ability in COLUMNS]
        yield f"| `{name}` | {' | '.join(cells)} |"


def _cell(ability: bool | str) -> str:
    if isinstance(ability, str):
        return ability or "no"
    return "yes" if ability else "no"


def written(page: str) -> str:
    """Return the page with the current table between its marks."""
    before, found, rest = page.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        raise ValueError(f"the page has no marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n" + "\n".join(table()) + f"\n\n{END}{after}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written(path.read_text()))
