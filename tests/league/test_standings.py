"""Standings: sorted, complete, and honest about what nobody knows."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.appraisal import appraise
from league.evaluation_payoff import EvaluationPayoff, RatedGame
from league.game_counts import GameCounts
from league.ids import Hash, PlayerId
from league.payoff import Payoff
from league.player import Player
from league.population import Population
from league.ratings.elo import Elo
from league.standings import PayoffTable, Standing, cooperative_standings, payoff_table, standings

MAIN = Player(id=PlayerId("m"), kind="main")
PAST = Player(id=PlayerId("m.0"), kind="main", parent=MAIN.id, snapshot=Hash("h"))
RANDOM = Player(id=PlayerId("random"), kind="scripted", bot="random", anchor=0.0)
BOT = Player(id=PlayerId("bot"), kind="scripted", bot="one_ply", anchor=400.0)
EVERYBODY = [RANDOM, MAIN, PAST, BOT]


def evaluated(*results):
    """Return single games, every other one from the first seat."""
    payoff = EvaluationPayoff()
    for a, b, wins, draws, losses in results:
        scores = [1.0] * wins + [0.5] * draws + [0.0] * losses
        payoff.record_turns(a.id, b.id, [[RatedGame(score, k % 2 == 0)] for k, score in enumerate(scores)])
        payoff.record_raw(a.id, b.id, wins, draws, losses)
    return payoff


def test_the_strongest_is_first():
    payoff = evaluated((MAIN, RANDOM, 95, 0, 5), (PAST, RANDOM, 70, 0, 30), (MAIN, PAST, 80, 0, 20))
    table = standings(Population(EVERYBODY[:3]), payoff)
    assert [(row.place, row.player) for row in table] == [(1, "m"), (2, "m.0"), (3, "random")]
    ratings = [row.rating for row in table]
    assert ratings == sorted(ratings, reverse=True)
    assert table[0].low < table[0].rating < table[0].high
    assert table[0].kind == "main"
    assert table[0].games == 200


def test_anchors_have_their_pinned_rating_and_no_interval_to_speak_of():
    table = standings(Population(EVERYBODY), evaluated((MAIN, RANDOM, 30, 0, 10)))
    for row in table:
        if row.player in ("random", "bot"):
            assert row.rating == row.low == row.high == {"random": 0.0, "bot": 400.0}[row.player]


def test_a_player_without_evaluation_games_is_last_and_unrated():
    table = standings(Population(EVERYBODY), evaluated((MAIN, RANDOM, 0, 0, 40)))
    last = table[-1]
    assert last.player == "m.0"
    assert (last.rating, last.low, last.high, last.games) == (None, None, None, 0)
    assert table[-2].rating < 0  # below it nobody, however weak


def test_humans_are_listed_after_their_first_game():
    ada, quitter = (Player(id=PlayerId(name), kind="human") for name in ("ada", "quitter"))
    humans = Population([*EVERYBODY, quitter, ada])
    listed = [row.player for row in standings(humans, evaluated((ada, RANDOM, 0, 0, 1)))]
    assert sorted(listed) == ["ada", "bot", "m", "m.0", "random"]
    together = Payoff()
    together.record_return(ada.id, MAIN.id, 1.0)
    listed = [row.player for row in cooperative_standings(humans, together)]
    assert sorted(listed) == ["ada", "bot", "m", "m.0", "random"]


def test_players_whose_games_lead_to_no_anchor_have_no_rating_but_an_order():
    other = Player(id=PlayerId("n"), kind="main")
    table = standings(Population([RANDOM, other, MAIN]), evaluated((MAIN, other, 9, 0, 1)))
    assert [row.player for row in table] == ["random", "m", "n"]
    rows = {row.player: row for row in table}
    assert rows["m"].rating is rows["m"].low is rows["m"].high is rows["m"].nash is None
    assert rows["m"].win_share == pytest.approx(0.9)


def test_scores_against_anchors_are_plain_and_none_if_they_never_met():
    table = standings(Population(EVERYBODY), evaluated((MAIN, RANDOM, 6, 2, 2)))
    rows = {row.player: row for row in table}
    assert rows["m"].anchors == {"random": pytest.approx(0.7), "bot": None}
    assert rows["random"].anchors == {"bot": None}


def test_the_online_elo_stands_beside_the_fit():
    elo = Elo(k=16)
    for player in EVERYBODY:
        elo.add(player)
    elo.update(MAIN.id, RANDOM.id, 1.0)
    table = standings(Population(EVERYBODY), evaluated((MAIN, RANDOM, 1, 0, 0)), elo)
    assert {row.player: row.online for row in table} == {"m": 8.0, "m.0": 0.0, "random": 0.0, "bot": 400.0}
    assert standings(Population([MAIN]), EvaluationPayoff())[0].online is None


def test_ratings_fitted_elsewhere_are_taken_as_they_are():
    population = Population(EVERYBODY)
    payoff = evaluated((MAIN, RANDOM, 30, 0, 10))
    fitted = appraise(population, payoff)
    assert standings(population, payoff, appraisal=fitted) == standings(population, payoff)
    with pytest.raises(ValueError, match="do not fit"):
        standings(Population(EVERYBODY[:2]), payoff, appraisal=fitted)


def test_an_empty_league_has_empty_standings():
    assert standings(Population(), EvaluationPayoff()) == []
    assert payoff_table([], EvaluationPayoff()) == PayoffTable(players=(), cells=())


results = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0])), max_size=40)


@settings(deadline=None, max_examples=50)
@given(results)
def test_everybody_has_one_row_that_survives_json(games):
    payoff = EvaluationPayoff()
    for i, j, outcome in games:
        if i != j:
            payoff.record_turns(EVERYBODY[i].id, EVERYBODY[j].id, [[RatedGame(outcome, True)]])
    table = standings(Population(EVERYBODY), payoff)
    assert sorted(row.player for row in table) == sorted(p.id for p in EVERYBODY)
    assert [row.place for row in table] == [1, 2, 3, 4]
    assert msgspec.json.decode(msgspec.json.encode(table), type=list[Standing]) == table
    rated = [row.rating for row in table if row.rating is not None]
    assert np.isfinite(rated).all()
    assert rated == sorted(rated, reverse=True)


def test_the_payoff_table_tells_what_happened():
    payoff = evaluated((MAIN, RANDOM, 6, 2, 2))
    table = payoff_table([MAIN.id, RANDOM.id, PAST.id], payoff)
    cell, back = table.cells[0][1], table.cells[1][0]
    assert (cell.score, cell.games, cell.wins, cell.draws, cell.losses) == (pytest.approx(0.7), 10, 6, 2, 2)
    assert (back.score, back.wins, back.losses) == (pytest.approx(0.3), 2, 6)
    assert cell.low == pytest.approx(1 - back.high)
    assert cell.low < 0.7 < cell.high
    assert table.cells[0][0] is None
    assert table.cells[0][2] is None
    assert msgspec.json.decode(msgspec.json.encode(table), type=PayoffTable) == table


def test_an_anchor_whose_games_refute_its_pin_says_so():
    payoff = evaluated((BOT, RANDOM, 500, 0, 500), (MAIN, RANDOM, 300, 0, 100))
    rows = {row.player: row for row in standings(Population(EVERYBODY), payoff)}
    assert rows["bot"].pinned == 400.0
    assert rows["bot"].low < 0 < rows["bot"].high
    assert rows["random"].pinned is None


def test_cells_of_players_that_have_not_met_are_filled_and_marked():
    population = Population(EVERYBODY)
    payoff = evaluated((MAIN, RANDOM, 300, 0, 100), (PAST, RANDOM, 200, 0, 200), (BOT, RANDOM, 909, 0, 91))
    table = payoff_table([MAIN.id, PAST.id, RANDOM.id], payoff, appraise(population, payoff))
    assert table.cells[0][1] is None
    assert table.filled[0][1] == pytest.approx(0.75, abs=0.01)
    assert table.filled[1][0] == pytest.approx(0.25, abs=0.01)
    assert table.filled[0][0] is table.filled[0][2] is None
    assert payoff_table([MAIN.id, PAST.id], payoff).filled == ()
    assert msgspec.json.decode(msgspec.json.encode(table), type=PayoffTable) == table


def test_the_best_has_the_nash_mixture_to_itself():
    payoff = evaluated((MAIN, RANDOM, 95, 0, 5), (PAST, RANDOM, 70, 0, 30), (MAIN, PAST, 80, 0, 20))
    table = standings(Population(EVERYBODY[:3]), payoff)
    assert [row.nash for row in table] == [1.0, 0.0, 0.0]


def test_the_games_of_all_are_counted_once(monkeypatch):
    evaluation = evaluated((MAIN, RANDOM, 95, 0, 5), (PAST, RANDOM, 70, 0, 30), (MAIN, PAST, 80, 0, 20))
    population = Population(EVERYBODY[:3])
    appraisal, asked = appraise(population, evaluation), []
    games = GameCounts.games.fget
    monkeypatch.setattr(GameCounts, "games", property(lambda self: asked.append(self) or games(self)))
    assert len(standings(population, evaluation, appraisal=appraisal)) == len(population)
    assert len(asked) == 1, "each time it is a matrix of all players"
