"""Values by player: their own, or the default."""

from league.per_player import PerPlayer


def test_a_player_without_a_value_of_its_own_has_the_default():
    rates = PerPlayer(0.1, {"main": 0.5})
    assert (rates["main"], rates["other"]) == (0.5, 0.1)
    assert PerPlayer(3)["anybody"] == 3


def test_the_default_is_the_first_of_the_values():
    assert list(PerPlayer(1, {"a": 2, "b": 3})) == [1, 2, 3]
