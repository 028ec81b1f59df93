"""The examples in the docstrings of all shipped modules run as they are written."""

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import collectors
import coordinator
import launch
import league
import learners

PACKAGES = (league, coordinator, collectors, learners, launch)
MODULES = ["ludus"] + [
    module.name
    for package in PACKAGES
    for module in walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")  # importing it would run a command
]


def test_there_are_examples_to_run():
    found = sum(len(test.examples) for name in MODULES for test in doctest.DocTestFinder().find(import_module(name)))
    assert found > 50


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    assert doctest.testmod(import_module(name)).failed == 0
