"""Words that several commands print: options to repeat, and where a traceback is shown."""

from collections.abc import Iterable

TRACEBACK = "LUDUS_TRACEBACK"  # set to 1: an error is raised with its traceback


def allowing(allow: Iterable[str]) -> str:
    """Return the options that a command needs to name code of these packages.

    >>> "ludus resume first" + allowing(["mine"])
    'ludus resume first --allow mine'
    """
    return "".join(f" --allow {package}" for package in allow)
