"""The reference of all settings: tables made from the config's dataclasses, whose comments say what each field means.

python -m launch.config.reference docs/configuration.md      # writes them between the two marks of that page
"""

import inspect
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args

import msgspec

from launch.config.config import Config, algo_class
from launch.config.schema import children, type_name
from league.plugins import BUILTIN
from learners.algorithms.config import GroupConfig

BEGIN, END = "<!-- reference: begin -->", "<!-- reference: end -->"
TITLES = {"": "The run itself"}


def meanings(kind: type) -> dict[str, str]:
    """Return the comment behind each field of a dataclass.

    >>> meanings(Config)["seed"]
    'every other seed derives from it'
    """
    found: dict[str, str] = {}
    for one in reversed([base for base in kind.__mro__ if is_dataclass(base)]):
        for line in inspect.getsource(one).splitlines():
            code, _, comment = line.partition("  # ")
            name, colon, _ = code.strip().partition(": ")
            if colon and name in children(kind):
                found[name] = comment.strip() or found.get(name, "")
    return found


def tables(kind: type, key: str = "") -> Iterator[str]:
    """Yield the table of a dataclass, then those of the dataclasses inside it, and of algorithms in their place."""
    fields, comments, defaults = children(kind), meanings(kind), kind()
    plain = {name: inner for name, inner in fields.items() if not is_dataclass(inner) and (key or name != "algo")}
    if plain:
        yield f"### {TITLES.get(key) or f'`{key}`'}\n"
        yield f"{inspect.getdoc(kind)}\n"
        yield "| key | default | type | meaning |\n|---|---|---|---|"
        for name, inner in plain.items():
            row = [f"`{name}`", f"`{_text(getattr(defaults, name))}`", type_name(inner), comments.get(name, "")]
            yield f"| {' | '.join(map(_escaped, row))} |"
        yield ""
    for name, inner in fields.items():
        inside = next((one for one in get_args(inner) if is_dataclass(one)), None)
        if not key and name == "algo":
            for algorithm in BUILTIN["ludus.algorithms"]:
                yield from tables(algo_class(algorithm), f"algo={algorithm}")
            yield from tables(GroupConfig, "algo.groups.NAME")
        elif is_dataclass(inner) and isinstance(inner, type):
            yield from tables(inner, f"{key}.{name}".strip("."))
        elif isinstance(inside, type) and inside is not GroupConfig:  # every algorithm has it
            yield from tables(inside, f"{key}.{name}.NAME")


def _text(value: Any) -> str:
    return value if isinstance(value, str) and value else msgspec.json.encode(value).decode()


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("<", "&lt;")


def written(page: str) -> str:
    """Return the page with current tables between its marks."""
    before, found, rest = page.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        raise ValueError(f"the page has no marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n" + "\n".join(tables(Config)) + f"\n{END}{after}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written(path.read_text()))
