"""The collector: asks for tickets, plays them in its slots, sends segments to learners and results home.

    collector = Collector(...)
    while collector.step(timeout=0.05):
        pass

One step is one tick: every slot with an episode makes one move, with one forward pass for each player. With central
inference the slots take turns: a turn asks, and is played when the answer is there, while the others go on.
"""

import logging
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from collectors.acting import Acting, Recalled
from collectors.actors import Actors
from collectors.config import CollectorConfig
from collectors.envs.rows import Ends, Environment, Rows, together
from collectors.envs.slots import Index
from collectors.envs.turns import Turns
from collectors.held_tickets import HeldTickets
from collectors.inference_client import InferenceClient
from collectors.learner_client import LearnerClient
from collectors.recorder import Owner, Recorder
from collectors.seating import Playing, Seating, Start
from league.ids import PlayerId, derive_seed
from league.metrics import DROPPED_DECISIONS, ENV_STEPS, ENV_STEPS_PER_SECOND, EPISODES, SECONDS, SLOTS_BUSY, WAIT_SHARE
from league.store.snapshots import SnapshotError
from league.ticket import Ticket
from league.wire.messages import Ack, Orders
from league.wire.ports import Client

log = logging.getLogger("ludus.collector")

LISTEN = 0.01  # seconds between two looks at the sockets while there is something to play
FILL = 1 / 8  # of the slots are free before new episodes begin in them: few array calls for many episodes
PATIENCE = 4  # ticks between two times that episodes begin, for which a free slot waits at most


