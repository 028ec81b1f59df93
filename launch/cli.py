"""`ludus`: the command line. It parses, runs the handler of one command, and turns errors into exit codes."""

import os
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Sequence

from launch.arguments import COMMANDS, build_parser, refuse_unknown_command, refuse_unrecognized
from launch.commands.command import find_run, print_note
from launch.shadowing import ShadowedError, check_packages
from launch.spawn.exit_code import INTERRUPTED, REFUSED
from launch.spawn.interpreter import allow_local_modules
from launch.terminal.clean import cleaned, show_error
from launch.terminal.wording import TRACEBACK

THREAD_SECONDS = 2.0  # that threads of an environment have to end after a command


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 2 and one line on stderr if the user can fix what is wrong."""
    sys.excepthook = show_error
    with cleaned():
        code = _dispatch(argv)
    if argv is None:  # this process has nothing else to do
        leave_threads(code)
    return code


def leave_threads(code: int, seconds: float = THREAD_SECONDS) -> None:
    """End this process if threads are left that do not end: environments start some, and python waits for all."""
    until = time.monotonic() + seconds
    for thread in threading.enumerate():
        if thread is threading.current_thread() or thread.daemon:
            continue
        thread.join(max(0.0, until - time.monotonic()))
        if thread.is_alive():
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _dispatch(argv: Sequence[str] | None) -> int:
    parser = build_parser()
    refuse_unknown_command(parser, sys.argv[1:] if argv is None else argv)
    arguments, rest = parser.parse_known_args(argv)
    # argparse takes overrides only in one block; users may put them before and after options.
    if any(text.startswith("-") for text in rest) or (rest and not hasattr(arguments, "pairs")):
        refuse_unrecognized(arguments, rest)
    if rest:
        arguments.pairs += rest
    allow_local_modules(getattr(arguments, "allow", ()))
    try:
        check_packages()
        if hasattr(arguments, "allow"):
            from launch.config.approvals import with_programs  # here: `check_packages` comes before our own imports

            arguments.allow = with_programs(arguments.allow)
        code = COMMANDS[arguments.command].handle(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader, e.g. `head`, has closed the pipe; python would complain when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ShadowedError as error:
        print_note(str(error))
        return REFUSED
    except Exception as error:
        known = "" if os.environ.get(TRACEBACK) else _line(error) if _fixable(error) else _alteration(arguments)
        if not known:
            raise
        print_note(known)
        return REFUSED


def _fixable(error: Exception) -> bool:
    """Whether the user can fix this, so that the message is enough; anything else is a bug, and is raised."""
    from league.errors import LudusError  # here, as a package of the user's may hide ours: `check_packages` says so

    return isinstance(error, LudusError | OSError)


def _alteration(arguments: Namespace) -> str:
    """Return what is wrong with the ledger of the command's run: that explains an error which nobody foresaw."""
    if not COMMANDS[arguments.command].takes_run:
        return ""
    from launch.viewers.diagnosis import alteration

    return alteration(find_run(arguments))


def _line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    ours = type(error).__module__ != "builtins"
    return str(error) if ours else f"{error} ({TRACEBACK}=1 shows where this comes from)"
