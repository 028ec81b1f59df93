"""Notes under the standings: each says what it is about in one line, and nothing where nothing is wrong."""

import re

from launch.viewers.rating_notes import rating_notes
from league.appraisal import appraise
from league.evaluation_payoff import EvaluationPayoff, RatedGame
from league.ids import PlayerId
from league.player import Player
from league.population import Population

RANDOM = Player(id=PlayerId("random"), kind="scripted", bot="random", anchor=0.0)
BOT = Player(id=PlayerId("one_ply"), kind="scripted", bot="one_ply", anchor=400.0)
ROCK, PAPER, SCISSORS = (Player(id=PlayerId(name), kind="main") for name in ("rock", "paper", "scissors"))


def notes(players, *results, by_return=False):
    payoff = EvaluationPayoff()
    if by_return:
        payoff.go_by_return(1.0)
    for a, b, wins, losses in results:
        scores = [1.0] * wins + [0.0] * losses
        games = [[RatedGame(score, k % 2 == 0, 2 * score - 1)] for k, score in enumerate(scores)]
        payoff.record_turns(a.id, b.id, games)
    return rating_notes(appraise(Population(players), payoff))


def test_ratings_that_say_all_have_one_line():
    found = notes([RANDOM, ROCK, PAPER], (ROCK, RANDOM, 60, 40), (PAPER, RANDOM, 60, 40), (ROCK, PAPER, 51, 49))
    assert re.fullmatch(r"misfit \d\.\d: ratings describe the games as well as chance allows", found[0])
    assert len(found) == 1
    assert notes([RANDOM, ROCK]) == []


def test_a_wrong_anchor_comes_first():
    found = notes([RANDOM, BOT, ROCK], (BOT, RANDOM, 500, 500), (ROCK, RANDOM, 60, 40))
    assert re.match(
        r"one_ply is pinned at 400, but its games say 0 ±\d+: it is rated by its games; calibrate", found[0]
    )


def test_an_island_is_named():
    found = notes([RANDOM, ROCK, PAPER], (ROCK, PAPER, 10, 10))
    assert found[0] == "no games lead to an anchor, so there is no rating: rock, paper"


def test_a_circle_is_a_warning():
    circle = [(PAPER, ROCK, 80, 20), (SCISSORS, PAPER, 80, 20), (ROCK, SCISSORS, 80, 20)]
    everybody = [RANDOM, ROCK, PAPER, SCISSORS]
    weak = [(player, RANDOM, 90, 10) for player in everybody[1:]]
    found = "\n".join(notes(everybody, *circle, *weak))
    assert re.search(r"rock, paper, scissors beat each other in a circle: their order by rating means nothing", found)
    assert re.search(r"misfit \d+\.\d \(1 if ratings say all\): pairs deviate from their ratings by \d+ Elo", found)
    assert len(re.findall(r"scores \d+% against \w+ over 100 games, the scale predicts \d+%", found)) == 3
    margins = "\n".join(notes(everybody, *circle, *weak, by_return=True))
    assert re.search(r"wins -?0\.\d+ a game from \w+ over 100 games, the ratings predict", margins)
    assert "Elo" not in margins
