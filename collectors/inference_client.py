"""The client of the inference process: rows of live players go out, the outputs of their networks come back.

    client.request(turn, rows, numbers, entry, begins)
    client.receive(timeout=0.0, now=clock())
    found = client.take_answered(turn)      # None while an answer is still under way

The collector samples the actions itself: its random numbers are the same as if it had the networks. It requests forward
passes of live players only. Frozen players never change, so their weights are fetched once, and evaluation does not
depend on inference processes.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from collectors.acting import Recalled, Teams, places
from collectors.actors import Actors, RemoteActor
from collectors.envs.rows import BoolArray, Rows
from collectors.envs.slots import Index
from collectors.learner_client import LivePlayer
from league.ids import PlayerId
from league.policies.layout import beside_layers, output_size
from league.spec import EnvSpec
from league.wire.messages import Answer, Ask, Refused
from league.wire.ports import Arrays, Client

log = logging.getLogger("ludus.collector")

RESEND_SECONDS = 1.0  # after which an unanswered request is sent again: the inference process may have died


@dataclass(slots=True)
class _PlayerRequest:
    """The forward pass that is requested for the rows of one player."""

    number: int  # of its actor
    rows: Index
    ask: Ask
    arrays: Arrays
    at: float = float("-inf")  # when it was sent last


@dataclass(slots=True)
class RequestedTick:
    """A tick of one turn whose forward passes are requested: its rows, and who acts in each."""

    rows: Rows
    numbers: npt.NDArray[np.int16]
    entry: Index
    open: dict[PlayerId, _PlayerRequest] = field(default_factory=dict)  # not answered yet
    answers: list[tuple[_PlayerRequest, Answer, Arrays]] = field(default_factory=list)
    memory_lost: bool = False  # the process that answered does not have the memory of the ticks before


class InferenceClient:
    """Requests forward passes, for at most one tick of each turn at a time."""

    def __init__(
        self,
        session: str,
        spec: EnvSpec,
        actors: Actors,
        live: Mapping[PlayerId, LivePlayer],
        connect: Callable[[str], Client],
    ) -> None:
        self._session, self._spec, self._actors, self._live, self._connect = session, spec, actors, live, connect
        self._place, self._teams = places(spec), Teams(spec)
        self._clients: dict[str, Client] = {}
        self._requested: dict[int, RequestedTick] = {}
        self._memories: dict[tuple[int, PlayerId], str] = {}  # the id of the memory that the last answer used
        self._requests = 0

    def waits(self, turn: int) -> bool:
        """Return whether a tick of this turn is requested and not taken yet."""
        return turn in self._requested

    def request(
        self, turn: int, rows: Rows, numbers: npt.NDArray[np.int16], entry: Index, begins: Callable[[], BoolArray]
    ) -> None:
        """Request a forward pass for the rows of each live player; a tick without any is answered at once.

        `begins` returns the rows whose memory must come back; it is called only for recurrent networks.
        """
        tick = self._requested[turn] = RequestedTick(rows, numbers, entry)
        self._requests += 1
        for number in np.bincount(numbers).nonzero()[0].tolist():
            actor = self._actors[number]
            if isinstance(actor, RemoteActor):
                mine = (numbers == number).nonzero()[0]
                tick.open[actor.player] = _PlayerRequest(
                    number=number,
                    rows=mine,
                    ask=Ask(
                        session=self._session,
                        turn=turn,
                        request=self._requests,
                        player=actor.player,
                        incarnation=self._live[actor.player].host.incarnation,
                    ),
                    arrays=self._arrays(actor, rows, mine, begins),
                )

    def _arrays(self, actor: RemoteActor, rows: Rows, mine: Index, begins: Callable[[], BoolArray]) -> Arrays:
        arrays = {"observation": rows.observation.take(mine, axis=0)}
        agent = rows.agent[mine]
        if actor.policy.agent_id or not actor.policy.ours:
            arrays["place"] = self._place[agent].astype(np.int32)
        if not actor.policy.ours:
            arrays["mask"], arrays["team"] = rows.mask.take(mine, axis=0), self._teams.present(rows)[mine]
        if actor.policy.recurrent:
            arrays["who"] = (rows.slot[mine] * len(self._spec.agents) + agent).astype(np.int32)
            arrays["first"], arrays["recall"] = rows.first[mine], begins()[mine]
        return arrays

    def receive(self, timeout: float, now: float) -> None:
        """Send new requests and those not answered in time; take in answers, waiting for one if any is due."""
        owing = None
        for tick in self._requested.values():
            for player, request in tick.open.items():
                client = self._client(self._live[player].host.inference)
                if client is not None and (
                    now - request.at < RESEND_SECONDS or client.send(request.ask, request.arrays)
                ):
                    request.at = now if now - request.at >= RESEND_SECONDS else request.at
                    owing = client
        if owing is not None:
            self._receive_from(owing, timeout)
        for client in self._clients.values():
            self._receive_from(client, 0.0)

    def _client(self, address: str) -> Client | None:
        if address and address not in self._clients:
            wanted = {live.host.inference for live in self._live.values()}
            for gone in self._clients.keys() - wanted:
                self._clients.pop(gone).close()
            self._clients[address] = self._connect(address)
        return self._clients.get(address)

    def _receive_from(self, client: Client, timeout: float) -> None:
        for message, arrays in client.receive(timeout):
            if isinstance(message, Refused):
                log.warning("an inference process refused a request: %s", message.reason)
            elif isinstance(message, Answer):
                self._keep(message, arrays)

    def _keep(self, answer: Answer, arrays: Arrays) -> None:
        tick = self._requested.get(answer.turn)
        request = tick.open.get(answer.player) if tick is not None else None
        if tick is None or request is None or request.ask.request != answer.request:
            return  # the second answer to a request that was sent twice
        if not self._fits(request, arrays):
            log.warning("an answer for %s does not fit its request", answer.player)
            return
        del tick.open[answer.player]
        tick.answers.append((request, answer, arrays))
        before = self._memories.get((answer.turn, answer.player), answer.memory)
        self._memories[answer.turn, answer.player] = answer.memory
        if "who" in request.arrays:
            tick.memory_lost |= before != answer.memory

    def _fits(self, request: _PlayerRequest, arrays: Arrays) -> bool:
        policy = self._actors.policy_of(request.ask.player)
        beside = beside_layers(policy, self._spec)
        expected = {
            "outputs": (len(request.rows), output_size(policy, self._spec)),
            "log_std": beside.get("log_std", (0,)),
            "exploration": beside.get("exploration", (0,)),
        }
        if "recall" in request.arrays:
            expected["memory"] = (int(np.count_nonzero(request.arrays["recall"])), policy.state_size)
        return {name: array.shape for name, array in arrays.items()} == expected and all(
            array.dtype == np.float32 for array in arrays.values()
        )

    def take_answered(self, turn: int) -> tuple[RequestedTick, list[Recalled]] | None:
        """Return the tick of a turn and the memories that came with it, once all answers arrived."""
        tick = self._requested.get(turn)
        if tick is None or tick.open:
            return None
        del self._requested[turn]
        recalled = []
        for request, answer, arrays in tick.answers:
            self._actors.set_outputs(request.number, answer.version, arrays)
            if "memory" in arrays:
                if tick.memory_lost:
                    recalled.append(
                        Recalled(request.rows, np.zeros((len(request.rows), arrays["memory"].shape[1]), np.float32))
                    )
                recalled.append(Recalled(request.rows[request.arrays["recall"]], arrays["memory"]))
        return tick, recalled

    def close(self) -> None:
        """Close every connection."""
        for client in self._clients.values():
            client.close()
