"""Words that several commands print: options to repeat, and where a traceback is shown."""

from collections.abc import Iterable

TRACEBACK = "LUDUS_TRACEBACK"  # set to 1: an error is raised with its traceback


def allowing(allow: Iterable[str]) -> str:
    """Return the options that a command needs to name code of these packages.

    Programs (`env.python`) are left out: those of one's own runs are known.

    >>> "ludus resume first" + allowing(["mine"])
    'ludus resume first --allow mine'
    """
    return "".join(f" --allow {package}" for package in allow if "/" not in package)
