"""Rows: the interface of environments. An environment is a batch of slots, each with an episode of its own.

A collector drives it like this, and needs nothing else:

>>> from collectors.envs.config import EnvConfig, make_environment
>>> from collectors.players.bots import choose
>>> env = make_environment(EnvConfig(name="tic_tac_toe"), slots=4)
>>> rng, episodes = np.random.default_rng(0), 0
>>> env.start(np.arange(env.slots), seeds=np.arange(env.slots))  # an episode begins in each of these slots
>>> while episodes < 10:
...     rows = env.rows()                                        # all agents that must act now, in all slots
...     actions, _ = choose(rows.mask, rng)
...     ends = env.step(actions)                                 # one action for each row
...     episodes += len(ends.over)
...     broken = np.array([fault.slot for fault in ends.faults], np.intp)
...     free = np.concatenate([ends.over, broken])               # slots that may begin the next episode
...     env.start(free, seeds=env.slots + episodes + np.arange(len(free)))
>>> env.close()

What only some environments can do is declared in Protocols of its own, which a caller asks for with isinstance:
`HasInfos`, `HasSpaces`, `HasGuesses`, `HasRenderModes`, `HasPicture`, `ShowsPositions`, `CanRehearse`, `Compiles` and
`BuildsSlots`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from league.agent_spaces import AgentSpaces
from league.spec import EnvSpec

IntArray = npt.NDArray[np.int32 | np.intp]  # intp indexes arrays as it is, which saves conversions
FloatArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rows:
    """ACT rows: one for each agent that must act now. The caller may keep the arrays."""

    slot: IntArray  # [n]
    agent: IntArray  # [n]
    observation: npt.NDArray[Any]  # [n, *observation]
    mask: BoolArray  # [n, actions] legal options of all choices; each choice has at least one
    reward: FloatArray  # [n] since that agent's last decision
    first: BoolArray  # [n] the agent has not acted in this episode yet
    state: npt.NDArray[Any] | None = None  # [n, *state] of the whole slot, if the spec has one

    def __len__(self) -> int:
        return len(self.slot)


@dataclass(frozen=True, slots=True)
class Ends:
    """END rows: every agent that acted in an episode gets exactly one, also the one that did not move last.

    `over` lists the slots whose whole episode ended. An agent may end before its episode does (it died).
    """

    slot: IntArray  # [m]
    agent: IntArray  # [m]
    reward: FloatArray  # [m] since that agent's last decision
    truncated: BoolArray  # [m] bootstrap from the final observation; otherwise the agent terminated
    observation: npt.NDArray[Any]  # [m, *observation] final; only read where truncated
    over: IntArray  # [k] slots whose episode is complete; they are free again
    ranks: npt.NDArray[np.int64] | None = None  # [k, seats] 0 for the best; None: by returns
    faults: tuple["SlotFault", ...] = ()  # slots whose episode broke: free again, without END rows
    idle: tuple["Idle", ...] = ()  # agents of episodes that are over which never acted, and got a reward
    state: npt.NDArray[Any] | None = None  # [m, *state] final, of the whole slot; only read where truncated
    late: tuple["Late", ...] = ()  # agents that had their END row before, and got another reward
    present: BoolArray | None = None  # [k, agents] who took part in the episodes that are over; None: everybody


def together(ends: Sequence[Ends]) -> Ends:
    """Return the END rows of several ticks as one; all are of whole episodes, with nothing but END rows."""
    return Ends(
        slot=np.concatenate([one.slot for one in ends]),
        agent=np.concatenate([one.agent for one in ends]),
        reward=np.concatenate([one.reward for one in ends]),
        truncated=np.concatenate([one.truncated for one in ends]),
        observation=np.concatenate([one.observation for one in ends]),
        over=np.concatenate([one.over for one in ends]),
        state=None if ends[0].state is None else np.concatenate([one.state for one in ends if one.state is not None]),
    )


@dataclass(frozen=True, slots=True)
class Idle:
    """The reward of an agent that never acted, e.g. because all others folded: it counts, but trains nothing."""

    slot: int
    agent: int
    reward: float


@dataclass(frozen=True, slots=True)
class Late:
    """A reward that an agent got after its END row: it counts for its return and for its last decision."""

    slot: int
    agent: int
    reward: float


@dataclass(frozen=True, slots=True)
class SlotFault:
    """The environment broke its own rules in one slot (raised, NaN, wrong shape, empty mask).

    The next `step` reports faults of `start` and `rows`; until then the slot has no rows. The collector voids the
    ticket of that slot, with this reason; all other slots play on.
    """

    slot: int
    reason: str


class Environment(Protocol):
    """A batch of slots. The module's docstring shows the loop that drives it."""

    spec: EnvSpec
    slots: int

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots, with its own seed."""

    def rows(self) -> Rows:
        """Return the ACT rows of all slots. Slots without an episode have none."""

    def step(self, actions: npt.NDArray[Any]) -> Ends:
        """Take one action for each row that `rows` returned last, in the same order.

        int32 [n] if `spec.single`; else float32 [n, parts]: the option of each choice, then numbers in [-1, 1].
        """

    def render(self, slot: int) -> str:
        """Return the slot's position as text, for a terminal."""

    def close(self) -> None:
        """Release the environment's resources."""


