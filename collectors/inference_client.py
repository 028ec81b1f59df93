"""The client of the inference process: rows of live players go out, the outputs of their networks come back.

    asking.ask(turn, rows, numbers, entry, recall)
    asking.receive(timeout=0.0, now=clock())
    question = asking.answered(turn)        # None while an answer is still under way

The collector draws the actions itself: its random numbers are the same as if it had the networks. Only live
players are asked for. Frozen ones never change, so that their weights are fetched once; and what evaluation plays
does not depend on who answers.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from collectors.acting import Recalled, places
from collectors.actors import Actors, Remote
from collectors.envs.rows import BoolArray, Rows
from collectors.envs.slots import Index
from collectors.learner_client import LivePlayer
from league.ids import PlayerId
from league.spec import EnvSpec
from league.wire.messages import Answer, Ask, Refused
from league.wire.ports import Arrays, Client

log = logging.getLogger("ludus.collector")

PATIENCE = 1.0  # seconds before a question is asked again: whoever should answer may have died


@dataclass(slots=True)
class _Open:
    """Rows of one player that were asked about."""

    number: int  # of its actor
    rows: Index
    ask: Ask
    arrays: Arrays
    at: float = float("-inf")


@dataclass(slots=True)
class Question:
    """All that one turn asked about: the rows of a tick, and who acts in each."""

    rows: Rows
    numbers: npt.NDArray[np.int16]
    entry: Index
    open: dict[PlayerId, _Open] = field(default_factory=dict)  # not answered yet
    answers: list[tuple[_Open, Answer, Arrays]] = field(default_factory=list)
    forgotten: bool = False  # the answers come from a memory that knows nothing of the ticks before


class InferenceClient:
    """The questions of one collector, at most one for each turn."""

    def __init__(
        self,
        session: str,
        spec: EnvSpec,
        actors: Actors,
        live: Mapping[PlayerId, LivePlayer],
        connect: Callable[[str], Client],
    ) -> None:
        self._session, self._spec, self._actors, self._live, self._connect = session, spec, actors, live, connect
        self._place = places(spec)
        self._clients: dict[str, Client] = {}
        self._questions: dict[int, Question] = {}
        self._memories: dict[tuple[int, PlayerId], str] = {}  # the memory that answered last
        self._requests = 0

    def waits(self, turn: int) -> bool:
        """Whether a question of this turn is open."""
        return turn in self._questions

    def ask(
        self, turn: int, rows: Rows, numbers: npt.NDArray[np.int16], entry: Index, recall: Callable[[], BoolArray]
    ) -> None:
        """Ask about the rows of live players; a tick without any is answered already.

        `recall` says in which rows a memory is to be told; it is called only if there is one.
        """
        question = self._questions[turn] = Question(rows, numbers, entry)
        self._requests += 1
        for number in np.bincount(numbers).nonzero()[0].tolist():
            actor = self._actors[number]
            if isinstance(actor, Remote):
                mine = (numbers == number).nonzero()[0]
                question.open[actor.player] = _Open(
                    number=number,
                    rows=mine,
                    ask=Ask(
                        session=self._session,
                        turn=turn,
                        request=self._requests,
                        player=actor.player,
                        incarnation=self._live[actor.player].host.incarnation,
                    ),
                    arrays=self._arrays(actor, rows, mine, recall),
                )

    def _arrays(self, actor: Remote, rows: Rows, mine: Index, recall: Callable[[], BoolArray]) -> Arrays:
        arrays = {"observation": rows.observation.take(mine, axis=0)}
        agent = rows.agent[mine]
        if actor.policy.agent_id:
            arrays["place"] = self._place[agent].astype(np.int32)
        if actor.policy.recurrent:
            arrays["who"] = (rows.slot[mine] * len(self._spec.agents) + agent).astype(np.int32)
            arrays["first"], arrays["recall"] = rows.first[mine], recall()[mine]
        return arrays

    def receive(self, timeout: float, now: float) -> None:
        """Send what has not been sent, or was not answered in time; take in answers, waiting for one if need be."""
        owing = None
        for question in self._questions.values():
            for player, one in question.open.items():
                client = self._client(self._live[player].host.inference)
                if client is not None and (now - one.at < PATIENCE or client.send(one.ask, one.arrays)):
                    one.at = now if now - one.at >= PATIENCE else one.at
                    owing = client
        if owing is not None:
            self._take_in(owing, timeout)
        for client in self._clients.values():
            self._take_in(client, 0.0)

    def _client(self, address: str) -> Client | None:
        if address and address not in self._clients:
            wanted = {live.host.inference for live in self._live.values()}
            for gone in self._clients.keys() - wanted:
                self._clients.pop(gone).close()
            self._clients[address] = self._connect(address)
        return self._clients.get(address)

    def _take_in(self, client: Client, timeout: float) -> None:
        for message, arrays in client.receive(timeout):
            if isinstance(message, Refused):
                log.warning("an inference process refused what was asked: %s", message.reason)
            elif isinstance(message, Answer):
                self._note(message, arrays)

    def _note(self, answer: Answer, arrays: Arrays) -> None:
        question = self._questions.get(answer.turn)
        one = question.open.get(answer.player) if question is not None else None
        if question is None or one is None or one.ask.request != answer.request:
            return  # the second answer to a question that was asked twice
        if not self._fits(one, arrays):
            log.warning("an answer for %s does not fit the question", answer.player)
            return
        del question.open[answer.player]
        question.answers.append((one, answer, arrays))
        before = self._memories.get((answer.turn, answer.player), answer.memory)
        self._memories[answer.turn, answer.player] = answer.memory
        if "who" in one.arrays:
            question.forgotten |= before != answer.memory

    def _fits(self, one: _Open, arrays: Arrays) -> bool:
        policy = self._actors.policy_of(one.ask.player)
        expected = {
            "outputs": (len(one.rows), self._spec.actions + self._spec.continuous),
            "log_std": (self._spec.continuous,),
            "exploration": (2 * (policy.head == "values"),),
        }
        if "recall" in one.arrays:
            expected["memory"] = (int(np.count_nonzero(one.arrays["recall"])), policy.state_size)
        return {name: array.shape for name, array in arrays.items()} == expected and all(
            array.dtype == np.float32 for array in arrays.values()
        )

    def answered(self, turn: int) -> tuple[Question, list[Recalled]] | None:
        """Return the question of a turn, and what was recalled, once all answers are there; its actors know them."""
        question = self._questions.get(turn)
        if question is None or question.open:
            return None
        del self._questions[turn]
        recalled = []
        for one, answer, arrays in question.answers:
            self._actors.answered(one.number, answer.version, arrays)
            if "memory" in arrays:
                if question.forgotten:
                    recalled.append(
                        Recalled(one.rows, np.zeros((len(one.rows), arrays["memory"].shape[1]), np.float32))
                    )
                recalled.append(Recalled(one.rows[one.arrays["recall"]], arrays["memory"]))
        return question, recalled

    def close(self) -> None:
        """Close every link."""
        for client in self._clients.values():
            client.close()
