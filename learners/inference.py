"""The inference process: it runs the networks of a learner's players for collectors that do not have them.

    inference = Inference(session=..., learner=..., server=..., spec=..., policies=..., clock=...)
    while not stop:
        inference.step(timeout=0.02)

It gets weights from its learner. Collectors send rows and get the outputs of the network; all rows that wait, of
whichever collectors, share one forward pass. The memories of agents stay here between their decisions.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from league.ids import PlayerId, derive_seed
from league.metrics import ROWS_PER_BATCH, ROWS_PER_SECOND, WAIT_SHARE
from league.per_player import PerPlayer
from league.policies.actions import bounded
from league.policies.layout import FloatArray, PolicyConfig, team_size
from league.policies.network_actor import Bystanders, Places, make_actor
from league.spec import EnvSpec
from league.wire.codec import WireError
from league.wire.messages import Answer, Ask, Refused, Role, Watch, Weights
from league.wire.ports import Arrays, Client, Incoming, Server

log = logging.getLogger("ludus.inference")

WATCH = 1.0  # seconds between two messages to the learner
TURNS = 8  # of a collector at most
SESSIONS = 4096  # that are remembered; beyond, the longest silent ones are dropped
MEMORY_BYTES = 1 << 28  # for one session


class AskError(ValueError):
    """A request that contradicts the environment, the policy or itself: the collector's fault."""


class InferenceNetwork(Protocol):
    """A network that computes outputs: a NetworkActor, in numpy or torch, or on a GPU."""

    log_std: FloatArray
    exploration: FloatArray

    def explore(
        self,
        observation: npt.NDArray[Any],
        rng: np.random.Generator,
        place: Places | None,
        memory: FloatArray | None,
        beside: Bystanders | None,
    ) -> FloatArray:
        """Return logits and means of each row, with noise if the network is noisy; `memory` is updated in place."""


MakeNetwork = Callable[[PolicyConfig, EnvSpec, FloatArray], InferenceNetwork]


@dataclass(slots=True)
class _CollectorMemory:
    """The memories of the agents of one collector, and the last answers to it."""

    name: str
    memory: FloatArray
    answers: dict[tuple[int, PlayerId], tuple[Answer, Arrays]] = field(default_factory=dict)

    def reach(self, rows: int) -> None:
        """Make room for this many agents."""
        missing = rows - len(self.memory)
        if missing > 0:
            self.memory = np.pad(self.memory, ((0, missing), (0, 0)))


@dataclass(frozen=True, slots=True)
class _Asked:
    peer: bytes
    ask: Ask
    arrays: Arrays


