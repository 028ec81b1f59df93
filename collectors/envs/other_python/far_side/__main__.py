"""Starts the far side as the package that it is."""

import importlib
import os
import sys

if __name__ == "__main__":
    if sys.version_info < (3, 8):  # noqa: UP036  (this file runs on any Python)
        sys.exit("this is Python {}.{}".format(*sys.version_info[:2]))
    sys.path[0] = os.path.dirname(sys.path[0])
    serving = importlib.import_module("far_side.serving")
    del sys.path[0]  # the neighbours of this package are no modules of the game
    serving.main(*map(int, sys.argv[1:]))
