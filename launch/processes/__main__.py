"""`python -m launch.processes`: one process of a league."""

import sys

from launch.processes.process import main
from launch.terminal.clean import cleaned, show_error

if __name__ == "__main__":
    sys.excepthook = show_error
    with cleaned():
        main()
