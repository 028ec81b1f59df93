"""The figures of docs/reliability.md, from what the tests printed.

    LUDUS_FIGURES=figures.jsonl pytest $(python -m benchmarks.reliability --tests)
    python -m benchmarks.reliability figures.jsonl          # writes the column "figure"

A row of the table is `| promise | mechanism | [`test_name`](../tests/file.py) | figure |`. The page is the only list of
promises; this module owns its last column and nothing else.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
ROW = re.compile(
    r"^\| (?P<what>.+ \| .+) \| \[`(?P<name>\w+)`\]\(\.\./(?P<file>tests/[\w/]+\.py)\) \| (?P<figure>.*) \|$"
)
NONE = "-"  # the figure of a test that was not run yet


def named_tests(page: str) -> list[str]:
    """Return the ids of the tests that the page names, in its order."""
    rows = map(ROW.match, page.splitlines())
    return list(dict.fromkeys(f"{row['file']}::{row['name']}" for row in rows if row))


def read_figures(lines: Iterable[str]) -> dict[str, str]:
    """Return all figures of each test in one run, those of its cases together."""
    found: dict[str, dict[str, None]] = {}
    for line in lines:
        row = json.loads(line)
        found.setdefault(row["test"].partition("[")[0], {})[row["figure"]] = None
    return {test: "; ".join(texts) for test, texts in found.items()}


def filled(page: str, figures: Mapping[str, str]) -> str:
    """Return the page with these figures; rows of other tests keep what they have."""

    def fill(line: str) -> str:
        row = ROW.match(line)
        if row is None:
            return line
        figure = figures.get(f"{row['file']}::{row['name']}", row["figure"] or NONE).replace("|", "/")
        return f"| {row['what']} | [`{row['name']}`](../{row['file']}) | {figure} |"

    return "\n".join(map(fill, page.splitlines())) + "\n"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description=__doc__)
    parser.add_argument("figures", nargs="?", type=Path, help="the file that LUDUS_FIGURES named")
    parser.add_argument("--tests", action="store_true", help="print the ids of the tests that the page names")
    arguments = parser.parse_args(argv)
    page = PAGE.read_text()
    if arguments.tests:
        sys.stdout.write("\n".join(named_tests(page)) + "\n")
    elif arguments.figures is None:
        parser.error("give the file of figures, or --tests")
    else:
        PAGE.write_text(filled(page, read_figures(arguments.figures.read_text().splitlines())))


if __name__ == "__main__":
    main()
