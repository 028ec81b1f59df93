"""Online Elo: anchors stay, snapshots start from their parents, a resume changes nothing."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.ids import Hash, PlayerId
from league.player import Player
from league.ratings.elo import Elo, expected

MAIN = Player(id=PlayerId("main"), kind="main")
OTHER = Player(id=PlayerId("other"), kind="main")
RANDOM = Player(id=PlayerId("random"), kind="scripted", bot="random", anchor=0.0)
PAST = Player(id=PlayerId("main.0"), kind="main", parent=MAIN.id, snapshot=Hash("h"))


def elo_of(*players, **settings_):
    elo = Elo(**settings_)
    for player in players:
        elo.add(player)
    return elo


def test_expected_score_known_answers():
    assert expected(0, 0) == 0.5
    assert expected(400, 0) == pytest.approx(10 / 11)
    assert expected(0, 200) == pytest.approx(0.2402, abs=1e-4)
    assert expected(0, 1e9) == pytest.approx(0.0, abs=1e-200)  # no overflow


def test_equals_move_by_half_of_k():
    elo = elo_of(MAIN, OTHER, k=16)
    elo.update(MAIN.id, OTHER.id, 1.0)
    assert (elo[MAIN.id], elo[OTHER.id]) == (8.0, -8.0)


def test_a_draw_of_equals_moves_nobody():
    elo = elo_of(MAIN, OTHER)
    elo.update(MAIN.id, OTHER.id, 0.5)
    assert (elo[MAIN.id], elo[OTHER.id]) == (0.0, 0.0)


def test_anchors_never_move():
    elo = elo_of(MAIN, RANDOM)
    for _ in range(500):
        elo.update(MAIN.id, RANDOM.id, 1.0)
        elo.update(RANDOM.id, MAIN.id, 0.0)
    assert elo[RANDOM.id] == 0.0
    assert elo[MAIN.id] > 400


def test_a_snapshot_starts_from_its_parent_and_then_goes_its_own_way():
    elo = elo_of(MAIN, RANDOM)
    elo.update(MAIN.id, RANDOM.id, 1.0)
    elo.add(PAST)
    assert elo[PAST.id] == elo[MAIN.id] > 0
    elo.update(PAST.id, RANDOM.id, 0.0)
    assert elo[PAST.id] < elo[MAIN.id]


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=50))
def test_points_are_only_passed_on(outcomes):
    elo = elo_of(MAIN, OTHER)
    for outcome in outcomes:
        elo.update(MAIN.id, OTHER.id, outcome)
    assert elo[MAIN.id] + elo[OTHER.id] == pytest.approx(0.0, abs=1e-9)


def test_ratings_survive_a_resume_exactly():
    elo = elo_of(MAIN, OTHER, RANDOM, k=13.7, initial=3.3)
    for outcome in (1.0, 0.5, 0.0, 1.0):
        elo.update(MAIN.id, OTHER.id, outcome)
        elo.update(OTHER.id, RANDOM.id, outcome)
    restored = Elo.from_dict(json.loads(json.dumps(elo.to_dict())))
    assert restored == elo
    for table in (elo, restored):
        table.update(MAIN.id, RANDOM.id, 1.0)
    assert restored == elo
    assert restored[RANDOM.id] == 0.0  # still an anchor


def test_elo_refuses_what_it_cannot_rate():
    elo = elo_of(MAIN)
    with pytest.raises(KeyError, match="add it before"):
        elo.update(MAIN.id, OTHER.id, 1.0)
    with pytest.raises(ValueError, match="already"):
        elo.add(MAIN)
    elo.add(OTHER)
    with pytest.raises(ValueError, match="between 0 and 1"):
        elo.update(MAIN.id, OTHER.id, 2.0)
    with pytest.raises(ValueError, match="positive"):
        Elo(k=0)


# --- sides -------------------------------------------------------------------------------------------------


def test_two_sides_of_one_are_the_same_as_two_players():
    plain, sides = elo_of(MAIN, OTHER), elo_of(MAIN, OTHER)
    plain.update(MAIN.id, OTHER.id, 1.0)
    sides.update_sides([MAIN.id], [OTHER.id], 1.0)
    assert plain == sides


def test_the_strength_of_a_side_is_the_mean_of_its_players():
    """Known answer: ratings 400 and 0 against 200 and 200 are even, so a win moves each winner by K / 2."""
    elo = Elo(k=16)
    for player, rating in (("a", 400.0), ("b", 0.0), ("c", 200.0), ("d", 200.0)):
        elo.add(Player(id=PlayerId(player), kind="main"))
        elo._ratings[PlayerId(player)] = rating
    elo.update_sides(["a", "b"], ["c", "d"], 1.0)
    assert [elo[p] for p in "abcd"] == pytest.approx([408.0, 8.0, 192.0, 192.0])


def test_in_a_free_for_all_of_four_a_game_counts_a_third():
    elo = elo_of(MAIN, OTHER)
    elo.update_sides([MAIN.id], [OTHER.id], 1.0, share=1 / 3)
    assert elo[MAIN.id] == pytest.approx(elo.k / 6)
