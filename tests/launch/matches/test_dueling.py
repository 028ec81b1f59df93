import json

import pytest

import ludus
from launch.cli import main
from launch.matches.dueling import contest_json, contest_lines, count, duel
from launch.matches.match import seat_pair
from launch.matches.score import Score
from launch.viewers.reading import match_json
from launch.viewers.view import ViewError
from league.events import LeagueFounded, PlayerAdded, ResultCounted, TicketIssued
from league.interval import wilson
from league.player import Player
from league.rulebook import LeagueConfig
from league.spec import Array, EnvSpec, Seat
from league.standings import payoff_table
from league.state import LeagueState, apply
from league.ticket import Entry, Episode, Purpose, Ticket


def test_a_duel_counts_all_games_and_has_an_interval(run, capsys):
    assert duel(run, ("random", "random"), games=40) == 0
    text = capsys.readouterr().out
    assert "40 episodes" in text
    assert "chance 50%" in text
    assert duel(run, ("main", "random"), games=40, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["wins"] + told["draws"] + told["losses"] == told["games"] == 40
    assert told["low"] < told["score"] < told["high"]
    assert told["returns"][0] == pytest.approx((told["wins"] - told["losses"]) / 40)
    assert told["returns"][1] == -told["returns"][0]


def test_the_same_seed_is_the_same_duel(run, capsys):
    said = []
    for seed in ("1", "1", "2"):
        assert main(["duel", str(run.root), "main.0", "main", "--games", "30", "--seed", seed]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != said[2]


def spec_of(*sides):
    seats = tuple(Seat((i,), side=side) for i, side in enumerate(sides))
    return EnvSpec("toy", tuple("abcdef"[: len(sides)]), seats, Array((1,), "float32"), actions=2)


def test_points_are_those_of_the_first_player_wherever_it_sits():
    hero, other, two = Entry("hero"), Entry("other"), spec_of(None, None)
    outcomes = [Episode((0, 1), (1.0, -1.0), 5), Episode((0, 0), (0.0, 0.0), 5), Episode((0, 1), (3.0, -2.0), 5)]
    found = count(two, (hero, other), hero, other, outcomes)
    assert found.score == Score(wins=2, draws=1, losses=0, episodes=3)
    assert found.score.interval == tuple(map(float, wilson(2.5, 3)))
    assert found.returns == (pytest.approx(4 / 3), -1.0)
    assert found.half_width == (pytest.approx(1.96 * 1.5275 / 3**0.5, rel=1e-3), pytest.approx(1.96 / 3**0.5, rel=1e-3))
    assert count(two, (other, hero), hero, other, outcomes).score.losses == 2


def test_where_nobody_is_beaten_there_is_no_score():
    hero, other = Entry("hero"), Entry("other")
    alone = count(spec_of(None), (hero,), hero, hero, [Episode((0,), (2.0,), 5)])
    assert (alone.score, alone.returns, alone.half_width) == (None, (2.0, 2.0), (0.0, 0.0))
    together = count(spec_of("us", "us"), (hero, other), hero, other, [Episode((0, 0), (2.0, 3.0), 5)])
    assert (together.score, together.returns) == (None, (2.0, 3.0))
    assert "score" not in contest_json(together)
    assert contest_json(alone)["half_width"] == (0.0, 0.0)
    assert contest_lines(together)[-1] == "returns 2 ±0 and 3 ±0, 1 episodes"


THREE = [(0, 1, 2), (1, 0, 2), (2, 0, 1), (0, 0, 1), (0, 0, 0)]  # ranks of hero, other, other


def fold_of(spec, names, ranks):
    """Return the state of a league in which these episodes were one evaluation."""
    state = LeagueState(LeagueConfig())
    apply(state, LeagueFounded(seed=1, config="", env=spec))
    for name in sorted(set(names)):
        apply(state, PlayerAdded(player=Player(id=name, kind="scripted", bot="random")))
    ticket = Ticket(
        number=1, purpose=Purpose.EVALUATE, entries=tuple(map(Entry, names)), episodes=len(ranks)
    )  # fmt: skip
    apply(state, TicketIssued(ticket=ticket))
    episodes = tuple(Episode(r, tuple(float(-x) for x in r), 3) for r in ranks)
    apply(state, ResultCounted(ticket=1, attempt=0, episodes=episodes))
    return state, ticket, episodes


def test_the_same_episodes_are_the_same_score_in_a_duel_and_in_the_payoff(figure):
    """Known answer: 2 + 1 + 0 + 1 + 0 pairs won, 0 + 0 + 0 + 1 + 2 drawn, 0 + 1 + 2 + 0 + 0 lost."""
    spec = spec_of(None, None, None)
    state, ticket, episodes = fold_of(spec, ("hero", "other", "other"), THREE)
    found = count(spec, ticket.entries, Entry("hero"), Entry("other"), episodes)
    assert found.score == Score(wins=4, draws=3, losses=3, episodes=5)
    assert state.evaluation.raw("hero", "other") == (4, 3, 3)
    cell = payoff_table(["hero", "other"], state.evaluation).cells[0][1]
    assert cell.score == found.score.score == 0.55
    assert match_json(ticket, episodes, None, spec.sides)["scores"][0] == 0.55
    assert found.firsts == pytest.approx((1 + 0 + 0 + 1 / 2 + 1 / 3) / 5)
    figure("the same 5 episodes of three sides: 55 % by duel, payoff and matches; first places 36.7 %, chance 33.3 %")


def test_a_team_plays_one_game_however_many_seats_it_has():
    spec = spec_of("red", "red", "blue", "blue")
    names = ("hero", "hero", "other", "other")
    state, ticket, episodes = fold_of(spec, names, [(0, 0, 1, 1), (1, 1, 0, 0), (0, 0, 1, 1)])
    found = count(spec, ticket.entries, Entry("hero"), Entry("other"), episodes)
    assert found.score == Score(wins=2, draws=0, losses=1, episodes=3)
    assert state.evaluation.raw("hero", "other") == (2, 0, 1)


def test_a_duel_and_the_api_count_the_same_games_of_three_sides(bid, capsys):
    duel(bid, ("bidding:Greedy", "random"), games=120, as_json=True, allow=["bidding"])
    told = json.loads(capsys.readouterr().out)
    found = ludus.open(str(bid.root), allow=["bidding"]).play("bidding:Greedy", "random", episodes=120)
    assert (told["wins"], told["draws"], told["losses"]) == (found.wins, found.draws, found.losses)
    assert found.games == 240
    assert told["score"] == found.score > told["chance"] == 0.5
    assert told["first_places"] > told["first_places_chance"] == pytest.approx(1 / 3)
    assert (told["low"], told["high"]) == found.interval
    duel(bid, ("bidding:Greedy", "random"), games=120, allow=["bidding"])
    text = capsys.readouterr().out
    assert f"scores {found.score:.1%} " in text
    assert "chance 50%" in text
    assert "random has all 2 other sides, each of them is a game" in text
    assert "(chance 33.3%)" in text


def test_a_player_against_itself_scores_about_a_half(bid):
    found = ludus.open(str(bid.root), allow=["bidding"]).play("random", "random", episodes=300)
    low, high = found.interval
    assert low < 0.5 < high


def test_a_bot_of_ones_own_has_to_be_allowed(bid):
    with pytest.raises(ValueError, match="add --allow elsewhere to the command"):
        duel(bid, ("elsewhere:Bot", "random"), games=1, allow=["bidding"])


def test_a_player_in_a_seat_of_another_role_is_refused():
    spec = EnvSpec(
        name="tag",
        agents=("wolf", "sheep"),
        seats=(Seat((0,), "wolf"), Seat((1,), "sheep")),
        observation=Array((1,), "float32"),
        actions=2,
    )
    state = LeagueState(LeagueConfig())
    for name, role in (("a", "wolf"), ("b", "wolf"), ("c", "sheep")):
        apply(state, PlayerAdded(player=Player(id=name, kind="main", role=role)))
    assert seat_pair(state, spec, Entry("c"), Entry("a")).entries == (Entry("a"), Entry("c"))
    with pytest.raises(ViewError, match="'b' plays as wolf, but beside 'a' the seats of sheep are left"):
        seat_pair(state, spec, Entry("a"), Entry("b"))


@pytest.mark.parametrize("games", ["0", "-3"])
def test_no_games_are_refused(run, games, capsys):
    assert main(["duel", str(run.root), "main", "random", "--games", games]) != 0
    assert "--games must be at least 1" in capsys.readouterr().err


def test_a_bot_of_ones_own_can_be_watched(bid, capsys):
    watch = ["watch", str(bid.root), "bidding:Greedy", "random", "--delay", "0"]
    assert main([*watch, "--allow", "bidding"]) == 0
    assert "bidding:Greedy, bot bidding:Greedy" in capsys.readouterr().out
    assert main(watch) != 0
    assert "--allow bidding" in capsys.readouterr().err


def test_a_duel_stops_when_it_is_sure(run, capsys):
    sure = ["duel", str(run.root), "main", "main", "--until", "sure", "--score0", "0.1", "--score1", "0.3"]
    assert main(sure) == 0
    text = capsys.readouterr().out
    assert "sure: main scores more than 10.0% against main (alpha 5.0%)" in text
    assert "chance 50%" in text
    assert main([*sure, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["decision"] == 1
    assert told["games"] < 400
    assert told["low"] < told["score"] < told["high"]


def test_a_duel_that_is_not_sure_says_so(run, capsys):
    assert main(["duel", str(run.root), "main", "main", "--until", "sure", "--games", "31", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["decision"], told["games"]) == (0, 32)  # whole pairs
    assert told["verdict"].startswith("not sure yet")


def test_a_duel_stops_at_a_width(run, capsys):
    assert main(["duel", str(run.root), "random", "random", "--until-width", "0.1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["high"] - told["low"] <= 0.2
    assert 64 <= told["games"] < 200


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--until", "sure", "--until-width", "0.1"], "not both"),
        (["--until-width", "0.7"], "half-width"),
        (["--elo1", "20"], "--until sure"),
        (["--until", "sure", "--score0", "0.5"], "both --score0 and --score1"),
        (["--until", "sure", "--score0", "0.5", "--score1", "0.6", "--elo0", "1"], "instead"),
        (["--until", "sure", "--elo0", "30"], "score0 < score1"),
        (["--until", "sure", "--alpha", "0.7"], "alpha and beta"),
    ],
)
def test_stop_rules_that_contradict_each_other_are_refused(run, options, words, capsys):
    assert main(["duel", str(run.root), "main", "random", *options]) != 0
    assert words in capsys.readouterr().err
