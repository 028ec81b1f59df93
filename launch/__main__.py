"""`python -m launch` is `ludus`."""

import os
import sys
from pathlib import Path


def leave_directory() -> None:
    """Take the current directory off the path, where `python -m` put it first, unless Ludus itself lies there."""
    if not sys.flags.safe_path:
        del sys.path[0]
    source = str(Path(__file__).parents[1])
    if source not in sys.path:  # not installed: what we start finds it in the same place, behind all that is installed
        sys.path.append(source)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), source]))


if __name__ == "__main__":
    leave_directory()
    from launch.cli import main

    sys.exit(main())
