"""Opening a league: founding, going on, and what does not fit together."""

import pytest

from coordinator.opening import OpeningError, check_seats, open_league, refold
from league.events import ConfigChanged, LeagueFounded, PlayerAdded, TermBegan, TicketIssued
from league.rulebook import PlayerConfig
from league.store.fold import encode_fold
from league.store.ledger import Ledger
from league.ticket import Entry, Member, Purpose, Ticket


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


def test_a_player_that_joins_late_begins_where_a_reset_would_take_it(bench, config):
    league = bench()
    league.write()
    league.write("main", version=1, decisions=10)
    league.config = config()
    league.config.players["late"] = PlayerConfig(kind="main_exploiter")
    league.crash()
    assert (league.state.incarnations["late"], league.state.start("late")) == (1, "main-0-1")
    row = next(row for row in league.progress().players if row.player == "late")
    assert (row.incarnation, row.start) == (1, "main-0-1")


def test_a_kind_whose_row_left_the_config_is_named(ledger, config, env):
    open_league(ledger, config(), 3, env("player", "player"), "hash")
    fewer = config(main=PlayerConfig())
    del fewer.kinds["main_exploiter"]
    with pytest.raises(OpeningError, match=r"'main_exploiter', but .* has no such row"):
        open_league(ledger, fewer, 3, env("player", "player"), "other")


def test_a_player_that_left_the_config_stays_in_the_league(ledger, config, env):
    open_league(ledger, config(), 3, env("player", "player"), "hash")
    fewer = config()
    del fewer.players["exploiter"]
    assert "exploiter" in open_league(ledger, fewer, 3, env("player", "player"), "other").population


@pytest.mark.parametrize(("by", "founded"), [("auto", "outcome"), ("outcome", "outcome"), ("return", "return")])
def test_what_counts_as_better_is_a_fact_of_the_league(ledger, config, env, by, founded):
    """Whoever starts a league decides `auto` before; without a decision it goes by outcome."""
    rules = config()
    rules.payoff.by = by
    state = open_league(ledger, rules, 3, env("player", "player"), "hash")
    assert state.payoff_by == founded
    assert state.training.by_return == state.evaluation.by_return == (founded == "return")
    rules.payoff.by = "auto"
    assert open_league(ledger, rules, 3, env("player", "player"), "hash").payoff_by == founded


def test_a_league_cannot_change_what_counts_as_better(ledger, config, env):
    open_league(ledger, config(), 3, env("player", "player"), "hash")
    other = config()
    other.payoff.by = "return"
    with pytest.raises(OpeningError, match=r"goes by outcome, but the config has league.payoff.by=return: start a new"):
        open_league(ledger, other, 3, env("player", "player"), "hash")


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


def test_an_empty_ledger_beside_a_checkpoint_founds_nothing(ledger, config, env, tmp_path):
    checkpoint = tmp_path / "fold.checkpoint"
    checkpoint.write_bytes(b"of another ledger")
    with pytest.raises(OpeningError, match=r"is empty, but fold\.checkpoint is of a league that was played here"):
        open_league(ledger, config(), 3, env("player", "player"), "hash", checkpoint)
    assert kinds(ledger) == []


def test_a_recipe_of_partners_is_refused_where_seats_are_up_against_each_other(config, env):
    partners = config()
    partners.cooperative = True
    with pytest.raises(OpeningError, match=r"league=cooperative is a recipe for seats on one side.* league=pfsp"):
        check_seats(partners, env("player", "player"))


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ((), "has 0 entries, but"),
        ((Entry("random", None, "random"),) * 3, "has 3 entries, but"),
        ((Entry("main", members=(Member("x", 0.0, None, "random"),)), Entry("main")), "no member has a share"),
    ],
)
def test_an_open_ticket_that_nobody_can_play_is_refused(ledger, config, env, entries, problem):
    open_league(ledger, config(), 3, env("player", "player"), "hash")
    ticket = Ticket(number=1, purpose=Purpose.EVALUATE, entries=entries, episodes=2)
    ledger.commit([TicketIssued(ticket=ticket)])
    with pytest.raises(OpeningError, match=f"the open ticket 1 .*{problem}"):
        open_league(ledger, config(), 3, env("player", "player"), "hash")
