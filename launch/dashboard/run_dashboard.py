"""The dashboard as a process of a league (`dashboard=true`): it serves this run until the league ends."""

import logging
import sys

from launch.dashboard.dashboard_runs import Runs
from launch.dashboard.serving import DashboardError, ServerPlace, serve
from launch.processes.context import ProcessContext

log = logging.getLogger("ludus.process")


def run_dashboard(context: ProcessContext) -> int:
    """Serve until SIGTERM; its address reaches the user through the process that started this one."""
    runs = Runs(only=context.run, allow=tuple(context.allow))
    try:
        serve(runs, ServerPlace(), _print_line, lambda: context.stop.asked)
    except DashboardError as error:
        log.error("%s", error)
        return 1
    return 0


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
