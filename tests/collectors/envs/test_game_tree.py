import numpy as np
import pytest

from collectors.envs.game_tree import CHANCE, NONE, TERMINAL, EnumerationError, TooLargeError, TreeBuilder

NOBODY = (NONE, NONE)
SEEN, MASK = np.zeros(1, np.float32), np.ones(2, np.bool_)


def matching_pennies():
    builder = TreeBuilder("pennies", 100)
    root = builder.node(0, builder.add_set(0, "first", NOBODY, SEEN, MASK))
    builder.close_level()
    hidden = builder.add_set(1, "second", NOBODY, SEEN, MASK)
    second = [builder.node(1, hidden) for _ in range(2)]
    for action, node in enumerate(second):
        builder.edge(root, node, action)
    builder.close_level()
    for first, node in enumerate(second):
        for action in range(2):
            builder.edge(node, builder.node(TERMINAL, NONE), action, reward=1.0 if action == first else -1.0)
    builder.close_level()
    return builder.build()


def test_a_tree_has_levels_of_edges_and_of_sets():
    tree = matching_pennies()
    assert tree.size == 7
    assert tree.edge_levels.tolist() == [0, 2, 6]
    assert tree.set_levels.tolist() == [0, 1, 2, 2]
    assert tree.seat.tolist() == [0, 1, 1, TERMINAL, TERMINAL, TERMINAL, TERMINAL]
    assert tree.set.tolist() == [0, 1, 1, NONE, NONE, NONE, NONE]
    assert tree.sets.names == ("first", "second")
    assert tree.sets.turn.tolist() == [0, 0]


def test_a_tree_beyond_the_limit_names_size_and_limit():
    builder = TreeBuilder("big", 2)
    builder.node(CHANCE, NONE)
    builder.node(CHANCE, NONE)
    with pytest.raises(TooLargeError, match=r"big has more than 2 positions, .* at most 2. .* ludus probe"):
        builder.node(CHANCE, NONE)


def test_a_set_on_two_levels_is_refused():
    builder = TreeBuilder("clockless", 100)
    builder.add_set(0, "somewhere", NOBODY, SEEN, MASK)
    builder.close_level()
    with pytest.raises(EnumerationError, match="does not know how many moves were made"):
        builder.find_set(0, "somewhere", NOBODY)


def test_a_player_that_forgets_is_refused():
    builder = TreeBuilder("forgetful", 100)
    first = builder.add_set(0, "first", NOBODY, SEEN, MASK)
    builder.close_level()
    builder.add_set(0, "second", (first, 0), SEEN, MASK)
    assert builder.find_set(0, "second", (first, 0)) == 1
    with pytest.raises(EnumerationError, match="forgets what it knew or did"):
        builder.find_set(0, "second", (first, 1))
