"""Evaluation tickets during training: their share of steps, and who meets whom."""

from collections import Counter

import pytest
from league_table import BOT

from league.rulebook import PlayerConfig
from league.ticket import Purpose


def share_of_steps(league):
    return league.state.steps[Purpose.EVALUATE] / league.state.env_steps


@pytest.mark.parametrize("share", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("lengths", [(5, 5), (4, 40), (40, 4)])
def test_evaluation_gets_its_share_of_steps_whatever_its_episodes_last(bench, config, share, lengths):
    rules = config()
    rules.evaluation.share = share
    league = bench(config=rules)
    league.write()
    length = dict(zip(Purpose, lengths, strict=True))
    for _ in range(60):
        tickets = league.report(want=8).tickets  # eight at a time: what is outstanding must count
        league.report(results=[league.result(t, length=length[t.purpose]) for t in tickets])
    slack = 8 * 2 * max(lengths) / league.state.env_steps
    assert share_of_steps(league) == pytest.approx(share, abs=slack)


def test_what_is_under_way_counts_before_the_first_result_is_in(bench, config):
    rules = config()
    rules.evaluation.share = 0.25
    league = bench(config=rules)
    league.write()
    tickets = league.report(want=40).tickets
    assert sum(t.purpose == Purpose.EVALUATE for t in tickets) == pytest.approx(10, abs=1)


@pytest.mark.parametrize(("anchored", "low", "high"), [(0.0, 0.0, 0.35), (0.5, 0.4, 0.75), (1.0, 1.0, 1.0)])
def test_evaluation_meets_anchors_as_often_as_configured(bench, config, anchored, low, high):
    rules = config()
    rules.evaluation.share, rules.evaluation.anchored = 0.5, anchored
    league = bench(config=rules)
    for version in range(12):  # a pool in which anchors are few
        league.write("main", version=version, decisions=2000 * version)
    played = [t for t in league.play(300) if t.purpose == Purpose.EVALUATE]
    met = sum("random" in {e.player for e in t.entries} for t in played) / len(played)
    assert low <= met <= high


def test_no_share_no_evaluation(bench, config):
    rules = config()
    rules.evaluation.share = 0.0
    league = bench(config=rules)
    league.write()
    assert {t.purpose for t in league.play(30)} == {Purpose.TRAIN}


def test_evaluation_lets_everybody_meet_everybody(bench, config):
    rules = config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.evaluation.share = 0.5
    league = bench(config=rules)
    league.write()
    met = Counter()
    for ticket in league.play(200):
        if ticket.purpose == Purpose.EVALUATE:
            met[frozenset(entry.player for entry in ticket.entries)] += 1
    assert len(met) == 10  # a, b, a.0, b.0 and the bot
    assert max(met.values()) <= 3 * min(met.values())  # half of the matches are against the one anchor


def test_three_seats_are_filled_with_different_opponents_if_there_are_some(bench, config, env):
    rules = config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.evaluation.share = 0.5
    league = bench(config=rules, env=env("player", "player", "player"))
    league.write()
    evaluations = [t for t in league.play(40) if t.purpose == Purpose.EVALUATE]
    assert len(evaluations) > 10
    assert all(len({entry.player for entry in t.entries}) == 3 for t in evaluations)


def evaluations(league, count):
    return [t for t in league.play(count) if t.purpose == Purpose.EVALUATE]


def test_contenders_play_most_and_nobody_is_forgotten(bench, config):
    """Ten frozen players far below the best: they still meet everybody now and then, and the anchor too."""
    rules = config(a=PlayerConfig(), weak=PlayerConfig(**BOT), strong=PlayerConfig(**{**BOT, "anchor": 700.0}))
    rules.evaluation.share, rules.evaluation.anchored = 0.9, 0.3
    league = bench(config=rules)
    for version in range(12):
        league.write("a", version=version, decisions=2000 * version)
    state, pinned = league.state, {"weak": 0.0, "strong": 700.0}
    free = [player.id for player in state.population if player.id not in pinned]
    ratings = pinned | {name: 60.0 * place for place, name in enumerate(free)}
    frozen_scale = {"k": 1e-9, "initial": 0.0, "ratings": ratings, "pinned": sorted(pinned)}
    state.elo = type(state.elo).from_dict(frozen_scale)  # a ladder, which no result changes
    state.evaluated.update(dict.fromkeys(free, 500))
    games = Counter(entry.player for t in evaluations(league, 400) for entry in t.entries)
    assert min(games[name] for name in free[-5:]) > 2 * max(games[name] for name in free[:3])
    assert min(games[name] for name in ratings) > 0


def test_the_same_tickets_follow_from_the_same_state(bench, config):
    rules = config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.evaluation.share = 0.5
    played = []
    for _ in range(2):
        league = bench(config=rules)
        league.write()
        played.append([[entry.player for entry in ticket.entries] for ticket in evaluations(league, 60)])
    assert played[0] == played[1]
