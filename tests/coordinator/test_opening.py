"""Opening a league: founding, going on, and what does not fit together."""

import pytest

from coordinator.opening import OpeningError, open_league, refold
from league.events import ConfigChanged, LeagueFounded, PlayerAdded, TermBegan
from league.rulebook import PlayerConfig
from league.store.fold import encode_fold
from league.store.ledger import Ledger


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        yield ledger


def kinds(ledger):
    return [type(event) for _, event in ledger.events()]


def test_founding_writes_seed_players_and_the_first_term(ledger, config, env):
    state = open_league(ledger, config(), 3, env("player", "player"), "hash")
    assert kinds(ledger) == [LeagueFounded, PlayerAdded, PlayerAdded, PlayerAdded, TermBegan]
    assert (state.seed, state.term, state.config_hash) == (3, 1, "hash")
    assert encode_fold(state, 0) == encode_fold(refold(ledger, config()), 0)


def test_opening_again_is_the_next_term_and_keeps_the_seed(ledger, config, env):
    open_league(ledger, config(), 3, env("player", "player"), "hash")
    state = open_league(ledger, config(), 99, env("player", "player"), "hash")
    assert kinds(ledger)[5:] == [TermBegan]
    assert (state.seed, state.term) == (3, 2)


def test_another_config_and_new_players_are_events(ledger, config, env):
    open_league(ledger, config(), 3, env("player", "player"), "hash")
    more = config()
    more.players["late"] = PlayerConfig(kind="league_exploiter")
    state = open_league(ledger, more, 3, env("player", "player"), "other")
    assert kinds(ledger)[5:] == [ConfigChanged, PlayerAdded, TermBegan]
    assert state.config_hash == "other"
    assert "late" in state.population


def test_a_player_that_left_the_config_stays_in_the_league(ledger, config, env):
    open_league(ledger, config(), 3, env("player", "player"), "hash")
    fewer = config()
    del fewer.players["exploiter"]
    assert "exploiter" in open_league(ledger, fewer, 3, env("player", "player"), "other").population


def test_another_environment_is_refused_and_nothing_is_written(ledger, config, env):
    open_league(ledger, config(), 3, env("player", "player"), "hash")
    with pytest.raises(OpeningError, match="start a new run"):
        open_league(ledger, config(), 3, env("player", "player", "player"), "hash")
    assert ledger.head == 5


@pytest.mark.parametrize(
    ("players", "message"),
    [
        ({"main": PlayerConfig(role="wolf")}, r"league\.players\.main\.role is 'wolf', but game has the roles"),
        ({"main": PlayerConfig(role="fox")}, "no learning player can take the role 'hound'"),
        (
            {"main": PlayerConfig(role="fox"), "bot": PlayerConfig(kind="scripted", bot="random", role="hound")},
            r"add one to league\.players, e\.g\. hound: \{kind: main, role: hound\}",
        ),
    ],
)
def test_roles_that_nobody_can_take_or_learn_are_refused_before_anything_is_written(
    ledger, config, env, players, message
):
    with pytest.raises(OpeningError, match=message):
        open_league(ledger, config(**players), 3, env("fox", "hound"), "hash")
    assert ledger.head == 0


def test_one_player_for_each_role_or_one_for_all_is_enough(ledger, config, env):
    both = config(fox=PlayerConfig(role="fox"), hound=PlayerConfig(role="hound"))
    assert open_league(ledger, both, 3, env("fox", "hound"), "hash").term == 1
    assert open_league(ledger, config(all=PlayerConfig()), 3, env("fox", "hound"), "hash").term == 2
