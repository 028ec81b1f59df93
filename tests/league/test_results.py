"""How a result enters the payoff: teams by the mean of their seats, free-for-alls with a game for each pair."""

import pytest

from league.evaluation_payoff import EvaluationPayoff
from league.limits import ABSENT
from league.payoff import Payoff, PayoffConfig
from league.results import EvaluationMatch, evaluate_duel, evaluate_match, share_returns, side_returns, train_match
from league.ticket import Entry, Episode, Purpose, Ticket

TEAMS = (0, 0, 1, 1)


def match(players, sides, episodes, turn, roles=None):
    entries = tuple(map(Entry, players))
    ticket = Ticket(number=1, purpose=Purpose.EVALUATE, entries=entries, episodes=episodes, turn=turn)
    return EvaluationMatch(ticket, players, roles or ("player",) * len(players), sides)


def by_return(table):
    table.go_by_return(10.0)
    return table


def test_the_margin_of_teams_is_that_of_their_means():
    episode = Episode((0, 0, 1, 1), (5.0, 3.0, 1.0, -1.0), 9)
    assert [*map(list, side_returns(TEAMS, [episode]))] == [[4.0, 4.0, 0.0, 0.0]]
    assert [*map(list, side_returns((0, 1, 2, 3), [episode]))] == [[5.0, 3.0, 1.0, -1.0]]
    training = by_return(Payoff(PayoffConfig(decay=1.0)))
    train_match(training, ["a", "a", "b", "c"], TEAMS, [episode])
    assert [training.margin("a", other)[0] for other in ("b", "c")] == [2.0, 2.0]
    assert training.margin("b", "c") is None, "they are on one side"
    share_returns(training, ["a", "a", "b", "c"], TEAMS, [episode])
    assert training.returns_with("b", ["c"]).tolist() == [0.0]


def test_a_free_for_all_is_one_sample_for_each_pair_in_a_turn():
    """Three seats turn three times; a meets b, who has the other two seats, twice an episode."""
    table = by_return(EvaluationPayoff())
    episodes = [Episode((0, 1, 2), (6.0, 2.0, -8.0), 4)] * 3 + [Episode((2, 0, 0), (-4.0, 2.0, 2.0), 4)] * 3
    evaluate_match(table, match(["a", "b", "b"], (0, 1, 2), 6, 3), episodes)
    counts = table.game_counts(["a", "b"])
    assert table.counts("a", "b") == (6, 0, 6)
    assert counts.pairs[0, 1] == 2
    assert counts.pair_squares[0, 1] == 1.0
    assert counts.margins[0, 1] == 3 * (2 + 7) - 6 * 3
    assert counts.margin_squares[0, 1] == pytest.approx(4.5**2 + 3.0**2)
    first = counts.wins + counts.draws + counts.losses
    assert first[0, 1] == first[1, 0] == 6, "in a whole turn each is first as often"


def test_seats_that_never_change_have_one_first_player():
    table = EvaluationPayoff()
    evaluate_duel(table, match(["fox", "hound"], (0, 1), 3, 1, ("fox", "hound")), [(0, 1), (0, 0), (1, 0)])
    counts = table.game_counts(["fox", "hound"])
    assert (counts.wins[0, 1], counts.draws[0, 1], counts.losses[0, 1], counts.pairs[0, 1]) == (1, 1, 1, 3)
    assert not counts.wins[1].any()


def test_games_of_a_candidate_that_is_too_old_only_count_among_all():
    table = EvaluationPayoff()
    late = match(["main", "bot"], (0, 1), 2, 2)._replace(rows=[None, "bot"])
    evaluate_duel(table, late, [(0, 1), (0, 1)])
    assert table.raw("main", "bot") == (2, 0, 0)
    assert table.games("main", "bot") == 0.0


def test_there_is_no_game_with_somebody_who_is_absent():
    """Of three players b is absent in the first episode, and the winner of the second."""
    episodes = [Episode((0, ABSENT, 1), (-1.0, 0.0, -2.0), 4), Episode((1, 0, 2), (1.0, 2.0, 0.0), 4)]
    training = by_return(Payoff(PayoffConfig(decay=1.0)))
    train_match(training, ["a", "b", "c"], (0, 1, 2), episodes)
    assert [training.raw("a", other) for other in ("b", "c")] == [(0, 0, 1), (2, 0, 0)]
    assert training.margin("a", "b")[0] == -0.5
    table = by_return(EvaluationPayoff())
    evaluate_match(table, match(["a", "b", "c"], (0, 1, 2), 2, 1), episodes)
    assert table.counts("a", "b") == (0, 0, 1)
    assert table.counts("a", "c") == (2, 0, 0)
    counts = table.game_counts(["a", "b", "c"])
    assert counts.pairs[0].tolist() == [0, 1, 2], "a turn without a game is no sample"
    assert counts.margins[0, 1] == -0.5


def test_a_team_of_which_nobody_came_shares_no_return():
    table = Payoff()
    share_returns(table, ["a", "b", "c", "d"], TEAMS, [Episode((0, 0, ABSENT, ABSENT), (1.0, 3.0, 0.0, 0.0), 4)])
    assert table.return_games("a", "b") == 1
    assert table.return_games("c", "d") == 0
