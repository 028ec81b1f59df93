"""A game in arrays as a tree, by playing it: for environments without chance whose rows show the whole position.

tree = enumerate_positions(lambda slots: RockPaperScissors(slots), merge=True)

All positions after a number of ticks are played at once, each from the start in a slot of its own. With `merge`,
positions of one tick with the same rows are one: fifteen rounds of rock-paper-scissors have 127 of them, instead of
more than 9^14. That is exact for players who decide by what they see now. Players with a memory, and mixtures, depend
on the whole episode and need `merge=False`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.game_tree import (
    NONE,
    TERMINAL,
    EnumerationError,
    GameTree,
    TooLargeError,
    TreeBuilder,
    refuse_far_beyond,
)
from collectors.envs.rows import Environment, Rows, ShowsPositions

POSITIONS = 100_000  # a limit below that of histories: each of them is played
PLAYOUTS = 64  # that estimate the size of a game before it is enumerated
BALANCE = 1e-6  # by which the rewards of a zero-sum game may miss zero
NOBODY = ((NONE, NONE), (NONE, NONE))

Make = Callable[[int], Environment]
Last = tuple[tuple[int, int], ...]  # of each seat: its last information set, and its action there
Joint = tuple[int, int]  # an action of each seat; 0 if it does not act


@dataclass(frozen=True, slots=True)
class Stand:
    """A position where the game goes on: how it is reached, who acts, and what they see."""

    path: tuple[Joint, ...]
    seats: tuple[int, ...]
    seen: tuple[npt.NDArray[Any], ...]  # by those who act
    masks: tuple[npt.NDArray[np.bool_], ...]

    @property
    def key(self) -> str:
        """What is the same in positions that continue alike."""
        return f"{self.seats}/" + "/".join(array.tobytes().hex() for array in (*self.seen, *self.masks))


@dataclass(frozen=True, slots=True)
class _Branch:
    """A position in the tree, or the moment in it when the first of two agents has acted."""

    node: int
    set: int
    stand: Stand
    joint: Joint
    last: Last


def shows_positions(env: Environment) -> bool:
    """Return whether an environment has no chance, and rows that show the whole position to who acts."""
    return isinstance(env, ShowsPositions) and env.shows_positions


def enumerate_positions(make: Make, *, merge: bool, ticks: int | None = None, limit: int = POSITIONS) -> GameTree:
    """Return the tree of an environment that `shows_positions`; `ticks`: of its first ticks and what they pay."""
    stands, _ = played(make, [()])
    (root,) = stands
    assert root is not None  # a game has a first move
    name = make(1).spec.name
    if not merge:
        refuse_far_beyond(name, estimated_histories(make, ticks), limit)
    return _Expansion(make, TreeBuilder(name, limit), merge, ticks, (name, limit)).tree(root)


def estimated_histories(make: Make, ticks: int | None = None) -> float:
    """Return about how many histories a game has: the products of choices along random ones (Knuth 1975)."""
    env, rng, tick = make(PLAYOUTS), np.random.default_rng(0), 0
    env.start(np.arange(PLAYOUTS), np.zeros(PLAYOUTS, np.int64))
    product, total = np.ones(PLAYOUTS), np.ones(PLAYOUTS)
    with np.errstate(over="ignore"):
        while len(rows := env.rows()) and tick != ticks:
            np.multiply.at(product, rows.slot, rows.mask.sum(axis=1))
            playing = np.unique(rows.slot)
            total[playing] += product[playing]
            actions = np.where(rows.mask, rng.random(rows.mask.shape), -1.0).argmax(axis=1)
            env.step(actions.astype(np.int32))
            tick += 1
    return float(total.mean())


class _Expansion:
    """Expands a game tick by tick."""

    def __init__(
        self, make: Make, builder: TreeBuilder, merge: bool, ticks: int | None, bound: tuple[str, int]
    ) -> None:
        self._make, self._builder, self._merge, self._ticks, self._bound = make, builder, merge, ticks, bound

    def tree(self, root: Stand) -> GameTree:
        """Return the whole tree."""
        level = [self._branch(root, (0, 0), NOBODY, 0)]
        while level:
            self._builder.close_level()
            two = len(level[0].stand.seats) == 2
            if two:  # the other agent acts next, without knowing this action
                level = [self._second(*move) for branch in level for move in self._moves(branch, 0)]
                self._builder.close_level()
            moves = [(branch, *move[1:]) for branch in level for move in self._moves(branch, int(two))]
            level = self._follow(moves)
        self._builder.close_level()
        return self._builder.build(merged=self._merge)

    def _moves(self, branch: _Branch, number: int) -> Iterator[tuple[_Branch, int, Joint, Last]]:
        """Yield the actions of the agent with this number among those who act, with what is known after them."""
        seat, stand = branch.stand.seats[number], branch.stand
        for action in np.flatnonzero(stand.masks[number]).tolist():
            joint = (action, branch.joint[1]) if seat == 0 else (branch.joint[0], action)
            last = tuple((branch.set, action) if who == seat else branch.last[who] for who in (0, 1))
            yield branch, action, joint, branch.last if self._merge else last

    def _second(self, branch: _Branch, action: int, joint: Joint, last: Last) -> _Branch:
        """Add the moment when the first of two agents has acted."""
        child = self._branch(branch.stand, joint, last, 1)
        self._builder.edge(branch.node, child.node, action)
        return child

    def _branch(self, stand: Stand, joint: Joint, last: Last, number: int) -> _Branch:
        seat = stand.seats[number]
        key = stand.key if self._merge else f"{stand.path}"
        set_ = self._builder.find_set(seat, f"{len(stand.path)}/{key}", last[seat])
        if set_ is None:
            seen, mask = stand.seen[number], stand.masks[number]
            set_ = self._builder.add_set(seat, f"{len(stand.path)}/{key}", last[seat], seen, mask)
        return _Branch(self._builder.node(seat, set_), set_, stand, joint, last)

    def _follow(self, moves: Sequence[tuple[_Branch, int, Joint, Last]]) -> list[_Branch]:
        """Play the actions of a tick, and add where they lead."""
        name, limit = self._bound
        if len(moves) > limit:
            raise TooLargeError(name, f"more than {limit:,}", limit)
        stands, rewards = played(self._make, [(*branch.stand.path, joint) for branch, _, joint, _ in moves])
        known: dict[str, _Branch] = {}
        for (branch, action, _, last), stand, reward in zip(moves, stands, rewards, strict=True):
            over = stand is None or len(stand.path) == self._ticks
            if over or stand is None:
                child = self._builder.node(TERMINAL, NONE)
            else:
                key = stand.key if self._merge else f"{stand.path}"
                if key not in known:
                    known[key] = self._branch(stand, (0, 0), last, 0)
                child = known[key].node
            self._builder.edge(branch.node, child, action, reward=reward)
        return list(known.values())


def played(make: Make, paths: Sequence[tuple[Joint, ...]]) -> tuple[list[Stand | None], list[float]]:
    """Play paths of the same length, each in a slot; return where they lead, and what the last tick paid to seat 0."""
    env, number = make(len(paths)), len(paths)
    env.start(np.arange(number), np.zeros(number, np.int64))
    rewards = np.zeros((number, 2))
    for joints in np.array(paths, np.intp).reshape(number, -1, 2).swapaxes(0, 1):
        rows = env.rows()
        ends = env.step(joints[rows.slot, rows.agent].astype(np.int32))
        rewards[:] = 0
        np.add.at(rewards, (ends.slot, ends.agent), ends.reward)
    rows = env.rows()
    np.add.at(rewards, (rows.slot, rows.agent), rows.reward)
    if (abs(rewards.sum(axis=1)) > BALANCE).any():
        raise EnumerationError(
            f"{env.spec.name} is not zero-sum, so it has no NashConv. Train a best response instead: ludus probe"
        )
    return _stands(rows, paths), rewards[:, 0].tolist()


def _stands(rows: Rows, paths: Sequence[tuple[Joint, ...]]) -> list[Stand | None]:
    """Return the position of each slot; None where the episode is over."""
    mine: list[list[int]] = [[] for _ in paths]
    for row, slot in enumerate(rows.slot.tolist()):
        mine[slot].append(row)
    return [
        Stand(
            path,
            tuple(rows.agent[found].tolist()),
            tuple(rows.observation[row] for row in found),
            tuple(rows.mask[row] for row in found),
        )
        if found
        else None
        for path, found in zip(paths, mine, strict=True)
    ]
