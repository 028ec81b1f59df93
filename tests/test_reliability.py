"""docs/reliability.md names tests that exist and measure something, and shows what they measured."""

import ast
import json
from pathlib import Path

import pytest

from benchmarks.reliability import NONE, PAGE, ROW, filled, named_tests, read_figures

ROOT = Path(__file__).parents[1]
BEFORE = "| counted once | an index | [`test_a`](../tests/test_x.py) | 1 |\n| other | row |\n"


def printed(test, figure):
    return json.dumps({"test": test, "figure": figure})


def test_a_figure_goes_into_the_row_of_its_test_and_nowhere_else():
    after = filled(BEFORE, {"tests/test_x.py::test_a": "0 of 10 lost | 0 double"})
    assert after == BEFORE.replace("| 1 |", "| 0 of 10 lost / 0 double |")
    assert filled(BEFORE, {"tests/test_x.py::test_b": "2"}) == BEFORE


def test_no_figure_of_a_test_is_left_out():
    lines = [printed("a.py::t[1]", "first"), printed("a.py::t[1]", "second"), printed("a.py::t[2]", "other")]
    assert read_figures([*lines, lines[0]]) == {"a.py::t": "first; second; other"}


@pytest.mark.parametrize("test", named_tests(PAGE.read_text()))
def test_every_promise_names_a_test_that_measures_it(test):
    file, _, name = test.partition("::")
    functions = [node for node in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(node, ast.FunctionDef)]
    (found,) = [function for function in functions if function.name == name]
    assert "figure" in [argument.arg for argument in found.args.args], "it takes the fixture `figure`"


def test_every_row_of_the_page_has_a_figure():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and "](../tests/" in line]
    assert rows
    for line in rows:
        row = ROW.match(line)
        assert row is not None, f"not of the form that `make reliability` fills: {line}"
        assert row["figure"] != NONE, f"run `make reliability`: {row['name']} has no figure yet"
