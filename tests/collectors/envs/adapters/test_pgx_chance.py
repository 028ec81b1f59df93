"""Games of Pgx with cards or random tiles beside OpenSpiel's, which is dealt the same."""

import jax
import numpy as np
import pgx
import pyspiel
import pytest
from driving import begin

from collectors.envs.adapters.pgx import make
from collectors.envs.adapters.pgx_program import World

SLOTS = 4
pytestmark = pytest.mark.slow


class Beside:
    """A game of Pgx, with a game of OpenSpiel in each slot; both get the same moves, by chance and by agents."""

    def __init__(self, id, game):
        self.env, self.game = begin(make(SLOTS, id), *range(SLOTS)), pyspiel.load_game(game)
        self.rng, self.ended, self.states = np.random.default_rng(7), 0, {}
        shape = jax.eval_shape(pgx.make(id).init, jax.ShapeDtypeStruct((2,), np.uint32))
        names = [path[0].name for path, _ in jax.tree_util.tree_flatten_with_path(shape)[0]]
        self._places = [name for name in names if name not in World.LEFT_OUT]

    def inside(self, name, slot):
        """Return what Pgx knows of a slot, and agents may not."""
        return np.asarray(self.env._batch.parts[0][0].state[self._places.index(name)])[slot]

    def by_agent(self, name, slot):
        """Return what Pgx has for each of its players, of whom either may be agent 0."""
        return np.roll(self.inside(name, slot), -int(np.asarray(self.env._batch.parts[0][0].first)[slot]))

    def move(self, actions):
        """Make the moves in Pgx; return the return of both agents in the slots where a game ended, and begin there."""
        ends = self.env.step(np.array(actions))
        returns = {int(slot): [0.0, 0.0] for slot in ends.over}
        for slot, agent, reward in zip(ends.slot, ends.agent, ends.reward, strict=True):
            returns[int(slot)][agent] = float(reward)
        for one in ends.idle:
            returns[one.slot][one.agent] = one.reward
        over = [slot for slot, state in self.states.items() if state.is_terminal()]
        assert sorted(returns) == sorted(over)
        for slot in over:
            assert returns[slot] == self.states.pop(slot).returns()
        self.ended += len(over)
        self.env.start(ends.over, 100 + self.ended + np.arange(len(ends.over)))


def test_kuhn_poker_is_openspiels():
    """Bet and pass have other numbers, and Pgx does not show who began: a pass leaves what was there before."""
    both = Beside("kuhn_poker", "kuhn_poker")
    while both.ended < 100:
        rows = both.env.rows()
        for slot in range(SLOTS):
            if slot not in both.states:
                both.states[slot] = both.game.new_initial_state()
                for card in both.by_agent("_cards", slot):
                    both.states[slot].apply_action(int(card))
            state, agent = both.states[slot], int(rows.agent[slot])
            assert agent == state.current_player()
            assert rows.mask[slot].all()
            seen, shown = rows.observation[slot], np.array(state.observation_tensor(agent))
            np.testing.assert_array_equal(seen[:3], shown[2:5])
            assert [seen[3:5].argmax(), seen[5:7].argmax()] == [shown[5 + agent] - 1, shown[6 - agent] - 1]
        actions = both.rng.integers(2, size=SLOTS)
        for slot, action in enumerate(actions):
            both.states[slot].apply_action(1 - int(action))
        both.move(actions)


def test_leduc_holdem_is_openspiels():
    """PettingZoo's has blinds of 1 and 2 instead of an ante, and pays half: there the stakes are others."""
    both = Beside("leduc_holdem", "leduc_poker")
    names = {0: 1, 1: 2, 2: 0}  # call, raise, fold
    while both.ended < 100:
        rows = both.env.rows()
        for slot in range(SLOTS):
            ranks = _dealt(both, slot)
            if slot not in both.states:
                both.states[slot] = both.game.new_initial_state()
            state = both.states[slot]
            while state.is_chance_node():
                rank = ranks[state.move_number() if state.move_number() < 2 else 2]
                state.apply_action(next(card for card, _ in state.chance_outcomes() if card // 2 == rank))
            agent = int(rows.agent[slot])
            assert agent == state.current_player()
            assert sorted(names[action] for action in np.flatnonzero(rows.mask[slot])) == state.legal_actions()
            chips = rows.observation[slot][6:].reshape(2, 14).argmax(axis=1)
            np.testing.assert_array_equal(chips, np.roll(state.observation_tensor(agent)[-2:], -agent))
        actions = [both.rng.choice(np.flatnonzero(mask)) for mask in rows.mask]
        for slot, action in enumerate(actions):
            both.states[slot].apply_action(names[int(action)])
        both.move(actions)


def _dealt(both, slot):
    """Return the ranks of agent 0, agent 1 and the public card."""
    cards, first = both.inside("_cards", slot), int(np.asarray(both.env._batch.parts[0][0].first)[slot])
    return [int(cards[first]), int(cards[1 - first]), int(cards[2])]


def test_2048_is_openspiels_apart_from_moves_that_openspiel_forgets():
    """OpenSpiel omits moves whose only effect is to merge into a tile that the last move merged, but can make them."""
    both, forgotten, paid = Beside("2048", "2048"), 0, np.zeros(SLOTS)
    names = {0: 3, 1: 0, 2: 1, 3: 2}  # left, up, right, down
    while both.ended < 8:
        rows = both.env.rows()
        paid = np.where(rows.first, 0, paid + rows.reward)
        for slot in range(SLOTS):
            state = both.states.setdefault(slot, both.game.new_initial_state())
            _add_tiles(state, both.inside("_board", slot))
            np.testing.assert_array_equal(rows.observation[slot].argmax(-1), _exponents(state).reshape(4, 4))
            assert state.returns() == [paid[slot]]
            may = sorted(names[action] for action in np.flatnonzero(rows.mask[slot]))
            assert may == [action for action in range(4) if state.child(action).is_chance_node()]  # something moved
            assert set(may) >= set(state.legal_actions())
            forgotten += len(may) - len(state.legal_actions())
        actions = [both.rng.choice(np.flatnonzero(mask)) for mask in rows.mask]
        for slot, action in enumerate(actions):
            both.states[slot].apply_action(names[int(action)])
        ends = both.env.step(np.array(actions))
        for slot, reward in zip(ends.over, ends.reward, strict=True):
            state = both.states.pop(int(slot))
            _add_tiles(state, both.inside("_board", slot))
            assert state.is_terminal()
            assert state.returns() == [paid[slot] + reward]
        both.ended += len(ends.over)
        both.env.start(ends.over, 100 + both.ended + np.arange(len(ends.over)))
    assert forgotten > 0


def _exponents(state):
    """Return which power of two each tile is, and 0 where there is none."""
    tiles = np.array(str(state).split(), int)
    return np.log2(np.maximum(tiles, 1)).astype(int)


def _add_tiles(state, board):
    """Give OpenSpiel the tiles that appeared in Pgx."""
    for place in np.flatnonzero(_exponents(state) != board):
        assert state.is_chance_node()
        state.apply_action(int(2 * place + board[place] - 1))
    assert not state.is_chance_node()
    np.testing.assert_array_equal(_exponents(state), board)
