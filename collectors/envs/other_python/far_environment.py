"""A batch of slots whose games play in another Python: `env.python=OTHER_VENV/bin/python`.

    env = FarEnvironment(FarOrder(python, "classic/rps_v2", opening_of("classic/rps_v2", {}, [])), slots=32)

Rows are written by the far side, into the arrays of a `RowBuffer` that lie in shared memory; all checks of actions,
masks and numbers are those of every other PettingZoo environment, and happen here. A far side that dies, hangs or
answers nonsense is a fault of all its slots, and the next `start` begins with another process.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from collectors.envs.adapters.adapter import board
from collectors.envs.adapters.compat import older_remedy
from collectors.envs.adapters.pettingzoo import LEAKY, blueprint_of
from collectors.envs.adapters.reference_tests import Complaint
from collectors.envs.adapters.row_buffer import RowBuffer, Shapes, row_shapes
from collectors.envs.adapters.seats import make_seats
from collectors.envs.adapters.space_forms import checked, space_of
from collectors.envs.build_pace import BuildPace
from collectors.envs.other_python.far_game import LONGER, FarGame, FarProcesses
from collectors.envs.other_python.far_order import FarOrder
from collectors.envs.other_python.far_process import Answer, FarSideError, FarSideLost
from collectors.envs.output import EnvOutput
from collectors.envs.payments import Payments
from collectors.envs.rows import BuildTold, Ends, Idle, IntArray, Late, Rows
from collectors.envs.slots import Index, check_actions, check_parts, check_start
from league.agent_spaces import AgentSpaces, SpaceForm

log = logging.getLogger("ludus.collector")

ALIGNED = 64  # bytes, a line of the processor's cache

Arrays = dict[str, npt.NDArray[Any]]


class FarSpaces:
    """The agents and spaces of an environment of the far side, as a PettingZoo environment has them."""

    def __init__(self, name: str, described: Answer) -> None:
        self.possible_agents: list[str] = described["agents"]
        metadata = {"name": described["name"] or None, "is_parallelizable": not described["turn_based"]}
        self.metadata: dict[str, Any] = metadata
        self.forms = dict(zip(self.possible_agents, described["spaces"], strict=True))
        self.spaces = {agent: _forms(name, str(agent), form) for agent, form in self.forms.items()}
        self.texts: dict[str, tuple[str, str]] = dict(zip(self.possible_agents, described["texts"], strict=True))
        self.state_space = described["state"] and space_of(msgspec.convert(described["state"], SpaceForm))
        self.render_modes = tuple(described["render_modes"])

    def observation_space(self, agent: str) -> Any:
        """Return what an agent sees."""
        return space_of(self.spaces[agent].observation)

    def action_space(self, agent: str) -> Any:
        """Return what an agent does."""
        return space_of(self.spaces[agent].action)


def _forms(name: str, agent: str, form: Answer) -> AgentSpaces:
    return checked(name, agent, msgspec.convert(form, AgentSpaces))


class FarEnvironment:
    """An `Environment` whose games play in another Python."""

    def __init__(
        self, order: FarOrder, slots: int, output: EnvOutput | None = None, processes: FarProcesses | None = None
    ) -> None:
        self.slots = slots
        self._order, self._output = order, output or EnvOutput()
        self._processes: FarProcesses | None = processes or FarProcesses(order.python, order.seconds)
        far, self._described = self._processes.open(order.opening)
        self._far: FarGame | None = far
        try:
            seen = FarSpaces(order.id, self._described)
            seat = _seater(order.seating)
            blueprint = blueprint_of(seen, order.id, seat, order.state)
            fresh = str(seen.metadata["name"]).startswith(LEAKY) if order.fresh is None else order.fresh
            self._fresh, self._seen, self.spec = fresh, seen, blueprint.spec
            self.guesses = () if order.seating.get("seats") or order.seating.get("sides") else blueprint.guesses
            self._seat(far)
        except BaseException:
            far.leave()
            raise
        self._busy = np.zeros(slots, np.bool_)
        self._dropped: set[int] = set()
        self._infos: dict[int, dict[str, Mapping[str, Any]]] = {}
        self._index: Index | None = None

    # --- the far side ---

    def _seat(self, far: FarGame) -> None:
        """Lay out the memory that both sides share, and let the far side fill it."""
        spec, size, single = self.spec, (self.slots, len(self.spec.agents)), self.spec.single
        shapes = row_shapes(spec, self.slots) | {
            "ended": (size, "int8"),
            "over": ((self.slots,), "bool"),
            "late": (size, "float64"),
            "listed": (size, "bool"),
            "moving": (size, "bool"),
            "action": (size if single else (*size, spec.parts), "int64" if single else "float64"),
        }
        places, total = _layout(shapes)
        order = {"arrays": places, "heads": spec.heads, "single": single}
        memory = far.seat(order | {"fresh": self._fresh, "max_steps": self._order.max_steps}, total)
        self._arrays: Arrays = {
            name: np.ndarray(shape, dtype, memory, offset) for name, (offset, shape, dtype) in places.items()
        }
        self._buffer = RowBuffer(spec, self.slots, self._arrays)

    def _living(self) -> FarGame:
        """Return the far side; start another one if it was lost."""
        if self._far is None:
            assert self._processes is not None, "it is closed"
            far, described = self._processes.open(self._order.opening)
            if any(described[key] != self._described[key] for key in ("agents", "spaces", "state")):
                far.leave()
                raise FarSideError("its agents or spaces changed since the league began")
            self._far, self._dropped, pending = far, set(), self._buffer.pending
            self._seat(far)
            self._buffer.pending = pending
        return self._far

    def _lose(self, error: Exception, starting: Sequence[int] = ()) -> None:
        """Note a fault for every slot that plays: what they shared is gone."""
        if self._far is not None:
            log.warning("%s: the process of env.python=%s is lost: %s", self.spec.name, self._order.python, error)
            self._far.lose(str(error))
            self._far = None
        what = f"{self.spec.name}: the process of env.python={self._order.python} is lost: {error}"
        reason = f"{self.spec.name}: {error}" if isinstance(error, FarSideError) else what
        pending = self._buffer.pending
        pending.ends, pending.over, pending.idle, pending.late, pending.present = [], [], [], [], {}
        for slot in {*np.flatnonzero(self._busy).tolist(), *starting}:
            pending.faults.setdefault(slot, reason)
            self._buffer.ready[slot] = False

    # --- the interface ---

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots; the next `step` reports slots that failed."""
        index = check_start(self.spec.name, slots, seeds, self._busy)
        if not len(index):
            return None
        self._busy[index] = True
        self._index = None
        order = {"slots": index.tolist(), "seeds": np.asarray(seeds).tolist()}
        try:
            far = self._living()
            drop, self._dropped = sorted(self._dropped), set()
            answer = far.ask({"do": "start", **order, "drop": drop}, LONGER)
        except (FarSideLost, FarSideError, TypeError) as error:
            return self._lose(error)
        self._note_faults(answer)
        self._drop_faulty()
        return None

    def build_slots(self, tell: BuildTold) -> float:
        """Build an environment for every slot; one that fails is a fault of its slot when that is started."""
        if self._fresh:
            return 0.0
        pace = BuildPace(self.slots, tell)
        for slot in range(self.slots):
            if self._far is not None:
                try:
                    self._far.ask({"do": "build", "slot": slot}, LONGER)
                except (FarSideLost, FarSideError, TypeError) as error:
                    self._lose(error)
            pace.built()
        return pace.seconds

    def rows(self) -> Rows:
        """Return the rows of all agents that must act now."""
        self._index = self._buffer.index()
        return self._buffer.rows(self._index)

    def step(self, actions: npt.NDArray[Any]) -> Ends:
        """Take one action for each row: all slots at once, on the far side."""
        buffer, arrays = self._buffer, self._arrays
        index = buffer.index() if self._index is None else self._index
        self._index = None
        slot, agent = np.divmod(index, len(self.spec.agents))
        legal = buffer.masks(index)
        if self.spec.single:
            moves: npt.NDArray[Any] = check_actions(self.spec.name, actions, slot, legal)
        else:
            moves = check_parts(self.spec, actions, slot, legal)
        if self._far is not None and len(index):
            arrays["moving"][...] = False
            arrays["moving"][slot, agent] = True
            arrays["action"][slot, agent] = moves
            buffer.act(index)
            self._tick()
        return self._take_ends()

    def _tick(self) -> None:
        assert self._far is not None
        self._arrays["ended"][...] = 0
        self._arrays["over"][...] = False
        self._arrays["late"][...] = 0
        try:
            answer = self._far.tick()
        except FarSideLost as error:
            return self._lose(error)
        self._note_faults(answer)
        self._note_ends()
        infos = answer.get("infos", {})
        self._infos = {int(slot): of for slot, of in infos.items()}
        self._drop_faulty()
        self._output.add(*self._far.take_printed())
        if news := self._output.news():
            log.info("the environment %s: %s", self.spec.name, news)
        return None

    def _note_faults(self, answer: Answer) -> None:
        for slot, reason in answer.get("faults", {}).items():
            remedy = older_remedy(reason)
            self._buffer.pending.faults[int(slot)] = f"{self.spec.name}: {reason}{remedy and f'. {remedy}'}"

    def _note_ends(self) -> None:
        """Note who ended in this tick, as the far side wrote it."""
        pending, buffer, ended = self._buffer.pending, self._buffer, self._arrays["ended"]
        pending.over = np.flatnonzero(self._arrays["over"]).tolist()
        slots, agents = ended.nonzero()
        cut = ended[slots, agents] == 2
        pending.ends = list(zip(slots.tolist(), agents.tolist(), cut.tolist(), strict=True))
        for slot in pending.over:
            unpaid = np.flatnonzero((buffer.reward[slot] != 0) & ~buffer.acted[slot]).tolist()
            pending.idle += [Idle(slot, one, float(buffer.reward[slot, one])) for one in unpaid]
            present = self._arrays["listed"][slot] | buffer.acted[slot]
            if not present.all():
                pending.present[slot] = present.tolist()
        late = self._arrays["late"]
        pending.late = [Late(int(slot), int(one), float(late[slot, one])) for slot, one in np.argwhere(late)]

    def _drop_faulty(self) -> None:
        """Find the slots that broke; they have no rows, and their environments are rebuilt for the next episode."""
        self._buffer.find_faults()
        for slot in self._buffer.pending.faults:
            self._buffer.ready[slot] = False
            self._dropped.add(slot)

    def _take_ends(self) -> Ends:
        ends = self._buffer.take_ends()
        self._busy[ends.over] = False
        for fault in ends.faults:
            self._busy[fault.slot] = False
        return ends

    def render(self, slot: int) -> str:
        """Return the environment's own text if it has one, else the observation of each agent that must act."""
        text = self._far and str(self._far.ask({"do": "render", "slot": slot})["text"])
        if text:
            return text
        agents = np.flatnonzero(self._buffer.ready[slot]).tolist()
        seen = [(self.spec.agents[agent], self._buffer.observation[slot, agent]) for agent in agents]
        return "\n".join(f"{agent} sees\n{board(array) or array}" for agent, array in seen)

    def picture(self, slot: int) -> npt.NDArray[Any] | None:
        """Return the environment's own picture, [height, width, 3]; None if it renders none."""
        shown = None if self._far is None else self._far.picture(slot)
        if shown is None:
            return None
        header, data = shown
        return np.frombuffer(data, header["dtype"]).reshape(header["shape"]).copy()

    def infos(self, slot: int) -> dict[str, Mapping[str, Any]]:
        """Return the last info of each agent of the episode that ended in a slot."""
        return self._infos.get(slot) or {agent: {} for agent in self.spec.agents}

    @property
    def spaces(self) -> Mapping[str, AgentSpaces]:
        """The spaces of each agent."""
        return self._seen.spaces

    @property
    def render_modes(self) -> tuple[str, ...]:
        """The render modes that the environment lists."""
        return self._seen.render_modes

    @property
    def versions(self) -> dict[str, str]:
        """The versions of Python, numpy and pettingzoo on the far side."""
        return dict(self._described["versions"])

    @property
    def pid(self) -> int | None:
        """The id of the process of the far side; None if it was lost."""
        return None if self._far is None else self._far.pid

    def close(self) -> None:
        """Close every environment; the process ends with the last who may need it."""
        if self._far is not None:
            self._far.leave()
        self._far = self._processes = None


