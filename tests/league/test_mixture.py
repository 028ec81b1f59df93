"""Mixtures: shares are probabilities, members exist and fit, and who plays follows from the seed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league.events import CandidateWritten, PlayerAdded, PlayerFrozen
from league.ids import Hash, PlayerId
from league.mixture import MOST, missing, resolve, with_shares
from league.player import Player
from league.rulebook import LeagueConfig, PlayerConfig, founders
from league.state import LeagueState, apply
from league.ticket import Member, sampled_member


def league(**mixture):
    return LeagueConfig(
        players={
            "main": PlayerConfig(kind="main"),
            "random": PlayerConfig(kind="scripted", bot="random"),
            "blend": PlayerConfig(kind="mixture", **mixture),
        }
    )


def freeze(state, number):
    player = Player(
        id=PlayerId(f"main.{number}"), kind="main", parent=PlayerId("main"), snapshot=Hash(f"frozen {number}")
    )
    apply(state, PlayerFrozen(player=player, decisions=0, why="test"))


def state_of(config):
    state = LeagueState(config)
    for player in founders(config):
        apply(state, PlayerAdded(player=player))
    return state


@pytest.mark.parametrize(
    ("mixture", "reason"),
    [
        ({}, "names its members"),
        ({"members": ["main", "random"], "shares": [0.5, 0.4]}, "add up to 1, not to 0.9"),
        ({"members": ["main", "random"], "shares": [1.5, -0.5]}, "must not be negative"),
        ({"members": ["main", "random"], "shares": [float("nan"), 1.0]}, "add up to 1"),
        ({"members": ["main"], "shares": [0.5, 0.5]}, "1 members need as many shares, not 2"),
        ({"members": ["main", "main"]}, "a member is there twice"),
        ({"members": ["mian"]}, "there is no player 'mian'"),
        ({"members": ["random.0"]}, "there is no player 'random.0'"),
        ({"members": ["blend"]}, "'blend' is a mixture"),
        ({"members": ["main"], "role": "fox"}, "'main' plays another role"),
    ],
)
def test_a_mixture_that_cannot_be_played_is_refused(mixture, reason):
    with pytest.raises(ValueError, match=reason):
        founders(league(**mixture))


def test_members_are_for_mixtures_only():
    with pytest.raises(ValueError, match="only a mixture, names its members"):
        founders(LeagueConfig(players={"main": PlayerConfig(members=["main"])}))


def test_without_shares_members_play_equally_often():
    assert with_shares("blend", ["main", "random"], []) == (("main", 0.5), ("random", 0.5))
    assert with_shares("main", [], []) == ()


def test_a_mixture_plays_when_all_its_members_can():
    state = state_of(league(members=["main", "main.1", "main.*"], shares=[0.5, 0.2, 0.3]))
    mixture = state.population[PlayerId("blend")]
    assert state.contestant(PlayerId("blend")) is None
    assert missing(mixture, state.population, state.contestant) == ["main", "main.1", "main.*"]
    written = CandidateWritten(player=PlayerId("main"), incarnation=0, version=0, snapshot=Hash("newest"), decisions=0)
    apply(state, written)
    freeze(state, 0)
    assert missing(mixture, state.population, state.contestant) == ["main.1"]
    assert state.contestant(PlayerId("blend")) is None
    freeze(state, 1)
    assert missing(mixture, state.population, state.contestant) == []
    entry = state.contestant(PlayerId("blend"))
    assert entry.snapshots == ["newest", "frozen 1", "frozen 0", "frozen 1"]
    assert [member.share for member in entry.members] == pytest.approx([0.5, 0.2, 0.15, 0.15])


def test_a_large_mixture_keeps_some_members_and_its_total_share():
    state = state_of(league(members=["main.*"]))
    for number in range(3 * MOST):
        freeze(state, number)
    members = resolve(state.population[PlayerId("blend")], state.population, state.contestant)
    assert len({member.snapshot for member in members}) == MOST
    assert sum(member.share for member in members) == pytest.approx(1)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(any), st.integers(0, 2**31 - 1))
def test_the_member_of_an_episode_follows_from_its_seed_and_has_a_share(weights, seed):
    members = [Member(PlayerId("m"), weight / sum(weights)) for weight in weights]
    chosen = sampled_member(members, seed, 0)
    assert chosen == sampled_member(members, seed, 0)
    assert members[chosen].share > 0


def test_two_seats_of_one_mixture_sample_apart():
    members = [Member(PlayerId("a"), 0.5), Member(PlayerId("b"), 0.5)]
    pairs = [(sampled_member(members, seed, 0), sampled_member(members, seed, 1)) for seed in range(400)]
    for pair in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert 60 < pairs.count(pair) < 140
