"""Board games in which two players alternate, many at once: all slots in arrays, no loop over them.

The pieces are kept as the *planes* of both views, own and other, and each move adds one number to each view:
an observation is then a mere gather. The pieces of each player are also the bits of one integer, its *board*, which
says who won. A game ends with a win, or when all cells are taken. What differs between games is its `Rules`.
"""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from collectors.envs.native.skeleton import NativeGame
from collectors.envs.rows import BoolArray, Ends, IntArray, Rows
from collectors.envs.slots import Index, check_shape, illegal, in_range
from league.spec import Array, EnvSpec, Seat

Board = npt.NDArray[np.int64]

OUTCOMES = np.array([[1, -1], [-1, 1]], dtype=np.float32)  # [who made the winning move, agent]


class Rules(Protocol):
    """The rules of one game for a batch of slots.

    rules.clear(started)
    cell, bit = rules.play(place, actions)      # legal ones only; `place` is where each stands in `legal`, flat
    won = rules.won(board | bit)
    """

    legal: BoolArray  # [slots, actions] what the player to move may do

    def clear(self, slots: Index) -> None:
        """Empty the boards of these slots."""

    def play(self, place: Index, actions: Index) -> tuple[Index, Board]:
        """Move; return the cell that each move took, and its bit of a board."""

    def won(self, board: Board) -> BoolArray:
        """Return which boards have won."""


def board_spec(name: str, agents: tuple[str, str], shape: tuple[int, int], actions: int) -> EnvSpec:
    """Return the spec of a two-player board game: interchangeable seats, planes for own and other."""
    return EnvSpec(
        name=name,
        agents=agents,
        seats=(Seat(agents=(0,)), Seat(agents=(1,))),
        observation=Array(shape=(*shape, 2), dtype="int8"),
        actions=actions,
        returns=(-1.0, 1.0),
    )


class AlternatingBoard(NativeGame):
    """An `Environment` of board games. The first agent moves first; a win is +1 and -1, a draw 0 and 0."""

    shows_positions = True

    def __init__(self, spec: EnvSpec, rules: Rules, slots: int) -> None:
        super().__init__(spec, slots)
        self._rules = rules
        self._cells = spec.observation.size // 2
        self._planes = np.zeros((slots * 2, self._cells * 2), dtype=np.int8)  # row slot * 2 + view
        width = self._cells * 2
        # From the own plane of a view to the other plane of the other view, by who moves.
        self._across: Index = np.array([width + 1, 1 - width], dtype=np.intp)
        self._boards: Board = np.zeros(slots * 2, dtype=np.int64)  # at slot * 2 + mover
        self._ply = np.zeros(slots, dtype=np.intp)

    def _reset(self, slots: Index, seeds: npt.NDArray[np.int64]) -> None:
        """Empty the boards; nothing here is random, so seeds change nothing."""
        self._rules.clear(slots)
        self._planes.reshape(self.slots, -1)[slots] = 0
        self._boards.reshape(self.slots, 2)[slots] = 0
        self._ply[slots] = 0

    def rows(self) -> Rows:
        """Return one row for each slot: the player to move."""
        slots = self._playing
        ply = self._ply[slots]
        mover = ply & 1
        return Rows(
            slot=slots.copy(),
            agent=mover,
            observation=self._views(slots * 2 + mover),
            mask=self._rules.legal.take(slots, axis=0),
            reward=np.zeros(len(slots), dtype=np.float32),
            first=ply < 2,
        )

    def step(self, actions: IntArray) -> Ends:
        """Move in every slot that plays."""
        slots = self._playing
        moves = check_shape(self.spec.name, actions, len(slots))
        place = slots * self.spec.actions + moves
        if not in_range(moves, self.spec.actions) or np.count_nonzero(self._rules.legal.take(place)) < len(slots):
            raise illegal(self.spec.name, moves, slots, self._rules.legal[slots])
        cell, bit = self._rules.play(place, moves)
        ply = self._ply[slots]
        mover = ply & 1
        view = slots * 2 + mover
        self._ply[slots] = ply + 1
        self._put(view, mover, cell * 2)
        self._boards[view] = board = self._boards[view] | bit
        won = self._rules.won(board)
        over = won | (ply == self._cells - 1)
        if not np.count_nonzero(over):
            return self._no_ends
        return self._ends(slots[over], mover[over], won[over])

    def _put(self, view: Index, mover: Index, place: Index) -> None:
        pieces = self._planes.reshape(-1)
        own = view * (self._cells * 2) + place
        pieces[own] = 1  # the own plane, in the view of the mover
        pieces[own + self._across.take(mover)] = 1  # the other plane, in the view of the other player

    def _ends(self, over: Index, mover: Index, won: BoolArray) -> Ends:
        self._free(over)
        slot, agent = over.repeat(2), self._agents[: 2 * len(over)]
        return Ends(
            slot=slot,
            agent=agent.copy(),
            reward=(won[:, None] * OUTCOMES[mover]).reshape(-1),
            truncated=np.zeros(len(slot), dtype=np.bool_),
            observation=self._views(slot * 2 + agent),
            over=over,
        )

    def _views(self, index: Index) -> npt.NDArray[np.int8]:
        return self._planes.take(index, axis=0).reshape(-1, *self.spec.observation.shape)

    def render(self, slot: int) -> str:
        """Return the board as text: `X` is the first agent, `O` the second."""
        height, width, _ = self.spec.observation.shape
        planes = self._planes[slot * 2].reshape(height, width, 2)
        return "\n".join(" ".join(".XO"[own + 2 * other] for own, other in line) for line in planes.tolist())
