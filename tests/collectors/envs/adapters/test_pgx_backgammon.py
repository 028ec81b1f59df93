"""Pgx's backgammon beside OpenSpiel's with the same dice: two moves of a checker in Pgx are one move in OpenSpiel."""

from dataclasses import dataclass

import jax
import numpy as np
import pgx.backgammon as rules
import pyspiel
import pytest
from driving import begin

from collectors.envs.adapters.pgx import make

SLOTS, ACTIONS, PASS = 6, 156, 0
BOARD, DICE, LEFT, PLAYED = 2, 3, 4, 5  # in the state of Pgx, without what rows show
OWN_OFF, ALL = 26, 15


@dataclass(frozen=True)
class Turn:
    """The board as the mover sees it, and the dice."""

    board: tuple[int, ...]
    dice: tuple[int, ...]
    left: tuple[int, ...]  # dice to play, -1 for those that are played
    played: int


@dataclass(frozen=True)
class Line:
    """Up to two moves of a checker in Pgx, and where they lead."""

    actions: tuple[int, ...]
    turn: Turn

    @property
    def ends_turn(self):
        return self.turn.board[OWN_OFF] == ALL or set(self.turn.left) == {-1}

    @property
    def highest(self):
        return max((action % 6 for action in self.actions), default=-1)


@jax.jit
def look(board, dice, left, played):
    """Return which actions are legal, and the board and the dice after each."""

    def after(action):
        return rules._move(board, action), rules._update_playable_dice(left, played, dice, action)

    return rules._legal_action_mask(board, left), *jax.vmap(after)(np.arange(ACTIONS))


def followers(turn):
    """Return what may follow for the same player, by action; nothing if no checker can move."""
    arrays = [np.array(one, np.int32) for one in (turn.board, turn.dice, turn.left, turn.played)]
    legal, boards, left = (np.asarray(one) for one in look(*arrays))
    if legal[PASS]:
        return {}
    return {
        int(action): Turn(tuple(boards[action].tolist()), turn.dice, tuple(left[action].tolist()), turn.played + 1)
        for action in np.flatnonzero(legal)
    }


def lines(turn):
    """Return all that Pgx allows in up to two moves."""
    found = []
    for action, one in followers(turn).items():
        first = Line((action,), one)
        further = {} if first.ends_turn else followers(one)
        found += [Line((action, second), two) for second, two in further.items()] or [first]
    return found or [Line((), turn)]


def lawful(found):
    """Return the lines that use as many dice as possible, and if that is one, the higher."""
    most = max(len(line.actions) for line in found)
    found = [line for line in found if len(line.actions) == most]
    if most == 1:
        found = [line for line in found if line.highest == max(line.highest for line in found)]
    return found


def shown(state, player):
    """Return the board of OpenSpiel as a player sees it, in the order of Pgx."""
    seen = np.array(state.observation_tensor(player), int)
    counts = seen[:192].reshape(2, 24, 4) @ [1, 2, 3, 1] + 3 * (seen[:192].reshape(2, 24, 4)[..., 3] > 0)
    if player == 1:
        counts = counts[:, ::-1]
    own_bar, own_off, other_bar, other_off = seen[[192, 193, 195, 196]]
    return (*(counts[0] - counts[1]).tolist(), int(own_bar), -int(other_bar), int(own_off), -int(other_off))


def roll(state, dice):
    """Give OpenSpiel the dice of Pgx; the first player is X."""
    low, high = sorted(die + 1 for die in dice)
    wanted = f"X starts, (roll: {low}{high})" if state.move_number() == 0 else f" (roll: {low}{high})"
    names = {state.action_to_string(action): action for action, _ in state.chance_outcomes()}
    (found,) = [action for name, action in names.items() if wanted in name]
    state.apply_action(found)


class Beside:
    """A game of Pgx, with one of OpenSpiel in each slot, and the moves that Pgx has yet to make there."""

    def __init__(self):
        self.env = begin(make(SLOTS, "backgammon"), *range(SLOTS))
        self.game = pyspiel.load_game("backgammon(scoring_type=full_scoring)")
        self.rng, self.queues = np.random.default_rng(11), [[] for _ in range(SLOTS)]
        self.states = [self.game.new_initial_state() for _ in range(SLOTS)]
        self.ended, self.loose = 0, 0  # games, and turns in which Pgx lets one leave dice unused

    def turn(self, slot):
        """Return what Pgx knows of a slot."""
        state = self.env._batch.parts[0][0].state
        board, dice, left = (tuple(np.asarray(state[one])[slot].tolist()) for one in (BOARD, DICE, LEFT))
        return Turn(board, dice, left, int(np.asarray(state[PLAYED])[slot]))

    def compare(self, slot, agent):
        """Compare where legal moves lead, and choose one."""
        turn, state = self.turn(slot), self.states[slot]
        if state.is_chance_node():
            roll(state, turn.dice)
        assert agent == state.current_player()
        assert shown(state, agent) == turn.board
        allowed = lines(turn)
        to = {line.turn.board: line for line in lawful(allowed)}
        theirs = {shown(state.child(action), agent): action for action in state.legal_actions()}
        assert set(to) == set(theirs)
        self.loose += {line.turn.board for line in allowed} != set(to)
        board = list(to)[self.rng.integers(len(to))]
        state.apply_action(theirs[board])
        line = to[board]
        short = len(line.actions) < 2 and not line.ends_turn
        self.queues[slot] = [*line.actions, PASS] if short else list(line.actions)

    def tick(self):
        """Move a checker in every slot; compare ends and results."""
        rows = self.env.rows()
        for slot in range(SLOTS):
            if not self.queues[slot]:
                self.compare(slot, int(rows.agent[slot]))
        actions = [queue.pop(0) for queue in self.queues]
        assert rows.mask[np.arange(SLOTS), actions].all()
        ends = self.env.step(np.array(actions))
        over = [slot for slot in range(SLOTS) if self.states[slot].is_terminal() and not self.queues[slot]]
        assert ends.over.tolist() == over
        for slot in over:
            assert ends.reward[ends.slot == slot].tolist() == self.states[slot].returns()
            self.states[slot] = self.game.new_initial_state()
        self.ended += len(over)
        self.env.start(ends.over, 1000 + self.ended + np.arange(len(ends.over)))


@pytest.mark.slow
def test_backgammon_is_openspiels_apart_from_dice_left_unused():
    """The rules demand to use as many dice as possible, and if that is one, the higher; Pgx does not."""
    both = Beside()
    while both.ended < 12 or both.loose < 3:
        both.tick()
