"""The tick player: one move in every slot with an episode, recorded, with its ends handed to the closer."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from collectors.acting import Acting, Recalled
from collectors.actors import Actors
from collectors.envs.rows import Environment, Rows
from collectors.envs.slots import Index
from collectors.episode_closer import EpisodeCloser
from collectors.held_tickets import HeldTickets
from collectors.recorder import Recorder
from collectors.seating import Seating


class TickPlayer:
    """Plays ticks.

    if not player.tick(now):
        ...                                 # no slot has an episode
    """

    def __init__(
        self,
        env: Environment,
        acting: Acting,
        actors: Actors,
        seating: Seating,
        recorder: Recorder,
        tickets: HeldTickets,
        closer: EpisodeCloser,
    ) -> None:
        self._env, self._acting, self._actors = env, acting, actors
        self._seating, self._recorder, self._tickets, self._closer = seating, recorder, tickets, closer
        self._no_actions = np.zeros((0, *env.spec.action.shape), env.spec.action.dtype)
        self.ticks = 0  # in which something was played
        self.env_steps = 0

    def tick(self, now: float) -> bool:
        """Play one tick with the actors of this process; return False if no agent had to act."""
        rows = self.rows()
        if rows is None:
            return False
        self.play(rows, *self.actors_of(rows), now)
        return True

    def rows(self) -> Rows | None:
        """Return the rows of the next tick; without any, step the environment for the faults that it reports then."""
        rows = self._env.rows()
        if len(rows):
            return rows
        self._closer.add(self._env.step(self._no_actions))
        return None

    def actors_of(self, rows: Rows) -> tuple[npt.NDArray[np.int16], Index]:
        """Return the number of the actor of each row, and the entry of the ticket that it plays for."""
        index = self._seating.index(rows.slot, rows.agent)
        return self._seating.actor.take(index), self._seating.entry.take(index)

    def play(
        self,
        rows: Rows,
        numbers: npt.NDArray[np.int16],
        entry: Index,
        now: float,
        recalled: Sequence[Recalled] = (),
    ) -> None:
        """Choose an action for each row, record the decisions, and step the environment."""
        acted = self._acting.act(rows, numbers, recalled)
        for fault in acted.faults:
            self._give_back(int(rows.slot[fault.row]), int(entry[fault.row]), fault.reason, now)
        training = self._seating.with_training_rewards(rows)
        self._recorder.decide(training, entry, acted, self._actors.version(numbers), now)
        self.ticks += 1
        self.env_steps += self._seating.add_moves(rows, acted.actions)
        self._closer.add(self._env.step(acted.actions))

    def _give_back(self, slot: int, entry: int, reason: str, now: float) -> None:
        """Give back the ticket of a slot in which a player broke the rules; the episode goes on unrecorded."""
        held = self._seating.tickets[slot]
        if held is not None:
            self._tickets.fail(held, f"player {held.ticket.entries[entry].player}: {reason}", again=False)
        self._recorder.drop(slot)
        self._recorder.assign(np.array([slot]), [[None] * len(self._env.spec.seats)], [1], now)
