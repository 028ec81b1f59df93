"""Training credit: for whom episodes may start, and whether those under way must rest."""

from collectors.held_tickets import HeldTickets
from collectors.learner_client import LearnerClient
from collectors.perturber import Owner
from collectors.recorder import Recorder
from league.ids import PlayerId


class TrainingCredit:
    """The credit that learners grant, less what is recorded and not sent yet.

    `lane_decisions` is how many decisions all lanes of the collector hold together.
    """

    def __init__(
        self, learner_client: LearnerClient, recorder: Recorder, tickets: HeldTickets, lane_decisions: int
    ) -> None:
        self._learner_client, self._recorder, self._tickets = learner_client, recorder, tickets
        self._lane_decisions = lane_decisions

    def starved(self) -> tuple[PlayerId, ...]:
        """Return the players for whom no training episode may start now."""
        return tuple(player for player, credit in self._credits() if credit <= 0)

    def is_overdrawn(self) -> bool:
        """Return whether long episodes must rest: without credit they go on and fill their lanes once, but not twice.

        So a learner always gets the batch that it waits for, and nothing much older than its credit allows.
        """
        trained = self._tickets.trained
        return any(player in trained and credit < -self._lane_decisions for player, credit in self._credits())

    def owner(self, player: PlayerId) -> Owner:
        """Return a live player with its current incarnation."""
        return player, self._learner_client.live[player].host.incarnation

    def _credits(self) -> list[tuple[PlayerId, int]]:
        client, unsent = self._learner_client, self._recorder.unsent
        return [
            (player, client.credit(player, unsent.get((player, live.host.incarnation), 0)))
            for player, live in client.live.items()
        ]
