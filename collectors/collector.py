"""The collector: plays tickets in its slots, sends segments to learners and results to the coordinator.

    collector = Collector(...)
    while collector.step(timeout=0.05):
        pass

One step is one tick: every slot with an episode makes one move, with one forward pass for each kind of network. With
central inference the slots take turns: while one turn waits for its networks' outputs, the others play.
"""

import logging
from collections.abc import Callable, Sequence

import numpy as np

from collectors.acting import Acting
from collectors.actors import Actors
from collectors.config import CollectorConfig
from collectors.envs.rows import Environment
from collectors.envs.turns import TurnTakingEnvironment
from collectors.episode_closer import EpisodeCloser
from collectors.held_tickets import HeldTickets
from collectors.inference_client import InferenceClient
from collectors.learner_client import LearnerClient
from collectors.perturber import Perturber
from collectors.recorder import Recorder
from collectors.seating import Seating
from collectors.slot_filler import SlotFiller
from collectors.tick_player import TickPlayer
from collectors.training_credit import TrainingCredit
from collectors.turn_player import TurnPlayer
from league.errors import message_of
from league.ids import derive_seed
from league.metrics import (
    DROPPED_DECISIONS,
    ENV_STEPS,
    ENV_STEPS_PER_SECOND,
    EPISODES,
    LONGEST_EPISODE,
    SECONDS,
    SLOTS_BUSY,
    WAIT_SHARE,
)
from league.per_player import PerPlayer
from league.wire.messages import Ack, Orders
from league.wire.ports import Client

log = logging.getLogger("ludus.collector")

NOBODY_EVOLVES: PerPlayer[float] = PerPlayer(0.0)
RECEIVE_SECONDS = 0.01  # between two looks at the sockets while there is something to play


