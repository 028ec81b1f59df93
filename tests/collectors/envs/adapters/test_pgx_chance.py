"""Games of Pgx with cards, dice or tiles beside OpenSpiel's, which is dealt the same, and shogi beside OpenSpiel's."""

import re

import jax
import numpy as np
import pgx
import pyspiel
import pytest
from driving import begin

from collectors.envs.adapters.pgx import keys_of, make
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
        return np.asarray(self.env._worlds.state[self._places.index(name)])[slot]

    def by_agent(self, name, slot):
        """Return what Pgx has for each of its players, of whom either may be agent 0."""
        return np.roll(self.inside(name, slot), -int(np.asarray(self.env._worlds.first)[slot]))

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
    cards, first = both.inside("_cards", slot), int(np.asarray(both.env._worlds.first)[slot])
    return [int(cards[first]), int(cards[1 - first]), int(cards[2])]


def test_2048_is_openspiels():
    """OpenSpiel's would end with the tile 2048, which random play does not reach."""
    both = Beside("2048", "2048")
    directions = [3, 0, 1, 2]  # of Pgx: left, up, right, down
    returns = np.zeros(SLOTS)
    while both.ended < 8:
        rows = both.env.rows()
        returns += rows.reward
        returns[rows.first] = 0
        for slot in range(SLOTS):
            board = both.inside("_board", slot)
            state = both.states.setdefault(slot, both.game.new_initial_state())
            while state.is_chance_node():
                _add_tile(state, board)
            np.testing.assert_array_equal(np.where(board > 0, 2**board, 0), state.observation_tensor(0))
            assert sorted(directions[action] for action in np.flatnonzero(rows.mask[slot])) == state.legal_actions()
            assert returns[slot] == state.returns()[0]
        actions = [both.rng.choice(np.flatnonzero(mask)) for mask in rows.mask]
        for slot, action in enumerate(actions):
            both.states[slot].apply_action(directions[action])
        ends = both.env.step(np.array(actions))
        for slot in ends.over:
            state = both.states.pop(int(slot))
            paid = [float(ends.reward[ends.slot == slot][0]) + returns[slot]]
            _add_tile(state, both.inside("_board", slot))
            assert state.is_terminal()
            assert paid == state.returns()
        both.ended += len(ends.over)
        both.env.start(ends.over, 100 + both.ended + np.arange(len(ends.over)))


def _add_tile(state, board):
    """Put a tile where Pgx has put it."""
    had = np.array(state.observation_tensor(0))
    cell = int(np.flatnonzero((board > 0) & (had == 0))[0])
    state.apply_action(2 * cell + int(board[cell] == 2))


class Backgammon(Beside):
    """Pgx moves one checker after the other, OpenSpiel two at once: a slot has moves that Pgx has not made yet."""

    BAR, PASS, NO_MOVE = 100, -1, 6  # the positions of OpenSpiel; the actions of Pgx below 6 move nothing

    def __init__(self):
        super().__init__("backgammon", "backgammon(scoring_type=full_scoring)")
        self.pending = {slot: [] for slot in range(SLOTS)}
        self.wasteful = 0

    def roll(self, slot):
        """Give OpenSpiel the dice of Pgx; agent 0 is X, and begins."""
        state = self.states.setdefault(slot, self.game.new_initial_state())
        if state.is_chance_node():
            low, high = sorted(self.inside("_dice", slot) + 1)
            rolls = {state.action_to_string(-1, one): one for one, _ in state.chance_outcomes()}
            wanted = f"(roll: {low}{high})"
            state.apply_action(next(one for text, one in rolls.items() if text.endswith(wanted) and " O " not in text))
        return state

    def compare(self, slot, agent):
        """Compare all points, and the bar; Pgx turns the board to who moves."""
        state, board = self.states[slot], self.inside("_board", slot)
        own, other = ([state.board(one, place) for place in range(24)] for one in (agent, 1 - agent))
        points = np.array(own) - np.array(other)
        np.testing.assert_array_equal(points if agent == 0 else points[::-1], board[:24])
        assert [board[24], -board[25]] == [state.board(agent, self.BAR), state.board(1 - agent, self.BAR)]

    def translate(self, slot, agent, action):
        """Return OpenSpiel's move as actions of Pgx."""
        moves = self.states[slot].spiel_move_to_checker_moves(agent, action)
        return [6 * self._source(agent, move.pos) + move.num - 1 for move in moves if move.pos != self.PASS]

    def _source(self, agent, place):
        if place == self.BAR:
            return 1
        return 2 + (place if agent == 0 else 23 - place)

    def choose(self, slot, agent, mask):
        """Return the next action of Pgx, on the way to a move of OpenSpiel."""
        state = self.states.get(slot)
        if not self.pending[slot] and not self.inside("_played_dice_num", slot):
            state = self.roll(slot)
        while not self.pending[slot] and not state.is_terminal() and state.current_player() == agent:
            self.compare(slot, agent)
            options = [self.translate(slot, agent, action) for action in state.legal_actions()]
            if all(options):  # a first move that no move of OpenSpiel contains wastes a die
                self.wasteful += len(set(np.flatnonzero(mask)) - {one for option in options for one in option})
            number = int(self.rng.integers(len(options)))
            self.pending[slot] = options[number]
            state.apply_action(state.legal_actions()[number])
        if not self.pending[slot]:  # dice are left, but no move
            assert np.flatnonzero(mask).max() < self.NO_MOVE
            return int(np.flatnonzero(mask)[0])
        if not mask[self.pending[slot][0]]:
            self.pending[slot].reverse()
        return self.pending[slot].pop(0)


def test_backgammon_is_openspiels_apart_from_moves_that_waste_a_die():
    """What OpenSpiel allows, Pgx does, and scores alike. Pgx also lets a player waste a die that could be played."""
    both = Backgammon()
    while both.ended < 12:
        rows = both.env.rows()
        actions = [both.choose(slot, int(rows.agent[slot]), rows.mask[slot]) for slot in range(SLOTS)]
        both.move(actions)
    assert both.wasteful > 0


def test_shogi_is_openspiels():
    """Moves have other numbers: each is found by the position that it leads to."""
    from pgx.experimental.shogi import to_sfen

    env, rng = pgx.make("shogi"), np.random.default_rng(2)
    init, step, game = jax.jit(env.init), jax.jit(env.step), pyspiel.load_game("shogi")
    in_hand = 0
    for number in range(2):
        world, state = init(keys_of(np.array([number]))[0]), game.new_initial_state()
        for _ in range(150):
            after = {_position(str(state.child(action))): action for action in state.legal_actions()}
            options = np.flatnonzero(np.asarray(world.legal_action_mask))
            assert len(options) == len(after)
            action, mover = rng.choice(options), int(world.current_player)
            world = step(world, np.int32(action))
            state.apply_action(after[_position(to_sfen(world))])
            in_hand += bool(_position(to_sfen(world))[2])
            assert bool(world.terminated) == state.is_terminal()
            if world.terminated:
                assert np.asarray(world.rewards)[mover] == 1
                break
    assert in_hand > 20  # positions with pieces that may be dropped


def _position(sfen):
    """Return board, mover and the pieces in hand, which both sort in their own way, without the number of the move."""
    board, mover, hands = sfen.split()[:3]
    return board, mover, tuple(sorted(re.findall(r"\d*[A-Za-z]", hands)))
