"""Rates as shares of episodes, of env steps, or of the learner's processor time."""

import pytest

from coordinator.scheduling.episode_costs import episode_costs
from league.metrics import CPU_SECONDS, player_metric
from league.player import Player
from league.rulebook import LeagueConfig, PlayerConfig
from league.state import LeagueState
from league.ticket import Purpose

BOT = {"kind": "scripted", "bot": "random"}
PLAYERS = [Player(id=name, kind="main") for name in "abc"]


def known(rate_by):
    state = LeagueState(LeagueConfig(rate_by=rate_by))
    state.trained_episodes.update(a=10, b=20)
    state.trained_steps.update(a=100, b=600)
    return state


@pytest.mark.parametrize(
    ("rate_by", "costs"),
    [
        ("episodes", {"a": 1, "b": 1, "c": 1}),
        ("env_steps", {"a": 10, "b": 30, "c": 20}),
        ("cpu_seconds", {"a": 0.5, "b": 0.5, "c": 0.5}),
    ],
)
def test_what_is_unknown_costs_as_much_as_the_others_do(rate_by, costs):
    assert episode_costs(known(rate_by), PLAYERS, {"a": 0.5}) == costs


def test_at_first_everything_costs_the_same():
    state = LeagueState(LeagueConfig(rate_by="env_steps"))
    assert episode_costs(state, PLAYERS, {}) == {"a": 1, "b": 1, "c": 1}


def league_of(bench, config, rate_by):
    rules = config(slow=PlayerConfig(), quick=PlayerConfig(rate=2.0), bot=PlayerConfig(**BOT))
    rules.rate_by, rules.matchmaking.name, rules.matchmaking.self_play = rate_by, "selfplay", 1.0
    league = bench(config=rules)
    league.write()
    return league


def play(league, count, lengths):
    """Play tickets whose episodes are as long as those of the player that they train."""
    for _ in range(count):
        (ticket,) = league.report(want=1).tickets
        length = lengths[ticket.trains[0]] if ticket.purpose == Purpose.TRAIN else 5
        league.report(results=[league.result(ticket, length=length)])


def test_env_steps_are_shared_by_rates_however_long_episodes_are(bench, config):
    league = league_of(bench, config, "env_steps")
    play(league, 400, {"slow": 40, "quick": 10})
    steps = league.state.trained_steps
    assert steps["quick"] / steps["slow"] == pytest.approx(2.0, rel=0.05)
    assert league.state.asked["quick"] > 6 * league.state.asked["slow"]
    assert league.refolded().trained_steps == steps


def test_processor_time_is_shared_as_learners_report_it(bench, config):
    league = league_of(bench, config, "cpu_seconds")
    seconds = {"slow": 3.0, "quick": 1.0}  # of an episode
    for _ in range(60):
        play(league, 8, {"slow": 5, "quick": 5})
        spent = {p: seconds[p] * league.state.trained_episodes[p] for p in seconds}
        league.progress(metrics={player_metric(p, CPU_SECONDS): spent[p] for p in seconds})
    assert spent["quick"] / spent["slow"] == pytest.approx(2.0, rel=0.1)


def test_a_learner_speaks_for_its_own_players_only(bench, config):
    rules = config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.rate_by = "cpu_seconds"
    league = bench(config=rules, learners=("learner-0", "learner-1"))
    trains = {name: [row.player for row in league.progress(name=name).players] for name in league.learners}
    (own,), (other,) = trains.values()
    league.progress(league.candidate(own), name="learner-0")
    league.progress(league.candidate(other), name="learner-1")
    league.play(8)
    before = dict(league.state.asked)
    for _ in range(30):
        league.progress(metrics={player_metric(other, CPU_SECONDS): 1e9})
        league.play(1)
    asked = {player: league.state.asked[player] - before[player] for player in (own, other)}
    assert asked[own] == pytest.approx(asked[other], abs=2 * rules.episodes), "a lie would starve the other one"
