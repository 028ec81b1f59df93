"""What an environment may do wrong."""


class BrokenError(Exception):
    """The environment broke its own rules in one slot: a wrong shape, a dead agent that came back."""


class UnfitSpaceError(Exception):
    """A space without a fixed size."""
