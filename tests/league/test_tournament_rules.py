import pytest

from league.tournament_rules import MOST_ROUNDS, TournamentConfig


def test_a_league_is_no_tournament_unless_it_says_so():
    assert not TournamentConfig().enabled
    assert TournamentConfig(rounds=1).enabled
    assert TournamentConfig(until=10.0).enabled


def test_levels_rise_to_the_most_rounds():
    levels = TournamentConfig(until=10.0).levels()
    assert levels == sorted(set(levels))
    assert (levels[0], levels[-1]) == (8, MOST_ROUNDS)
    assert TournamentConfig(until=10.0, rounds=3).levels() == [3]


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"until": 0.0}, {"until": float("nan")}])
def test_a_tournament_without_games_is_refused(wrong):
    with pytest.raises(ValueError, match="tournament"):
        TournamentConfig(**wrong)
