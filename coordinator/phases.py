"""The phases of a league: training until the budget is spent, the final evaluation, and the end."""

from coordinator.challenging import is_human
from coordinator.directory import Directory
from coordinator.last_candidates import LastCandidates
from coordinator.open_tickets import OpenTickets
from coordinator.running_league import RunningLeague
from coordinator.workers import Workers
from league.events import PhaseBegan
from league.state import FINAL, OVER, TRAINING
from league.ticket import Purpose


class Phases:
    """Begins the next phase of a league when it is due. The final evaluation waits for the candidates of `last`."""

    def __init__(
        self, league: RunningLeague, tickets: OpenTickets, directory: Directory, workers: Workers, last: LastCandidates
    ) -> None:
        self._league, self._state, self._final = league, league.state, league.scheduler.final
        self._tickets, self._directory, self._workers, self._last = tickets, directory, workers, last
        self._final_since: float | None = None  # time of play when the final evaluation began in this term
        self._final.waiting = league.state.phase == FINAL

    def tick(self, now: float, elapsed: float) -> None:
        """Begin the next phase if it is due. `elapsed` is the time of play in all terms."""
        state = self._state
        if state.phase == TRAINING:
            why = state.config.budget.spent(elapsed, state.env_steps) or self._hopeless(now)
            if state.config.tournament.enabled:
                why = why or "nobody learns in a tournament"
            if why:
                self.finish(why, now)
        self._await_last(now)
        self._time_final(elapsed)
        if state.phase == FINAL and (self._final_is_done() or self._hopeless(now)):
            for number, ticket in list(state.open.items()):
                if is_human(state, ticket):
                    self._tickets.withdraw(number)
            self._league.emit(PhaseBegan(phase=OVER, why=state.why))

    def finish(self, why: str, now: float) -> None:
        """Withdraw open training tickets and begin the final evaluation, or end a hopeless league."""
        for number, ticket in list(self._state.open.items()):
            if ticket.purpose == Purpose.TRAIN:
                self._tickets.withdraw(number)
        self._league.emit(PhaseBegan(phase=OVER if self._hopeless(now) else FINAL, why=why))

    def reopen(self) -> None:
        """Return to training, after the league was resumed with budget left."""
        self._league.emit(PhaseBegan(phase=TRAINING, why="resumed"))

    def spent(self, elapsed: float) -> float:
        """Return the spent share of the budget: the largest of its limits; 0 without a budget."""
        budget = self._state.config.budget
        shares = [
            0.0 if budget.minutes is None else elapsed / (budget.minutes * 60),
            0.0 if budget.env_steps is None else self._state.env_steps / budget.env_steps,
        ]
        return min(1.0, max(shares))

    def _hopeless(self, now: float) -> str:
        return self._tickets.hopeless(self._workers.collectors(), now)

    def _final_is_done(self) -> bool:
        """Return whether all games of the final evaluation are finished; those of humans do not count."""
        others = any(not is_human(self._state, ticket) for ticket in self._state.open.values())
        return not others and self._final.done()

    def _await_last(self, now: float) -> None:
        """Hold back the tickets of the final evaluation until the last candidates have arrived."""
        if self._state.phase != FINAL:
            self._last.forget()
            self._final.waiting = False
            return
        assigned = {learner: self._directory.assigned(learner) for learner in self._directory.learners}
        self._final.waiting = bool(self._last.awaited(assigned, now))

    def _time_final(self, elapsed: float) -> None:
        """Stop handing out games when the final evaluation exceeds its time limit, which restarts in each term."""
        if self._state.phase != FINAL or self._final.waiting:
            self._final_since, self._final.closing = None, False
            return
        self._final_since = elapsed if self._final_since is None else self._final_since
        allowed = self._state.config.final_seconds()
        lasted = elapsed - self._final_since
        self._final.closing = allowed is not None and lasted >= allowed
        if allowed is not None and lasted >= allowed + self._tickets.leases.seconds:
            for number in [n for n, ticket in self._state.open.items() if not is_human(self._state, ticket)]:
                self._tickets.withdraw(number)  # its holder makes progress, but may take any time
