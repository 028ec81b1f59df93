"""The episode closer: records how episodes ended, frees their slots and finishes their tickets.

closer.add(env.step(actions))
closer.close_waiting()                  # before slots are filled, and before a wait
"""

import numpy as np

from collectors.envs.rows import Ends, together
from collectors.held_tickets import HeldTickets
from collectors.recorder import Recorder
from collectors.seating import Seating
from league.spec import EnvSpec


class EpisodeCloser:
    """Closes episodes. Most end as a whole and wait, so that few array calls close many of them."""

    def __init__(self, spec: EnvSpec, slots: int, seating: Seating, recorder: Recorder, tickets: HeldTickets) -> None:
        self._spec, self._seating, self._recorder, self._tickets = spec, seating, recorder, tickets
        self._waiting: list[Ends] = []
        self._over = np.zeros(slots, np.bool_)  # scratch of `is_whole`
        self.episodes = 0  # closed so far

    @property
    def waiting(self) -> int:
        """How many episodes are over and not closed yet."""
        return sum(len(ends.over) for ends in self._waiting)

    def add(self, ends: Ends) -> None:
        """Take the END rows of one tick; close them now unless they are plain ends of whole episodes."""
        if not len(ends.slot) + len(ends.over) + len(ends.faults) + len(ends.late):
            return
        if self.is_whole(ends) and ends.ranks is None and not ends.faults and not ends.late:
            self._waiting.append(ends)
            return
        self.close_waiting()
        self._close(ends)

    def is_whole(self, ends: Ends) -> bool:
        """Return whether all agents of all slots that are over end now, and no other agent does."""
        self._over[:] = False
        self._over[ends.over] = True
        of_over = int(np.count_nonzero(self._over[ends.slot]))
        return len(ends.slot) == of_over == len(ends.over) * len(self._spec.agents)

    def close_waiting(self) -> None:
        """Close the episodes that wait."""
        if self._waiting:
            self._close(self._waiting[0] if len(self._waiting) == 1 else together(self._waiting))
            self._waiting = []

    def _close(self, ends: Ends) -> None:
        if len(ends.slot):
            index = self._seating.index(ends.slot, ends.agent)
            self._recorder.end(self._seating.with_training_rewards(ends), self._seating.entry.take(index))
        for late in ends.late:
            entry = int(self._seating.entry[late.slot, late.agent])
            self._recorder.pay_late(late.slot, entry, late.agent, late.reward)
        if len(ends.slot) or len(ends.over) or ends.late:  # an agent that dies early has an END row, too
            self.episodes += len(ends.over)
            self._recorder.finish(ends.over)
            for held in self._seating.finish(ends):
                self._tickets.finish(held)
        for fault in ends.faults:
            self._recorder.drop(fault.slot)
            broken = self._seating.abandon(fault.slot)
            if broken is not None:
                self._tickets.fail(broken, f"{fault.reason}. See: ludus check-env {self._spec.name}")