class Collector:
    """Plays tickets. Stateless beyond its own lifetime: losing one costs the tickets it held, for a lease."""

    def __init__(  # noqa: PLR0913  (a composition root passes them by name)
        self,
        *,
        name: str,
        session: str,
        env: Environment,
        coordinator: Client,
        learner_client: LearnerClient,
        actors: Actors,
        run_seed: int,
        config: CollectorConfig,
        clock: Callable[[], float],
        journal: Callable[[Sequence[Ack], str], None] = lambda acks, head: None,
        inference_client: InferenceClient | None = None,
        sigmas: PerPlayer[float] = NOBODY_EVOLVES,
        host: str = "",
    ) -> None:
        if inference_client is not None and not isinstance(env, TurnTakingEnvironment):
            env = TurnTakingEnvironment([env])
        self._coordinator, self._learner_client, self._inference_client = coordinator, learner_client, inference_client
        self._env, self._slots, self._actors, self._config, self._clock = env, env.slots, actors, config, clock
        self._tickets = HeldTickets(name, session, run_seed, env.slots, config, journal, env.spec, host)
        self._seating = Seating(env.spec, env.slots)
        self._perturber = Perturber(env.spec, env.slots, actors, sigmas) if any(sigmas) else None
        self._recorder = Recorder(
            env.spec,
            env.slots,
            config.ticks,
            memory=lambda player: actors.policy_of(player).state_size,
            state=lambda player: actors.policy_of(player).sees_state,
            perturber=self._perturber,
        )
        rng = np.random.default_rng(derive_seed(run_seed, "act", name, session))
        acting = Acting(env.spec, env.slots, actors, rng)
        seating, recorder, tickets = self._seating, self._recorder, self._tickets
        lane_decisions = env.slots * config.ticks * len(env.spec.agents)
        self._credit = TrainingCredit(learner_client, recorder, tickets, lane_decisions)
        self._closer = EpisodeCloser(env.spec, env.slots, seating, recorder, tickets)
        self._player = TickPlayer(env, acting, actors, seating, recorder, tickets, self._closer)
        self._filler = SlotFiller(env, seating, recorder, tickets, actors, self._credit, self._closer)
        self._turns: TurnPlayer | None = None
        if inference_client is not None and isinstance(env, TurnTakingEnvironment):
            self._turns = TurnPlayer(env, inference_client, self._player, recorder)
        self._received_at = -1e9
        self._resting = False  # until learners grant more credit
        self.progress = 0  # steps in which the environment did not stand still: what renews leases
        self.waited = 0.0  # seconds
        self._reported = (clock(), 0, 0.0)  # time, env steps and wait at the last metrics

    @property
    def env_steps(self) -> int:
        """How many environment steps were played."""
        return self._player.env_steps

    def step(self, timeout: float = 0.05) -> bool:
        """Play one tick; return False when the coordinator ordered a stop."""
        now = self._clock()
        if now - self._received_at >= RECEIVE_SECONDS:
            self._receive(0.0, now)
        if self._tickets.stop:
            self._report_last(now)
            return False
        self._filler.fill(self._player.ticks, now)
        self._report(now)
        self.progress += self._play(now, timeout)
        flush = self._config.flush_decisions, self._config.flush_seconds
        self._learner_client.send(self._recorder.take(now, *flush))
        if self._perturber is not None:
            self._learner_client.send(self._perturber.take(now, *flush))
        return True

    def _play(self, now: float, timeout: float) -> bool:
        """Play one tick, or one turn; wait if nothing can be played. Return False if the environment stands still.

        It stands still if episodes are under way, none goes on, and there is nobody else to wait for: no learner that
        must grant credit, no inference process.
        """
        if self._resting:
            self._wait(timeout)
            return True
        if self._turns is None:
            played, awaits_outputs = self._player.tick(now), False
        else:
            self._turns.play(now)
            played, awaits_outputs = not self._turns.stalled, self._turns.awaits_outputs
        if not played:
            self._wait(timeout, for_outputs=awaits_outputs)
        return played or awaits_outputs or self._seating.room == self._slots

    def _wait(self, timeout: float, for_outputs: bool = False) -> None:
        """Wait for a message: from an inference process, or from the coordinator."""
        self._closer.close_waiting()  # the next episode to close them with may be far away
        before = self._clock()
        if for_outputs and self._inference_client is not None:
            self._inference_client.receive(min(timeout, RECEIVE_SECONDS), before)
        else:
            self._receive(timeout, before)
        self.waited += self._clock() - before

    def close(self) -> None:
        """Close the environment, with what it has started."""
        try:
            self._env.close()
        except Exception as error:  # of foreign code, at the end: nobody depends on it
            log.warning("the environment could not be closed: %s: %s", type(error).__name__, message_of(error))

    # --- messages --------------------------------------------------------------------------------------------

    def _receive(self, timeout: float, now: float) -> None:
        """Take in orders of the coordinator, and credit and weights of learners."""
        self._received_at = now
        for message, _ in self._coordinator.receive(timeout):
            if isinstance(message, Orders) and self._tickets.obey(message, now) and message.hosts is not None:
                for owner in self._learner_client.follow(message.hosts):
                    self._actors.forget_live(owner[0])
                    self._recorder.forget(owner)
        for player, version, flat in self._learner_client.receive(now):
            if flat is None:
                self._actors.update_remote(player)
                continue
            try:
                self._actors.update_live(player, version, flat)
                if self._perturber is not None:
                    self._perturber.update(player, version, flat)
            except ValueError as error:
                log.error("version %d of %s cannot be played: %s", version, player, error)
        self._learner_client.pull(now, self._credit.starved())
        self._resting = self._credit.is_overdrawn()

    def _report(self, now: float) -> None:
        """Report if there is something to report, or if a heartbeat is due; one report at a time."""
        if self._tickets.due(now):
            metrics = self._metrics(now) if now - self._reported[0] >= self._config.heartbeat else {}
            want, starved = self._tickets.want(now), self._credit.starved()
            self._coordinator.send(self._tickets.report(now, want, self.progress, starved, metrics))

    def _report_last(self, now: float) -> None:
        """Report what is finished and ask for nothing; others will play the rest."""
        self._closer.close_waiting()
        starved, metrics = self._credit.starved(), self._metrics(now)
        self._coordinator.send(self._tickets.report(now, 0, self.progress, starved, metrics))

    def _metrics(self, now: float) -> dict[str, float]:
        before, steps, waited = self._reported
        self._reported = (now, self.env_steps, self.waited)
        wall = max(now - before, 1e-9)
        return {
            SECONDS: wall,
            ENV_STEPS: float(self.env_steps),
            ENV_STEPS_PER_SECOND: (self.env_steps - steps) / wall,
            WAIT_SHARE: (self.waited - waited) / wall,
            EPISODES: float(self._closer.episodes),
            SLOTS_BUSY: float(self._slots - self._seating.room),
            LONGEST_EPISODE: float(self._seating.longest),
            DROPPED_DECISIONS: float(self._learner_client.dropped),
        }
