"""The collector: asks for tickets, plays them in its slots, sends segments to learners and results home.

    collector = Collector(...)
    while collector.step(timeout=0.05):
        pass

One step is one tick: every slot with an episode makes one move, with one forward pass for each player. With central
inference the slots take turns: a turn asks, and is played when the answer is there, while the others go on.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collectors.acting import Acting, Recalled
from collectors.actors import Actors
from collectors.asking import Asking
from collectors.envs.rows import Ends, Environment, Rows, together
from collectors.envs.slots import Index
from collectors.envs.turns import Turns
from collectors.links import Links
from collectors.recorder import Owner, Recorder
from collectors.seating import Playing, Seating, Start, episodes_to_record
from league.ids import PlayerId, TicketNumber, derive_seed
from league.store.snapshots import SnapshotError
from league.ticket import Fault, Result, Ticket, episode_seeds
from league.wire.messages import Ack, Held, Orders, Report
from league.wire.ports import Client

log = logging.getLogger("ludus.collector")

INFERENCES = ("local", "central")
LEAST = {"slots": 1, "ahead": 1, "ticks": 1, "flush_decisions": 1, "flush_seconds": 0, "cache_megabytes": 0}
TURNS = 2  # halves of the slots: one plays while the other's answers are under way


@dataclass(kw_only=True, slots=True)
class CollectorConfig:
    """How a collector plays."""

    slots: int = 256  # episodes played at once in one collector
    ahead: int = 1  # episodes to hold beyond those that play, times slots; 2 keeps the slots of very fast games full
    ticks: int = 32  # decisions in a segment
    flush_decisions: int = 1000  # send segments of a player when there are this many decisions,
    flush_seconds: float = 0.2  # or when the oldest has waited this long
    heartbeat: float = 1.0  # seconds between reports when there is nothing else to say
    record_share: float = 0.01  # of training tickets whose first episode keeps its actions, for replay
    cache_megabytes: int = 256  # weights of frozen players kept in memory
    hang_seconds: float = 60.0  # a tick that takes longer is a hang: the process ends and is started again
    inference: str = "local"  # where networks of live players act: "local" in collectors; "central" beside the learner

    def __post_init__(self) -> None:
        """Refuse what could never play or never report, and a kind of inference that does not exist."""
        for name, least in LEAST.items():
            if getattr(self, name) < least:
                raise ValueError(f"collector.{name} must be at least {least}, got {getattr(self, name)}")
        for name in ("heartbeat", "hang_seconds"):
            if not getattr(self, name) > 0:
                raise ValueError(f"collector.{name} must be positive, got {getattr(self, name)}")
        if not 0 <= self.record_share <= 1:
            raise ValueError(f"collector.record_share must lie between 0 and 1, got {self.record_share}")
        if self.inference not in INFERENCES:
            raise ValueError(f"collector.inference: unknown {self.inference!r}; choose one of {', '.join(INFERENCES)}")
        if self.inference == "central" and self.slots < TURNS:
            raise ValueError(f"collector.slots: with central inference the slots take turns, so {TURNS} at least")


@dataclass(slots=True)
class _Request:
    """The report that awaits its orders."""

    number: int = 0
    at: float = -1e9
    answered: bool = True
    wanted: int = 0
    rest_until: float = -1e9  # the coordinator had nothing for us: do not ask at once


MAX_UNACKED = 1000
REPORT_BYTES = 1 << 18  # of results in one report: messages to the coordinator are bounded
RETRY = 2.0  # seconds after which an unanswered report is sent again
REST = 0.02  # seconds before asking again when there was nothing to play
LISTEN = 0.01  # seconds between two looks at the sockets while there is something to play
FILL = 1 / 8  # of the slots are free before new episodes begin in them: few array calls for many episodes
PATIENCE = 4  # ticks between two times that episodes begin, for which a free slot waits at most
PACE = 0.02  # seconds between two reports at least: a fast game finishes episodes at every tick


class Collector:
    """Plays tickets. Stateless beyond its own lifetime: losing one costs the tickets it held, for a lease."""

    def __init__(  # noqa: PLR0913  (a composition root passes them by name)
        self,
        *,
        name: str,
        session: str,
        env: Environment,
        coordinator: Client,
        links: Links,
        actors: Actors,
        run_seed: int,
        config: CollectorConfig,
        clock: Callable[[], float],
        journal: Callable[[Sequence[Ack]], None] = lambda acks: None,
        asking: Asking | None = None,
    ) -> None:
        self._name, self._session, self._env, self._coordinator = name, session, env, coordinator
        self._links, self._actors, self._config, self._clock = links, actors, config, clock
        self._journal = journal
        self._asking, self._turns = asking, env if isinstance(env, Turns) else Turns([env])
        if asking is not None:
            self._env = self._turns
        self._stalled = 0  # turns in a row in which nothing could be done
        self._run_seed = run_seed
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
        self._held: dict[tuple[TicketNumber, int], Playing] = {}
        self._queue: list[Playing] = []  # those of them with episodes that no slot has taken yet, oldest first
        self._results: dict[tuple[TicketNumber, int], Result] = {}
        self._faults: dict[tuple[TicketNumber, int], Fault] = {}
        self._logged: set[str] = set()  # why tickets could not be cast
        self._request = _Request()
        self._term = 0
        self._directory = 0
        self._listened = -1e9
        self._ended: list[Ends] = []  # episodes that are not closed yet
        self._moved = 0  # ticks in which something was played,
        self._filled = 0  # and how many there were when episodes began last
        self._resting = False  # until learners want more
        self._stop = False
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
        if self._stop:
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
        self._recorder.decide(self._seating.learnt(rows), entry, acted, self._actors.version(numbers), now)
        self._moved += 1
        self.env_steps += self._seating.note(rows, acted.actions)
        self._settle(self._env.step(acted.actions))

    # --- taking turns, with central inference ----------------------------------------------------------------

    def _take_turn(self, asking: Asking, now: float, timeout: float) -> None:
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
            before = self._clock()
            asking.receive(min(timeout, LISTEN), before)
            self.waited += self._clock() - before
        else:
            self._wait(timeout)

    def _ask(self, asking: Asking) -> bool:
        rows = self._env.rows()
        if not len(rows):
            self._settle(self._env.step(self._no_actions))
            return False
        numbers, entry = self._who(rows)
        asking.ask(self._turns.turn, rows, numbers, entry, lambda: self._recorder.begins(rows, entry))
        return True

    def _answered(self, asking: Asking, now: float) -> bool:
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
        whole = len(ends.slot) == len(ends.over) * len(self._env.spec.agents)
        if whole and ends.ranks is None and not ends.faults:
            if len(ends.over):
                self._ended.append(ends)
            return
        self._close_ended()
        self._close(ends)

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
                result = playing.result()
                if result is not None:
                    self._held.pop(playing.key, None)
                    self._results[playing.key] = result
        for fault in ends.faults:
            self._recorder.drop(fault.slot)
            broken = self._seating.abandon(fault.slot)
            if broken is not None:
                self._fail(broken, fault.reason)

    def _fail(self, playing: Playing, reason: str, again: bool = True) -> None:
        """Give a ticket back: nobody wins it. Unless `again`, the same reason is logged once."""
        if not playing.revoked:
            playing.revoked = True
            self._held.pop(playing.key, None)
            number, attempt = playing.key
            self._faults[playing.key] = Fault(ticket=number, attempt=attempt, reason=reason[:500])
            if again or reason not in self._logged:
                log.warning("ticket %d, attempt %d: %s", number, attempt, reason)
            if not again:
                self._logged.add(reason)

    # --- filling slots ---------------------------------------------------------------------------------------

    def _fill(self, now: float) -> None:
        """Let free slots take the next unstarted episodes of the oldest tickets that may be played now."""
        free = self._seating.room + sum(len(ends.over) for ends in self._ended)
        if not free or (free < FILL * self._env.slots and self._moved - self._filled < PATIENCE):
            return
        self._close_ended()
        if len(self._results) > MAX_UNACKED:
            return
        starved = self._starved()
        starts: list[Start] = []
        # First into slots that trained the same player, so that its lanes run on; then into any other.
        for anywhere in (False, True):
            for playing in self._queue:
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
            self._queue = [playing for playing in self._queue if playing.unstarted]
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
                self._fail(playing, f"{error}", again=False)  # a damaged snapshot would be told with every ticket
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
        trained = {playing.ticket.trains for playing in self._held.values()}
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
            if isinstance(message, Orders) and message.term >= self._term:
                self._obey(message, now)
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

    def _obey(self, orders: Orders, now: float) -> None:
        self._term = orders.term
        self._stop = self._stop or orders.stop
        if orders.request == self._request.number:
            self._request.answered = True
            if len(orders.tickets) < self._request.wanted:
                self._request.rest_until = now + REST
        settled = [ack for ack in orders.acks if self._results.pop((ack.ticket, ack.attempt), None) is not None]
        if settled:
            self._journal(settled)
        for ack in orders.acks:
            self._faults.pop((ack.ticket, ack.attempt), None)
        for number, attempt in orders.revoked:
            playing = self._held.pop((number, attempt), None)
            if playing is not None:
                playing.revoked = True
        if orders.hosts is not None:
            self._directory = orders.directory
            for owner in self._links.follow(orders.hosts):
                self._actors.forget_live(owner[0])
                self._recorder.forget(owner)
        for ticket in orders.tickets:
            self._hold(ticket)

    def _hold(self, ticket: Ticket) -> None:
        seeds = episode_seeds(self._run_seed, ticket.number, ticket.attempt, range(ticket.episodes))
        playing = Playing(ticket, episodes_to_record(ticket, self._config.record_share), seeds)
        if playing.key not in self._held:
            self._held[playing.key] = playing
            self._queue.append(playing)

    def _speak(self, now: float) -> None:
        """Report when there is something to say, or when a heartbeat is due; one report at a time."""
        request = self._request
        if now - request.at < (PACE if request.answered else RETRY):
            return
        want = self._want(now)
        due = now - request.at >= self._config.heartbeat
        if due or want or (self._results or self._faults) or not request.answered:
            self._report(want, now, with_metrics=now - self._reported[0] >= self._config.heartbeat)

    def _want(self, now: float) -> int:
        if now < self._request.rest_until or len(self._results) > MAX_UNACKED:
            return 0
        unstarted = sum(playing.unstarted for playing in self._queue)
        ahead = self._config.ahead * self._env.slots
        if unstarted >= ahead:
            return 0
        each = max((p.ticket.episodes for p in self._held.values()), default=8)
        return min(64, -(-(ahead - unstarted) // each))

    def _report(self, want: int, now: float, with_metrics: bool) -> None:
        request = self._request
        request.number += 1
        request.at, request.answered, request.wanted = now, False, want
        self._coordinator.send(
            Report(
                request=request.number,
                name=self._name,
                session=self._session,
                want=want,
                held=tuple(self._progress(playing) for playing in self._held.values()),
                results=self._oldest_results(),
                faults=tuple(self._faults.values()),
                starved=self._starved(),
                directory=self._directory,
                metrics=self._metrics(now) if with_metrics else {},
            )
        )

    def _oldest_results(self) -> tuple[Result, ...]:
        """Return the results to send now: after a long silence not all of them fit into one report."""
        chosen: list[Result] = []
        size = 0
        for result in self._results.values():
            size += sum(20 + 12 * len(e.ranks) + len(e.actions) for e in result.episodes)  # as msgpack, at most
            if chosen and size > REPORT_BYTES:
                break
            chosen.append(result)
        return tuple(chosen)

    def _progress(self, playing: Playing) -> Held:
        number, attempt = playing.key
        return Held(number, attempt, self.ticks)

    def _metrics(self, now: float) -> dict[str, float]:
        before, steps, waited = self._reported
        self._reported = (now, self.env_steps, self.waited)
        wall = max(now - before, 1e-9)
        return {
            "env_steps": float(self.env_steps),
            "env_steps_per_second": (self.env_steps - steps) / wall,
            "wait_share": (self.waited - waited) / wall,
            "episodes": float(self.episodes),
            "slots_busy": float(self._env.slots - self._seating.room),
            "dropped_decisions": float(self._links.dropped),
        }

    def _farewell(self, now: float) -> None:
        """Tell what is finished; what is not will be played by others."""
        self._close_ended()
        self._report(0, now, with_metrics=True)
