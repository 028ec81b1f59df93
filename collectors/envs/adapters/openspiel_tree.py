"""An OpenSpiel game as a tree: every history, with the observations and masks that its adapter gives to collectors.

tree = enumerate_openspiel(builder("kuhn_poker")())
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyspiel

from collectors.envs.adapters.openspiel import LoadedGame, reader, sample_chance
from collectors.envs.game_tree import (
    CHANCE,
    LIMIT,
    NONE,
    TERMINAL,
    EnumerationError,
    GameTree,
    TreeBuilder,
    refuse_far_beyond,
)

PLAYOUTS = 32  # that estimate the size of a game before it is enumerated
BALANCE = 1e-6  # by which the returns of a zero-sum game may miss zero
NOBODY = (NONE, NONE)


Last = tuple[tuple[int, int], ...]  # of each seat: its last information set, and its action there


@dataclass(frozen=True, slots=True)
class Point:
    """A position that is to be expanded: a state, and what those who act at this moment chose before."""

    node: int
    set: int
    state: Any
    chosen: tuple[int, ...]
    last: Last


def enumerate_openspiel(spiel: LoadedGame, limit: int = LIMIT) -> GameTree:
    """Return the tree of a two-player zero-sum game; raise EnumerationError if that is impossible."""
    about = spiel.game.get_type()
    name = about.short_name
    if spiel.game.num_players() != 2 or about.utility != pyspiel.GameType.Utility.ZERO_SUM:
        raise EnumerationError(
            f"{name} is not a zero-sum game of two players, so it has no NashConv. Train a best response instead: "
            "ludus probe"
        )
    if not about.provides_information_state_string:
        raise EnumerationError(f"{name} does not say what players know. Train a best response instead: ludus probe")
    refuse_far_beyond(name, estimated_size(spiel), limit)
    return _Enumeration(spiel, TreeBuilder(name, limit)).tree()


def estimated_size(spiel: LoadedGame) -> float:
    """Return about how many histories a game has: the products of choices along random ones (Knuth 1975)."""
    rng, total = np.random.default_rng(0), 0.0
    with np.errstate(over="ignore"):
        for _ in range(PLAYOUTS):
            state, product = spiel.game.new_initial_state(), np.float64(1)
            while not state.is_terminal():
                total += float(product)
                product *= _move_at_random(state, rng)
            total += float(product)
    return total / PLAYOUTS


def _move_at_random(state: Any, rng: np.random.Generator) -> int:
    """Make one move, all with the same probability; return how many there were."""
    if state.is_simultaneous_node():
        options = [state.legal_actions(player) or [0] for player in range(state.num_players())]
        state.apply_actions([int(rng.choice(legal)) for legal in options])
        return int(np.prod([len(legal) for legal in options]))
    if state.is_chance_node():
        moves = len(state.chance_outcomes())
        state.apply_action(sample_chance(state, rng))
        return moves
    legal = state.legal_actions()
    state.apply_action(int(rng.choice(legal)))
    return len(legal)


class _Enumeration:
    """Expands a game level by level."""

    def __init__(self, spiel: LoadedGame, builder: TreeBuilder) -> None:
        self._spiel, self._builder = spiel, builder
        self._readers = [reader(spiel, player) for player in range(2)]

    def tree(self) -> GameTree:
        """Return the whole tree."""
        level = [self._point(self._spiel.game.new_initial_state(), (), (NOBODY, NOBODY))]
        while level:
            self._builder.close_level()
            level = [child for point in level for child in self._expand(point)]
        self._builder.close_level()
        return self._builder.build()

    def _expand(self, point: Point) -> Iterator[Point]:
        """Add the children of a position, and yield those where the game goes on."""
        for action, chance, state, chosen, last in self._moves(point):
            child = self._point(state, chosen, last)
            over = state.is_terminal()
            self._builder.edge(point.node, child.node, action, chance, self._paid(state) if over else 0.0)
            if not over:
                yield child

    def _moves(self, point: Point) -> Iterator[tuple[int, float, Any, tuple[int, ...], Last]]:
        """Yield each action of whoever acts, its probability by chance, and what follows."""
        state = point.state
        if state.is_chance_node():
            for action, chance in state.chance_outcomes():
                yield 0, chance, state.child(action), (), point.last
            return
        acting = movers(state)
        player = acting[len(point.chosen)]
        for action in state.legal_actions(player):
            last = tuple((point.set, action) if seat == player else point.last[seat] for seat in range(2))
            chosen = (*point.chosen, action)
            whole = len(chosen) == len(acting)
            yield action, 1.0, _after(state, acting, chosen) if whole else state, () if whole else chosen, last

    def _point(self, state: Any, chosen: tuple[int, ...], last: Last) -> Point:
        """Add a position."""
        seat, set_ = TERMINAL if state.is_terminal() else CHANCE, NONE
        if not state.is_terminal() and not state.is_chance_node():
            seat = movers(state)[len(chosen)]
            set_ = self._set(state, seat, last[seat])
        return Point(self._builder.node(seat, set_), set_, state, chosen, last)

    def _paid(self, state: Any) -> float:
        """Return what a whole game paid to seat 0."""
        first, second = state.returns()
        if abs(first + second) > BALANCE:
            raise EnumerationError(
                f"{self._spiel.game}: the returns of an episode are {first} and {second}, not zero-sum"
            )
        return float(first)

    def _set(self, state: Any, player: int, before: tuple[int, int]) -> int:
        """Return the information set of who acts, with what its network sees if it is new."""
        key = state.information_state_string(player)
        found = self._builder.find_set(player, key, before)
        if found is not None:
            return found
        seen = np.zeros(self._spiel.board, np.float32)
        mask = np.zeros(self._spiel.game.num_distinct_actions(), np.bool_)
        self._readers[player](state, {}, seen, mask)
        return self._builder.add_set(player, key, before, seen, mask)


def movers(state: Any) -> list[int]:
    """Return the players that act at a state."""
    if not state.is_simultaneous_node():
        return [state.current_player()]
    return [player for player in range(state.num_players()) if state.legal_actions(player)]


def _after(state: Any, acting: list[int], chosen: tuple[int, ...]) -> Any:
    """Return the state after everybody's action."""
    if not state.is_simultaneous_node():
        return state.child(chosen[0])
    joint = [0] * state.num_players()  # of players that have nothing to choose, too
    for player, action in zip(acting, chosen, strict=True):
        joint[player] = action
    child = state.clone()
    child.apply_actions(joint)
    return child
