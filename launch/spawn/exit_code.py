"""Exit codes: those of our commands, and a description of any."""

FAILED, REFUSED, INTERRUPTED = 1, 2, 130


def describe_exit(code: int) -> str:
    """Describe an exit code.

    >>> describe_exit(-9), describe_exit(1)
    ('signal 9', 'exit code 1')
    """
    return f"signal {-code}" if code < 0 else f"exit code {code}"
