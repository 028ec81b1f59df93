"""Whose last candidate the final evaluation waits for. In memory only; time is an argument.

When training ends, learners learn it from the answer to their next report, write a last candidate of each player and
report it. Until then there is nothing to evaluate: games of an older candidate would not count.
"""

from collections.abc import Collection, Mapping

from league.ids import PlayerId

SILENCE = 30.0  # seconds without a report after which a learner is not waited for: starting it again takes less
LONGEST = 300.0  # seconds for which last candidates are waited for at all: a learner may never be able to write its own


class LastCandidates:
    """The last candidates of a league, from the end of its training on.

    last.report("learner-0", progress.finished, now)      # with every report
    if not last.awaited(assigned, now): ...             # the final evaluation may begin
    """

    def __init__(self) -> None:
        self._since: float | None = None  # the first call of `awaited`
        self._heard: dict[str, float] = {}
        self._finished: dict[str, frozenset[PlayerId]] = {}
        self._complete = False

    def report(self, learner: str, finished: Collection[PlayerId], now: float) -> None:
        """Note that a learner reported, and whose last candidates it has reported."""
        self._heard[learner], self._finished[learner] = now, frozenset(finished)

    def awaited(self, assigned: Mapping[str, Collection[PlayerId]], now: float) -> list[PlayerId]:
        """Return the players, of those that each learner trains, whose last candidate may still come.

        Once there are none, nobody is awaited any more: a learner that is started again holds nothing up.
        """
        self._since = since = now if self._since is None else self._since
        if self._complete or now - since >= LONGEST:
            return []
        found = [
            player
            for learner, players in assigned.items()
            if now - self._heard.get(learner, since) < SILENCE
            for player in players
            if player not in self._finished.get(learner, ())
        ]
        self._complete = not found
        return found

    def forget(self) -> None:
        """Begin again: the league trains."""
        self._since, self._complete = None, False