@runtime_checkable
class HasInfos(Protocol):
    """An environment whose agents have infos, in which it may name the winner."""

    def infos(self, slot: int) -> dict[str, Mapping[str, Any]]:
        """Return the last info of each agent of the episode that ended in a slot."""


@runtime_checkable
class HasSpaces(Protocol):
    """An environment whose agents have spaces of their own, from which rows are made."""

    @property
    def spaces(self) -> Mapping[str, AgentSpaces]:
        """The spaces of each agent."""


@runtime_checkable
class HasGuesses(Protocol):
    """An environment whose seats and sides were guessed."""

    @property
    def guesses(self) -> tuple[str, ...]:
        """What was guessed, why, and which settings change it."""


@runtime_checkable
class HasRenderModes(Protocol):
    """An environment that lists its render modes, such as `rgb_array` and `ansi`."""

    @property
    def render_modes(self) -> tuple[str, ...]:
        """The render modes, as Gymnasium names them."""


@runtime_checkable
class HasPicture(Protocol):
    """An environment that can render a slot as an image."""

    def picture(self, slot: int) -> npt.NDArray[Any] | None:
        """Return the position as [height, width, 3]; None if its render mode is another one."""


@runtime_checkable
class ShowsPositions(Protocol):
    """An environment that says whether it has no chance and shows the whole position: such games can be enumerated.

    Seeds change nothing, and the rows of a tick, together with what each agent did before, leave nothing hidden.
    """

    shows_positions: bool


@runtime_checkable
class CanRehearse(Protocol):
    """An environment that judges outcomes with a user's function, and can try it before the first episode."""

    def rehearse(self) -> bool:
        """Call the function with a made-up episode; return False if that proves nothing. Raises OutcomeError."""


@runtime_checkable
class Compiles(Protocol):
    """An environment that is compiled before its first episode, which takes seconds: `start` does it if nobody asked.

    Ask where a slow `start` would be taken for a hang, or where somebody should know why nothing happens yet.
    """

    def prepare(self) -> str:
        """Compile now; return a line for the user that says how long it took, or "" if there was nothing to do."""


BuildTold = Callable[[int, int, float], None]
"""Called with the number of slots that are built, that of all slots, and the seconds that the rest may take."""


@runtime_checkable
class BuildsSlots(Protocol):
    """An environment that has an environment of its own in each slot: to build them all may take minutes.

    `start` builds those that it needs if nobody asked. Ask where a slow `start` would be taken for a hang.
    """

    def build_slots(self, tell: BuildTold) -> float:
        """Build what is missing in every slot, and tell after each; return the seconds that one took."""
