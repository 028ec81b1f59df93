"""Exchanges of weights: every step of every rank counts once, gossip agrees, and nobody waits."""

import doctest

import numpy as np
import pytest
from dict_board import boards

from learners import weight_exchange
from learners.weight_exchange import AsyncExchange, GossipExchange, gossip_peers, make_exchange

NOTHING_FIXED = np.zeros(3, np.bool_)
START = np.array([1.0, 2.0, 3.0], np.float32)


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(weight_exchange).failed == 0


def step(number):
    return np.full(3, number, np.float32)


@pytest.mark.parametrize("order", [[0, 1, 2, 0, 1, 2], [0, 0, 0, 0, 1, 2], [2, 1, 2, 1, 0, 0]])
def test_shared_weights_are_the_start_and_all_steps_in_any_order(order):
    ranks = [AsyncExchange(board, "main/0", START, NOTHING_FIXED) for board in boards(3)]
    weights, taken = [START] * 3, 0.0
    for number, rank in enumerate(order):
        weights[rank] = ranks[rank].mix(weights[rank], weights[rank] + step(2.0**number))
        taken += 2.0**number
    last = order[-1]
    np.testing.assert_array_equal(weights[last], START + taken)
    for rank in range(3):  # whoever looks sees the same
        np.testing.assert_array_equal(ranks[rank].mix(weights[rank], weights[rank]), START + taken)


def test_statistics_are_averaged_not_added():
    fixed = np.array([False, False, True])
    one, two = (AsyncExchange(board, "main/0", START, fixed) for board in boards(2))
    one.mix(START, np.array([1, 2, 5], np.float32))
    assert two.mix(START, np.array([2, 2, 7], np.float32)).tolist() == [2, 2, 6]


@pytest.mark.parametrize("graph", ["gossip", "gossip_ring"])
@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_gossip_brings_all_ranks_to_the_same_weights(graph, size):
    ranks = [GossipExchange(board, "main/0", graph) for board in boards(size)]
    weights = [step(float(rank)) for rank in range(size)]
    for _ in range(40 * size):
        weights = [rank.mix(mine, mine) for rank, mine in zip(ranks, weights, strict=True)]
    assert np.ptp(weights, axis=0).max() < 1e-4
    assert 0 < weights[0][0] < size - 1


def test_a_rank_that_is_gone_holds_up_nobody_and_is_averaged_in_once():
    alive, gone = (GossipExchange(board, "main/0") for board in boards(2))
    gone.mix(step(0.0), step(0.0))
    assert alive.mix(step(8.0), step(8.0)).tolist() == [4, 4, 4]
    assert alive.mix(step(4.0), step(6.0)).tolist() == [6, 6, 6]
    assert alive.mixed == 1


def test_everybody_hears_from_everybody_over_some_hops():
    for size in range(2, 20):
        known = [{rank} for rank in range(size)]
        for turn in range((size - 1).bit_length()):
            before = [set(one) for one in known]
            for rank in range(size):
                peers = gossip_peers(rank, size, "gossip")
                known[rank] |= before[peers[turn % len(peers)]]
        assert all(len(one) == size for one in known), f"{size} ranks, in as many turns as the graph has hops"


def test_the_setting_names_the_exchange():
    board, _ = boards(2)
    assert isinstance(make_exchange("async", board, "x", START, NOTHING_FIXED), AsyncExchange)
    assert isinstance(make_exchange("gossip_ring", board, "x", START, NOTHING_FIXED), GossipExchange)
