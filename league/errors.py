"""The base of all errors that a user can fix: the message says what is wrong and how to fix it.

The command line prints a `LudusError` as one line; any other exception is a bug, and keeps its traceback.
"""


class LudusError(Exception):
    """Something outside the code is wrong: a config, a command, a file, an environment, a machine."""


class InputError(LudusError, ValueError):
    """An input of the user that cannot work. Also a ValueError, as for any bad argument in Python."""
