"""A whole two-player zero-sum game as arrays: every position once, with who acts there and what that player knows.

    tree = enumerate_game(config)                       # collectors.envs.enumerating
    policy = policy_of(actor, tree.sets)                # [sets, actions], collectors.exact.tree_policy
    nash_conv = exploitability(tree, policy).nash_conv  # collectors.exact.best_response

Positions come level by level, and edges in the order of their parents, so a sweep over the tree is a loop over levels
with a few array calls in each. All positions of an information set are on one level. Agents who act at the same
moment act one after the other, the second without knowing what the first did.

Positions that continue alike may be *merged* where every player knows the whole position: then the tree is a graph,
and a set has no unique predecessor (`before` is None).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.slots import Index
from league.errors import InputError

CHANCE, TERMINAL = -1, -2  # the seat of positions where no player acts
NONE = -1  # no information set
LIMIT = 1_000_000  # positions
Real = npt.NDArray[np.float64]


class EnumerationError(InputError):
    """A game that cannot be enumerated, with the reason."""


FAR_BEYOND = 20.0  # an estimated size so many times beyond the limit is taken for true


def refuse_far_beyond(name: str, size: float, limit: int) -> None:
    """Refuse a game whose estimated size is far beyond the limit, before its positions are counted one by one."""
    if size > limit * FAR_BEYOND:
        raise TooLargeError(name, f"about 10^{np.log10(size):.0f}" if size < np.inf else "more than 10^300", limit)


class TooLargeError(EnumerationError):
    """A game with more positions than the limit."""

    def __init__(self, name: str, size: str, limit: int) -> None:
        self.sizes = f"{name} has {size} positions, and an exact figure takes at most {limit:,}"
        super().__init__(f"{self.sizes}. Train a best response instead: ludus probe")


@dataclass(frozen=True, slots=True)
class InformationSets:
    """What players know where they act: a row for each information set, in the order of levels."""

    observation: npt.NDArray[Any]  # [sets, *observation] what the network sees, as collectors give it
    mask: npt.NDArray[np.bool_]  # [sets, actions]
    seat: Index  # [sets]
    turn: Index  # [sets] decisions of the same seat before this one
    before: Index | None  # [sets] the same seat's set before this one, NONE at its first decision
    before_action: Index | None  # [sets] and its action there
    names: tuple[str, ...]  # [sets] unique for each seat; OpenSpiel's information state strings, for its games

    def __len__(self) -> int:
        return len(self.seat)


@dataclass(frozen=True, slots=True)
class GameTree:
    """The positions (nodes) and moves (edges) of a game; position 0 is the root."""

    name: str
    seat: Index  # [nodes] who acts: 0, 1, CHANCE or TERMINAL
    set: Index  # [nodes] the information set of who acts, or NONE
    parent: Index  # [edges]
    child: Index  # [edges]
    action: Index  # [edges] 0 for moves of chance
    chance: Real  # [edges] probability of a move of chance, else 1
    reward: Real  # [edges] to seat 0; seat 1 gets its opposite
    edge_levels: Index  # [levels + 1] where the edges from the positions of each level begin
    set_levels: Index  # [levels + 1] where the sets of each level begin
    sets: InformationSets

    @property
    def size(self) -> int:
        """How many positions there are."""
        return len(self.seat)

    @property
    def rounds(self) -> int:
        """How often seat 0 acts in a repeated game, which pays along the way; 1 if a game pays only at its end."""
        early = (self.reward != 0) & (self.seat[self.child] != TERMINAL)
        if not early.any():
            return 1
        return len(np.unique(np.searchsorted(self.set_levels, np.flatnonzero(self.sets.seat == 0), side="right")))


class TreeBuilder:
    """Collects positions one by one, level by level.

    root = tree.node(CHANCE, NONE)
    tree.close_level()
    tree.edge(root, tree.node(0, tree.set_of(key, ...)), action=3, chance=0.5)      # and so on for all of the level
    tree.close_level()
    """

    def __init__(self, name: str, limit: int) -> None:
        self._name, self._limit = name, limit
        self._nodes: list[tuple[int, int]] = []  # seat and set
        self._edges: list[tuple[int, int, int, float, float]] = []
        self._sets: dict[tuple[int, str], int] = {}
        self._rows: list[tuple[int, int, int, int]] = []  # seat, turn, before and its action
        self._seen: list[npt.NDArray[Any]] = []
        self._masks: list[npt.NDArray[np.bool_]] = []
        self._edge_levels: list[int] = []
        self._set_levels = [0]

    def node(self, seat: int, set: int) -> int:
        """Add a position to the next level."""
        if len(self._nodes) >= self._limit:
            raise TooLargeError(self._name, f"more than {self._limit:,}", self._limit)
        self._nodes.append((seat, set))
        return len(self._nodes) - 1

    def edge(self, parent: int, child: int, action: int, chance: float = 1.0, reward: float = 0.0) -> None:
        """Add a move from a position of the last closed level; parents come in order."""
        self._edges.append((parent, child, action, chance, reward))

    def find_set(self, seat: int, key: str, before: tuple[int, int]) -> int | None:
        """Return the information set with this key; None if it is new."""
        found = self._sets.get((seat, key))
        if found is None:
            return None
        if found < self._set_levels[-1]:
            raise EnumerationError(
                f"{self._name}: a player does not know how many moves were made ({key!r}), and such games are not "
                "enumerated. Train a best response instead: ludus probe"
            )
        if self._rows[found][2:] != before:
            raise EnumerationError(
                f"{self._name}: a player forgets what it knew or did ({key!r}), so a best response has no exact value "
                "by this method. Train one instead: ludus probe"
            )
        return found

    def add_set(
        self, seat: int, key: str, before: tuple[int, int], seen: npt.NDArray[Any], mask: npt.NDArray[np.bool_]
    ) -> int:
        """Add an information set of the next level; `before` is the seat's last set and its action there."""
        turn = 0 if before[0] == NONE else self._rows[before[0]][1] + 1
        self._sets[seat, key] = len(self._rows)
        self._rows.append((seat, turn, *before))
        self._seen.append(seen)
        self._masks.append(mask)
        return len(self._rows) - 1

    def close_level(self) -> None:
        """Begin the next level."""
        self._edge_levels.append(len(self._edges))
        self._set_levels.append(len(self._rows))

    def build(self, merged: bool = False) -> GameTree:
        """Return the tree; all levels are closed. If positions were merged, sets have no unique predecessor."""
        seat, turn, before, before_action = np.array(self._rows, np.intp).reshape(-1, 4).T.copy()
        nodes = np.array(self._nodes, np.intp).T.copy()
        edges = np.array([edge[:3] for edge in self._edges], np.intp).reshape(-1, 3).T.copy()
        chance, reward = np.array([edge[3:] for edge in self._edges]).reshape(-1, 2).T.copy()
        sets = InformationSets(
            observation=np.stack(self._seen),
            mask=np.stack(self._masks),
            seat=seat,
            turn=turn,
            before=None if merged else before,
            before_action=None if merged else before_action,
            names=tuple(key for _, key in self._sets),
        )
        return GameTree(
            name=self._name,
            seat=nodes[0],
            set=nodes[1],
            parent=edges[0],
            child=edges[1],
            action=edges[2],
            chance=chance,
            reward=reward,
            edge_levels=np.array(self._edge_levels, np.intp),
            set_levels=np.array(self._set_levels, np.intp),
            sets=sets,
        )
