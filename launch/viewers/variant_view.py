"""The league as it would be if only one variant of its environment counted.

    state = state_in(run, "small")
    standings_table(state)                  # as of any league

It reads every event: results in other variants are left out, as if their tickets had been withdrawn.
"""

import difflib

import msgspec

from launch.viewers.view import ViewError, open_view, read_rules
from league.events import Event, LeagueFounded, ResultCounted, TicketWithdrawn
from league.state import LeagueState, apply
from league.store.run_directory import RunDirectory
from league.ticket import Ticket


class InVariant:
    """Observes a fold, and folds the events of one variant."""

    def __init__(self, state: LeagueState, variant: str) -> None:
        self.state, self._variant = state, variant

    def __call__(self, seq: int, event: Event, state: LeagueState) -> None:
        """Take in an event, or withdraw a ticket whose result does not count."""
        if isinstance(event, ResultCounted) and variant_name(state.open[event.ticket]) != self._variant:
            apply(self.state, TicketWithdrawn(ticket=event.ticket))
        else:
            apply(self.state, event)


class VariantFolds:
    """Folds a league once for each of its variants, the most frequent ones first, at most `most` of them.

    Call it with every event before that is applied to the state of the whole league.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._folds: dict[str, InVariant] = {}

    def __call__(self, seq: int, event: Event, state: LeagueState) -> None:
        """Take in an event."""
        if isinstance(event, LeagueFounded) and event.env is not None:
            often = sorted(event.env.variants, key=lambda variant: -variant.share)[: self._most]
            self._folds = {one.name: InVariant(LeagueState(state.config), one.name) for one in often}
        for fold in self._folds.values():
            fold(seq, event, state)

    @property
    def states(self) -> dict[str, LeagueState]:
        """The league by the games in each variant."""
        return {name: fold.state for name, fold in self._folds.items()}


def variant_name(ticket: Ticket) -> str | None:
    """Return the variant that a ticket plays; None if its environment has no variants."""
    return None if ticket.variant is msgspec.UNSET else ticket.variant.name


def state_of(run: RunDirectory, variant: str | None) -> LeagueState:
    """Return the state of a league, of all its games or of those in one variant."""
    return open_view(run).state if variant is None else state_in(run, variant)


def state_in(run: RunDirectory, variant: str) -> LeagueState:
    """Return the state of a league in which only the games of one variant count; raise ViewError if there is none."""
    found = InVariant(LeagueState(read_rules(run)), variant)
    env = open_view(run, found).state.env
    known = [] if env is None else [one.name for one in env.variants]
    if variant not in known:
        close = difflib.get_close_matches(variant, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}" if known else "it has none"
        raise ViewError(f"{run.name} has no variant {variant!r}; {hint}")
    return found.state
