"""Pgx's shogi move by move beside OpenSpiel's: positions, legal moves, results and ends are the same."""

import re

import jax
import numpy as np
import pyspiel
import pytest
from driving import begin
from pgx._src.games.shogi import Action, GameState
from pgx.experimental.shogi import to_sfen
from pgx.shogi import State

from collectors.envs.adapters.pgx import make

SLOTS, LIMIT = 6, 512
NUMBER, TURN, BOARD, HAND = 3, 4, 5, 6  # in the state of Pgx, without what rows show
DROPS = "PLNSBRG"


@jax.jit
def read_moves(game, actions):
    """Return what Pgx takes the numbers of actions for."""
    return jax.vmap(Action._from_dlshogi_action, in_axes=(None, 0))(game, actions)


def game_of(env, slot):
    number, turn, board, hand = (
        np.asarray(env._batch.parts[0][0].state[one])[slot] for one in (NUMBER, TURN, BOARD, HAND)
    )
    return GameState(step_count=number, color=turn, board=board, hand=hand)


def moves_of(game, actions):
    """Return the number of each action by the move that it stands for, as shogi engines write moves."""
    read = jax.tree.map(np.asarray, read_moves(game, np.pad(actions, (0, 600 - len(actions)))))
    found = {}
    for place, action in enumerate(actions):
        start, end = _square(read.from_[place], game.color), _square(read.to[place], game.color)
        kind = f"{DROPS[read.piece[place]]}*" if read.is_drop[place] else start
        found[f"{kind}{end}{'+' if read.is_promotion[place] else ''}"] = int(action)
    assert len(found) == len(actions)
    return found


def _square(square, turn):
    """Return the name of a square; Pgx turns the board around for the second player."""
    column, line = divmod(80 - square if turn else square, 9)
    return f"{column + 1}{'abcdefghi'[line]}"


def _position(sfen):
    """Return the board, whose turn it is, and how many pieces of each kind are in hand."""
    board, turn, hand, _ = sfen.split()
    return board, turn, {piece: int(number or 1) for number, piece in re.findall(r"(\d*)([A-Za-z])", hand)}


def _only_openspiel_ends(state):
    """Return whether OpenSpiel may call this the end, which Pgx does not: a fourth repetition, or a king that came in.

    >>> _only_openspiel_ends(pyspiel.load_game("shogi").new_initial_state())
    False
    """
    lines = str(state).split()[0].split("/")
    return state.is_repetition_end() or "K" in "".join(lines[:3]) or "k" in "".join(lines[6:])


def _choose(rng, state, moves):
    """Return a random move after which the rules are the same."""
    for move in rng.permutation(sorted(moves)):
        if not _only_openspiel_ends(state.child(state.parse_move_to_action(str(move)))):
            return str(move)
    raise AssertionError(f"every move leads to a position with other rules: {state}")


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_shogi_is_openspiels_where_no_king_comes_in():
    env, game, rng = begin(make(SLOTS, "shogi"), *range(SLOTS)), pyspiel.load_game("shogi"), np.random.default_rng(4)
    states, mates = [game.new_initial_state() for _ in range(SLOTS)], 0
    while mates < 6:
        rows, chosen = env.rows(), []
        for slot, state in enumerate(states):
            assert rows.agent[slot] == state.current_player()
            inside = game_of(env, slot)
            assert _position(to_sfen(State(_x=inside))) == _position(str(state))
            moves = moves_of(inside, np.flatnonzero(rows.mask[slot]))
            assert sorted(moves) == sorted(state.action_to_string(action) for action in state.legal_actions())
            move = _choose(rng, state, moves)
            chosen.append(moves[move])
            state.apply_action(state.parse_move_to_action(move))
        ends = env.step(np.array(chosen))
        for slot, state in enumerate(states):
            assert (slot in ends.over) == (state.is_terminal() or state.move_number() == LIMIT)
        for slot in ends.over:
            assert ends.reward[ends.slot == slot].tolist() == states[slot].returns()
            mates += states[slot].is_terminal()
            states[slot] = game.new_initial_state()
        env.start(ends.over, np.arange(len(ends.over)))
