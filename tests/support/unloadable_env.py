"""A game that can be loaded anywhere but in a collector: for tests that start real processes."""

import sys

from faulty_env import Faulty

if "collector" in sys.argv:
    raise ImportError("this game lacks a library on the collector's machine")


def env(**chances):
    return Faulty(**chances)
