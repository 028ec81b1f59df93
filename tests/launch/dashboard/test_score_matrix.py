import json
import struct

import numpy as np

from launch.dashboard.score_matrix import PREDICTED, UNKNOWN, cell_json, ordered, pack, score_cells
from launch.viewers.payoff_matrix import payoff_json, relevant
from launch.viewers.tables import appraisal_of


def test_bytes_are_the_scores_that_the_command_prints(state):
    players, printed = relevant(state), payoff_json(state)["evaluate"]
    cells = score_cells(state, state.evaluation, players, appraisal_of(state))
    assert list(printed["players"]) == players
    for i, row in enumerate(printed["cells"]):
        for j, cell in enumerate(row):
            filled = printed["filled"][i][j]
            if i == j:
                assert cells[i, j] == UNKNOWN
            elif cell is not None:
                assert cells[i, j] == round(100 * cell["score"])
            elif filled is not None:
                assert cells[i, j] == PREDICTED + round(100 * filled)


def test_one_cell_has_all_that_the_command_prints(state):
    printed, appraisal = payoff_json(state)["evaluate"], appraisal_of(state)
    first, second = printed["players"][:2]
    found = cell_json(state.evaluation, state, first, second, appraisal)
    assert found == {"cell": printed["cells"][0][1], "filled": printed["filled"][0][1]}


def test_the_header_comes_first_with_its_length():
    packed = pack(["a", "b"], np.array([[255, 60], [40, 255]], np.uint8), {"of": "evaluate"})
    (length,) = struct.unpack("<I", packed[:4])
    assert json.loads(packed[4 : 4 + length]) == {"players": ["a", "b"], "of": "evaluate"}
    assert list(packed[4 + length :]) == [255, 60, 40, 255]


def test_orders_keep_every_player_once():
    cells = np.array([[255, 90, 10, 90], [10, 255, 90, 10], [90, 10, 255, 90], [11, 90, 9, 255]], np.uint8)
    kinds = {"a": "main", "b": "frozen", "c": "main", "d": "frozen"}
    players = list(kinds)
    assert ordered(players, kinds, cells, "rating") == [0, 1, 2, 3]
    assert ordered(players, kinds, cells, "kind") == [1, 3, 0, 2]
    assert sorted(ordered(players, kinds, cells, "cluster")) == [0, 1, 2, 3]


def test_equal_players_are_neighbours_in_the_order_by_similarity():
    base = np.random.default_rng(1).integers(0, 100, 8)
    other = 100 - base
    cells = np.array([base, other, base, other, base, other, base, other], np.uint8)
    places = ordered([str(i) for i in range(8)], {}, cells, "cluster")
    assert {frozenset(places[:4]), frozenset(places[4:])} == {frozenset({0, 2, 4, 6}), frozenset({1, 3, 5, 7})}