@dataclass(slots=True, kw_only=True)
class Inference:
    """Answers requests for all players of one learner."""

    session: str
    learner: Client
    server: Server
    spec: EnvSpec
    policies: PerPlayer[PolicyConfig]
    clock: Callable[[], float]
    network: MakeNetwork = make_actor

    rows: int = field(default=0, init=False)
    batches: int = field(default=0, init=False)
    waited: float = field(default=0.0, init=False)
    _networks: dict[PlayerId, tuple[int, int, InferenceNetwork]] = field(default_factory=dict, init=False)
    _held: dict[tuple[str, int, PlayerId], _Asked] = field(default_factory=dict, init=False)  # not answered yet
    _sessions: OrderedDict[str, _CollectorMemory] = field(default_factory=OrderedDict, init=False)
    _memories: int = field(default=0, init=False)
    _watched: tuple[float, int, int, float] = field(default=(float("-inf"), 0, 0, 0.0), init=False)
    _rng: np.random.Generator = field(init=False)  # of noisy networks

    def __post_init__(self) -> None:
        """Seed the noise."""
        self._rng = np.random.default_rng(derive_seed(0, "inference", self.session))

    def step(self, timeout: float) -> None:
        """Answer requests, waiting up to `timeout` seconds for one."""
        self._watch()
        before = self.clock()
        arrived = self.server.receive(timeout)
        self.waited += self.clock() - before
        self._receive_weights()
        for incoming in arrived:
            self._take_in(incoming)
        self._answer()

    # --- weights ---------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        now = self.clock()
        if now - self._watched[0] < WATCH:
            return
        known = {player: (incarnation, version) for player, (incarnation, version, _) in self._networks.items()}
        metrics = self._metrics(now)
        self.learner.send(Watch(session=self.session, address=self.server.address, known=known, metrics=metrics))
        self._watched = (now, self.rows, self.batches, self.waited)

    def _metrics(self, now: float) -> dict[str, float]:
        before, rows, batches, waited = self._watched
        elapsed = now - before
        if not 0 < elapsed < float("inf"):
            return {}
        return {
            ROWS_PER_SECOND: (self.rows - rows) / elapsed,
            ROWS_PER_BATCH: (self.rows - rows) / max(1, self.batches - batches),
            WAIT_SHARE: (self.waited - waited) / elapsed,
        }

    def _receive_weights(self) -> None:
        for message, arrays in self.learner.receive(0):
            if isinstance(message, Refused):
                log.warning("the learner refused what was sent: %s", message.reason)
            elif isinstance(message, Weights) and "flat" in arrays:
                incarnation, version, _ = self._networks.get(message.player, (-1, -1, None))
                if (message.incarnation, message.version) > (incarnation, version):
                    self._load(message, arrays["flat"])

    def _load(self, message: Weights, flat: FloatArray) -> None:
        try:
            network = self.network(self.policies[message.player], self.spec, flat)
        except ValueError as error:
            log.error("version %d of %s cannot be played: %s", message.version, message.player, error)
            return
        self._networks[message.player] = (message.incarnation, message.version, network)

    # --- questions -------------------------------------------------------------------------------------------

    def _take_in(self, incoming: Incoming) -> None:
        ask = incoming.message
        if not isinstance(ask, Ask) or incoming.role not in (None, Role.COLLECTOR):
            self.server.send(
                incoming.peer, Refused(reason="an inference process takes questions, from collectors only")
            )
            return
        try:
            self._check(ask, incoming.arrays)
        except AskError as error:
            self.server.send(incoming.peer, Refused(reason=f"a question about {ask.player[:100]!r}: {error}"))
            return
        session = self._session(ask.session)
        last = session.answers.get((ask.turn, ask.player))
        if last is not None and last[0].request == ask.request:
            self.server.send(incoming.peer, *last)  # it was lost, or is late: the memory must not move twice
        else:
            self._held[ask.session, ask.turn, ask.player] = _Asked(incoming.peer, ask, incoming.arrays)

    def _check(self, ask: Ask, arrays: Arrays) -> None:
        policy, seen = self.policies[ask.player], self.spec.observation
        rows = len(arrays["observation"]) if "observation" in arrays and arrays["observation"].ndim else 0
        expected = {"observation": ((rows, *seen.shape), seen.dtype)}
        if policy.agent_id or not policy.ours:
            expected["place"] = ((rows,), "int32")
        if not policy.ours:
            expected |= {"mask": ((rows, self.spec.actions), "bool"), "team": ((rows, team_size(self.spec)), "bool")}
        if policy.recurrent:
            expected |= {"who": ((rows,), "int32"), "first": ((rows,), "bool"), "recall": ((rows,), "bool")}
        found = {name: (array.shape, str(array.dtype)) for name, array in arrays.items()}
        if found != expected or not rows or not 0 <= ask.turn < TURNS:
            raise AskError(f"turn {ask.turn}, arrays {found}; expected are {expected}")
        if "place" in expected and not _within(arrays["place"], team_size(self.spec)):
            raise AskError("a place is outside of its seat")
        if policy.recurrent and not _within(arrays["who"], MEMORY_BYTES // (4 * self._width)):
            raise AskError("the number of an agent is out of range")

    @property
    def _width(self) -> int:
        """The size of the largest memory of any player."""
        return max(policy.state_size for policy in self.policies)

    def _session(self, name: str) -> _CollectorMemory:
        session = self._sessions.get(name)
        if session is None:
            self._memories += 1
            memory = np.zeros((0, self._width), np.float32)
            session = self._sessions[name] = _CollectorMemory(f"{self.session}/{self._memories}", memory)
            if len(self._sessions) > SESSIONS:
                self._sessions.popitem(last=False)
        self._sessions.move_to_end(name)
        return session

    # --- answers ---------------------------------------------------------------------------------------------

    def _answer(self) -> None:
        """Answer every request whose weights are here: one forward pass for each player."""
        by_player: dict[PlayerId, list[_Asked]] = {}
        for key, asked in list(self._held.items()):
            incarnation, _, _ = self._networks.get(asked.ask.player, (-1, -1, None))
            if incarnation >= asked.ask.incarnation:
                by_player.setdefault(asked.ask.player, []).append(self._held.pop(key))
        for player, together in by_player.items():
            self._forward(player, together)

    def _forward(self, player: PlayerId, together: Sequence[_Asked]) -> None:
        _, version, network = self._networks[player]
        size = self.policies[player].state_size
        memory = _joined([self._recall(asked, size) for asked in together]) if size else None
        before = None if memory is None else memory.copy()
        observation = _joined([asked.arrays["observation"] for asked in together])
        place = _joined([asked.arrays["place"] for asked in together]) if "place" in together[0].arrays else None
        beside = None
        if "mask" in together[0].arrays:
            beside = Bystanders(*(_joined([asked.arrays[name] for asked in together]) for name in ("mask", "team")))
        found = network.explore(observation, self._rng, place, memory, beside)
        outputs = bounded(found)  # finite whatever the weights, so it can be sent
        self.rows += len(outputs)
        self.batches += 1
        end = 0
        for asked in together:
            part = slice(end, end := end + len(asked.arrays["observation"]))
            arrays = {"outputs": outputs[part], "log_std": network.log_std, "exploration": network.exploration}
            if memory is not None and before is not None:
                self._session(asked.ask.session).memory[asked.arrays["who"], :size] = memory[part]
                arrays["memory"] = before[part][asked.arrays["recall"]]
            self._send_answer(asked, version, arrays)

    def _recall(self, asked: _Asked, size: int) -> FloatArray:
        session, who = self._session(asked.ask.session), asked.arrays["who"]
        session.reach(int(who.max()) + 1)
        memory: FloatArray = session.memory[who, :size]
        memory[asked.arrays["first"]] = 0
        return memory

    def _send_answer(self, asked: _Asked, version: int, arrays: Arrays) -> None:
        ask, session = asked.ask, self._session(asked.ask.session)
        answer = Answer(turn=ask.turn, request=ask.request, player=ask.player, version=version, memory=session.name)
        session.answers[ask.turn, ask.player] = (answer, arrays)
        try:
            self.server.send(asked.peer, answer, arrays)
        except WireError as error:
            log.error("version %d of %s has no answer: %s", version, ask.player, error)


def _within(numbers: npt.NDArray[Any], end: int) -> bool:
    return bool(((numbers >= 0) & (numbers < end)).all())


def _joined(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
