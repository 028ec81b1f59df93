"""The base of all errors that a user can fix: the message says what is wrong and how to fix it.

The command line prints a `LudusError` as one line; any other exception is a bug, and keeps its traceback.
"""


class LudusError(Exception):
    """Something outside the code is wrong: a config, a command, a file, an environment, a machine."""


class InputError(LudusError, ValueError):
    """An input of the user that cannot work. Also a ValueError, as for any bad argument in Python."""


LONGEST_MESSAGE = 2000  # characters


def message_of(error: BaseException) -> str:
    r"""Return what an error says, on one line that can be printed and sent; it never raises.

    Errors of foreign code may say anything: the name of a file with bytes that are no text, pages, nothing at all.

    >>> message_of(ValueError("no such file:\n\udcff.png \x1b[31m"))
    'no such file: \\udcff.png \\x1b[31m'
    """
    try:
        line = " ".join(str(error)[:LONGEST_MESSAGE].split())
        return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in line)[:LONGEST_MESSAGE]
    except (Exception, SystemExit) as broken:
        return f"its message cannot be read: its __str__ raised {type(broken).__name__}"
