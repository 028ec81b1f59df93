"""The examples in the docstrings of collectors run as they are written."""

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import collectors

MODULES = [module.name for module in walk_packages(collectors.__path__, "collectors.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    result = doctest.testmod(import_module(name))
    assert result.failed == 0
