"""The examples in the docstrings of all shipped modules run as they are written."""

import doctest
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import collectors
import coordinator
import launch
import league
import learners

ROOT = Path(league.__file__).parents[1]
PACKAGES = (league, coordinator, collectors, learners, launch)
MODULES = ["ludus"] + [
    module.name
    for package in PACKAGES
    for module in walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")  # importing it would run a command
]


def source(name):
    path = ROOT.joinpath(*name.split("."))
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text()


def test_every_module_can_be_imported():
    for name in MODULES:
        import_module(name)


@pytest.mark.parametrize("name", [name for name in MODULES if ">>> " in source(name)])
def test_examples_in_docstrings_run(name):
    results = doctest.testmod(import_module(name))
    assert results.attempted
    assert not results.failed
