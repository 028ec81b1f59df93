"""The last candidates that the final evaluation waits for. In memory only; time is an argument.

When training ends, the answer to a learner's next report says so. The learner then writes and reports a last candidate
of each of its players. Until then there is nothing to evaluate: games of an older candidate would not count.
"""

from collections.abc import Collection, Mapping

from league.ids import PlayerId

SILENCE = 30.0  # seconds without a report after which a learner is no longer awaited: a restart takes less
LONGEST = 300.0  # seconds of waiting in total, at most: a learner may never be able to write its candidate


class LastCandidates:
    """The last candidates of a league, from the end of its training on.

    last.report("learner-0", progress.finished, now)      # with every report
    if not last.awaited(assigned, now): ...               # the final evaluation may begin
    """

    def __init__(self) -> None:
        self._since: float | None = None  # time of the first call of `awaited`
        self._heard: dict[str, float] = {}  # time of each learner's last report
        self._finished: dict[str, frozenset[PlayerId]] = {}
        self._complete = False

    def report(self, learner: str, finished: Collection[PlayerId], now: float) -> None:
        """Record a learner's report, and the players whose last candidates it has reported."""
        self._heard[learner], self._finished[learner] = now, frozenset(finished)

    def awaited(self, assigned: Mapping[str, Collection[PlayerId]], now: float) -> list[PlayerId]:
        """Return the assigned players whose last candidate may still arrive.

        Once there are none, the result stays empty: a learner that restarts does not delay the final evaluation.
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
        """Reset the waiting: the league trains."""
        self._since, self._complete = None, False