class FarChecks:
    """What checks compare an environment of the far side with: its own loop, its own tests, its spaces."""

    def __init__(self, order: FarOrder, processes: FarProcesses) -> None:
        self._order, self._processes = order, processes

    def _asked(self, order: Answer) -> Answer:
        far, _ = self._processes.open(self._order.opening)
        try:
            return far.ask(order, LONGER)
        finally:
            far.leave()

    def _own(self, seed: int, ticks: Any) -> Answer:
        """Play these actions in PettingZoo's own loop on the far side."""
        return self._asked({"do": "returns", "seed": seed, "ticks": ticks})

    def returns(self, seed: int, ticks: Any) -> dict[str, float]:
        """Return the return of each agent in PettingZoo's own loop."""
        return dict(self._own(seed, ticks)["returns"])

    def payments(self, seed: int, ticks: Any) -> dict[str, Payments]:
        """Return what each agent of an AEC environment got by each way to read its rewards."""
        return {agent: Payments(*got) for agent, got in self._own(seed, ticks)["payments"].items()}

    def outside(self, seed: int, ticks: Any) -> dict[str, str]:
        """Return for each agent the first observation outside its space."""
        return dict(self._own(seed, ticks)["outside"])

    def complaints(self) -> list[Complaint]:
        """Run PettingZoo's own tests on the far side; return what they found, and which of them failed themselves."""
        return [Complaint(*one) for one in self._asked({"do": "complaints"})["complaints"]]

    def spaces(self) -> dict[str, tuple[str, str]]:
        """Return the observation and the action space of each agent, as text."""
        far, seen = self._processes.open(self._order.opening)
        far.leave()
        return {agent: tuple(texts) for agent, texts in zip(seen["agents"], seen["texts"], strict=True)}


def _seater(seating: Mapping[str, Any]) -> Callable[..., Any]:
    return lambda *given: make_seats(*given, **seating)


def _layout(shapes: Shapes) -> tuple[dict[str, tuple[int, tuple[int, ...], str]], int]:
    """Return where each array lies, and the size of all.

    >>> _layout({"a": ((3,), "bool"), "b": ((2, 2), "float64")})
    ({'a': (0, (3,), 'bool'), 'b': (64, (2, 2), 'float64')}, 128)
    """
    places, offset = {}, 0
    for name, (shape, dtype) in shapes.items():
        places[name] = (offset, shape, dtype)
        offset += -(-math.prod(shape) * np.dtype(dtype).itemsize // ALIGNED) * ALIGNED
    return places, max(offset, ALIGNED)