class Collector:
    """Plays tickets. Stateless beyond its own lifetime: losing one costs the tickets it held, for a lease."""

    def __init__(  # noqa: PLR0913  (a composition root passes them by name)
        self,
        *,
        name: str,
        session: str,
        env: Environment,
        coordinator: Client,
        links: LearnerClient,
        actors: Actors,
        run_seed: int,
        config: CollectorConfig,
        clock: Callable[[], float],
        journal: Callable[[Sequence[Ack], str], None] = lambda acks, head: None,
        asking: InferenceClient | None = None,
    ) -> None:
        self._env, self._coordinator = env, coordinator
        self._links, self._actors, self._config, self._clock = links, actors, config, clock
        self._asking, self._turns = asking, env if isinstance(env, Turns) else Turns([env])
        if asking is not None:
            self._env = self._turns
        self._stalled = 0  # turns in a row in which nothing could be done
        self._desk = HeldTickets(name, session, run_seed, env.slots, config, journal, env.spec)
        rng = np.random.default_rng(derive_seed(run_seed, "act", name, session))
        self._acting = Acting(env.spec, env.slots, actors, rng)
        self._no_actions = np.zeros((0, *env.spec.action.shape), env.spec.action.dtype)
        self._seating = Seating(env.spec, env.slots)
        self._recorder = Recorder(
            env.spec,
            env.slots,
            config.ticks,
            memory=lambda player: actors.policy_of(player).state_size,
            state=lambda player: actors.policy_of(player).sees_state,
        )
        self._listened = -1e9
        self._ended: list[Ends] = []  # episodes that are not closed yet
        self._over = np.zeros(env.slots, np.bool_)  # of one tick
        self._moved = 0  # ticks in which something was played,
        self._filled = 0  # and how many there were when episodes began last
        self._resting = False  # until learners want more
        self.ticks = 0
        self.env_steps = 0
        self.episodes = 0
        self.waited = 0.0
        self._reported = (clock(), 0, 0.0)  # time, env steps and wait at the last metrics

    # --- one tick --------------------------------------------------------------------------------------------

    def step(self, timeout: float = 0.05) -> bool:
        """Play one tick; return False when the coordinator said stop."""
        now = self._clock()
        self.ticks += 1
        if now - self._listened >= LISTEN:
            self._listen(0.0, now)
        if self._desk.stop:
            self._farewell(now)
            return False
        self._fill(now)
        self._speak(now)
        if self._resting:
            self._wait(timeout)
        elif self._asking is not None:
            self._take_turn(self._asking, now, timeout)
        elif len(rows := self._env.rows()):
            self._play(rows, *self._who(rows), now)
        else:
            self._settle(self._env.step(self._no_actions))  # faults of `start` are told here
            self._wait(timeout)
        self._links.send(self._recorder.take(now, self._config.flush_decisions, self._config.flush_seconds))
        return True

    def _wait(self, timeout: float) -> None:
        self._close_ended()  # nothing might end for long with which it could be closed
        before = self._clock()
        self._listen(timeout, before)
        self.waited += self._clock() - before

    def _who(self, rows: Rows) -> tuple[npt.NDArray[np.int16], Index]:
        """Return who acts in each row, and for which entry of its ticket."""
        who = self._seating.index(rows.slot, rows.agent)
        return self._seating.actor.take(who), self._seating.entry.take(who)

    def _play(
        self,
        rows: Rows,
        numbers: npt.NDArray[np.int16],
        entry: Index,
        now: float,
        recalled: Sequence[Recalled] = (),
    ) -> None:
        acted = self._acting.act(rows, numbers, recalled)
        for fault in acted.faults:
            self._spoil(int(rows.slot[fault.row]), int(entry[fault.row]), fault.reason, now)
        self._recorder.decide(self._seating.learnt(rows), entry, acted, self._actors.version(numbers), now)
        self._moved += 1
        self.env_steps += self._seating.note(rows, acted.actions)
        self._settle(self._env.step(acted.actions))

    def _spoil(self, slot: int, entry: int, reason: str, now: float) -> None:
        """Give back the ticket of a slot in which a player broke the rules. Its episode ends as it may, unrecorded."""
        playing = self._seating.playing[slot]
        if playing is not None:
            self._desk.fail(playing, f"player {playing.ticket.entries[entry].player}: {reason}", again=False)
        self._recorder.drop(slot)
        self._recorder.assign(np.array([slot]), [[None] * len(self._env.spec.seats)], [1], now)

    # --- taking turns, with central inference ----------------------------------------------------------------

    def _take_turn(self, asking: InferenceClient, now: float, timeout: float) -> None:
        """Play the turn whose answers are there, and ask for the next; wait only if no turn can go on."""
        asking.receive(0.0, now)
        moved = self._answered(asking, now)
        if not asking.waits(self._turns.turn):
            asked = self._ask(asking)
            asking.receive(0.0, now)
            moved = (not moved and self._answered(asking, now)) or asked or moved
        self._turns.turn = (self._turns.turn + 1) % len(self._turns)
        self._stalled = 0 if moved else self._stalled + 1
        if self._stalled < len(self._turns):
            return
        if any(asking.waits(turn) for turn in range(len(self._turns))):
            self._close_ended()
            before = self._clock()
            asking.receive(min(timeout, LISTEN), before)
            self.waited += self._clock() - before
        else:
            self._wait(timeout)

    def _ask(self, asking: InferenceClient) -> bool:
        rows = self._env.rows()
        if not len(rows):
            self._settle(self._env.step(self._no_actions))
            return False
        numbers, entry = self._who(rows)
        asking.ask(self._turns.turn, rows, numbers, entry, lambda: self._recorder.begins(rows, entry))
        return True

    def _answered(self, asking: InferenceClient, now: float) -> bool:
        """Play this turn if all its answers are there."""
        found = asking.answered(self._turns.turn)
        if found is None:
            return False
        question, recalled = found
        if question.forgotten:  # what a lane has recorded does not lead to what its agents remember now
            for slot in self._turns.slots_of(self._turns.turn):
                self._recorder.drop(slot)
        self._play(question.rows, question.numbers, question.entry, now, recalled)
        return True

    # --- after the tick --------------------------------------------------------------------------------------

    def _settle(self, ends: Ends) -> None:
        """Take note of what ended. Most episodes end as a whole, and wait for others to be closed with them."""
        if not len(ends.slot) + len(ends.over) + len(ends.faults):
            return
        if self._whole(ends) and ends.ranks is None and not ends.faults:
            self._ended.append(ends)
            return
        self._close_ended()
        self._close(ends)

    def _whole(self, ends: Ends) -> bool:
        """Return whether all agents of all slots that are over end now, and nobody else."""
        self._over[:] = False
        self._over[ends.over] = True
        theirs = int(np.count_nonzero(self._over[ends.slot]))
        return len(ends.slot) == theirs == len(ends.over) * len(self._env.spec.agents)

    def _close_ended(self) -> None:
        if self._ended:
            self._close(self._ended[0] if len(self._ended) == 1 else together(self._ended))
            self._ended = []

    def _close(self, ends: Ends) -> None:
        if len(ends.slot):
            who = self._seating.index(ends.slot, ends.agent)
            self._recorder.end(self._seating.learnt(ends), self._seating.entry.take(who))
        if len(ends.slot) or len(ends.over):  # an agent that dies early has an END row, too
            self.episodes += len(ends.over)
            for playing in self._seating.finish(ends):
                self._desk.finish(playing)
        for fault in ends.faults:
            self._recorder.drop(fault.slot)
            broken = self._seating.abandon(fault.slot)
            if broken is not None:
                self._desk.fail(broken, f"{fault.reason}. See: ludus check-env {self._env.spec.name}")

    # --- filling slots ---------------------------------------------------------------------------------------

    def _fill(self, now: float) -> None:
        """Let free slots take the next unstarted episodes of the oldest tickets that may be played now."""
        free = self._seating.room + sum(len(ends.over) for ends in self._ended)
        if not free or (free < FILL * self._env.slots and self._moved - self._filled < PATIENCE):
            return
        self._close_ended()
        if self._desk.full:
            return
        starved = self._starved()
        starts: list[Start] = []
        # First into slots that trained the same player, so that its lanes run on; then into any other.
        for anywhere in (False, True):
            for playing in self._desk.queue:
                room = self._seating.room if anywhere else self._seating.room_beside(playing.ticket.trains)
                if room and playing.unstarted and playing.ticket.trains not in starved:
                    actors = self._cast(playing, starts)
                    if actors is not None:
                        starts.append(self._seating.reserve(playing, actors, room))
                if not self._seating.room:
                    break
        if starts:
            self._begin(starts, now)
            self._filled = self._moved
            self._desk.queue = [playing for playing in self._desk.queue if playing.unstarted]
        if starved and self._seating.room:
            # Without this, credit might be used up by decisions in lanes that wait for the credit to be filled.
            self._recorder.rest(np.array(self._seating.free, np.int32), starved, now)

    def _begin(self, starts: Sequence[Start], now: float) -> None:
        seeds: list[int] = []
        for start in starts:
            seeds += start.playing.seeds[start.episodes.start : start.episodes.stop]
        slots = self._seating.begin(starts)
        owners, counts = (
            [self._owners(start.playing.ticket) for start in starts],
            [len(start.slots) for start in starts],
        )
        self._recorder.assign(slots, owners, counts, now)
        self._env.start(slots, np.array(seeds, np.int64))

    def _cast(self, playing: Playing, starts: Sequence[Start]) -> list[int] | None:
        """Return the actors of a ticket; None if one of them has not arrived. Those of `starts` keep their numbers."""
        found: list[int] = []
        for entry in playing.ticket.entries:
            try:
                number = self._actors.number(entry, lambda: self._in_use(starts).union(found))
            except (ValueError, OSError, SnapshotError) as error:
                self._desk.fail(playing, f"{error}", again=False)  # a damaged snapshot would be told with every ticket
                return None
            if number is None:
                return None
            found.append(number)
        return found

    def _in_use(self, starts: Sequence[Start]) -> set[int]:
        """Return the numbers with which slots play, or with which they are about to begin."""
        busy = [slot for slot, playing in enumerate(self._seating.playing) if playing is not None]
        return {*np.unique(self._seating.actor[busy]).tolist(), *(n for start in starts for n in start.actors)}

    def _owners(self, ticket: Ticket) -> list[Owner | None]:
        return [
            (entry.player, self._links.live[entry.player].host.incarnation)
            if entry.player == ticket.trains and entry.snapshot is None
            else None
            for entry in ticket.entries
        ]

    def _overdrawn(self) -> bool:
        """Return whether long episodes must rest: they go on without credit, and fill their lanes once, but not twice.

        So a learner always gets the batch for which it would wait, and nothing much older than credits allow.
        """
        unsent, lanes = self._recorder.unsent, self._env.slots * self._config.ticks * len(self._env.spec.agents)
        trained = self._desk.trained
        for player, live in self._links.live.items():
            if (
                player in trained
                and self._links.credit(player, unsent.get((player, live.host.incarnation), 0)) < -lanes
            ):
                return True
        return False

    def _starved(self) -> tuple[PlayerId, ...]:
        """Return the players for whom no training episode may start now."""
        unsent = self._recorder.unsent
        return tuple(
            player
            for player, live in self._links.live.items()
            if self._links.credit(player, unsent.get((player, live.host.incarnation), 0)) <= 0
        )

    # --- talking to the coordinator --------------------------------------------------------------------------

    def _listen(self, timeout: float, now: float) -> None:
        self._listened = now
        for message, _ in self._coordinator.receive(timeout):
            if isinstance(message, Orders) and self._desk.obey(message, now) and message.hosts is not None:
                for owner in self._links.follow(message.hosts):
                    self._actors.forget_live(owner[0])
                    self._recorder.forget(owner)
        for player, version, flat in self._links.receive(now):
            if flat is None:
                self._actors.update_remote(player)
                continue
            try:
                self._actors.update_live(player, version, flat)
            except ValueError as error:
                log.error("version %d of %s cannot be played: %s", version, player, error)
        self._links.pull(now, self._starved())
        self._resting = self._overdrawn()

    def _speak(self, now: float) -> None:
        """Report when there is something to say, or when a heartbeat is due; one report at a time."""
        if self._desk.due(now):
            metrics = self._metrics(now) if now - self._reported[0] >= self._config.heartbeat else {}
            self._coordinator.send(self._desk.report(now, self._desk.want(now), self.ticks, self._starved(), metrics))

    def _metrics(self, now: float) -> dict[str, float]:
        before, steps, waited = self._reported
        self._reported = (now, self.env_steps, self.waited)
        wall = max(now - before, 1e-9)
        return {
            SECONDS: wall,
            ENV_STEPS: float(self.env_steps),
            ENV_STEPS_PER_SECOND: (self.env_steps - steps) / wall,
            WAIT_SHARE: (self.waited - waited) / wall,
            EPISODES: float(self.episodes),
            SLOTS_BUSY: float(self._env.slots - self._seating.room),
            DROPPED_DECISIONS: float(self._links.dropped),
        }

    def _farewell(self, now: float) -> None:
        """Tell what is finished; what is not will be played by others."""
        self._close_ended()
        self._coordinator.send(self._desk.report(now, 0, self.ticks, self._starved(), self._metrics(now)))
