"""Pairs whose ticket was void: they rest, unless nothing else is left."""

from league_table import BOT

from league.rulebook import PlayerConfig


def test_a_void_pair_is_left_out_while_there_are_others(bench, config):
    rules = config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.matchmaking.name, rules.evaluation.share = "pfsp", 0.5
    league = bench(config=rules)
    league.write()
    scheduler = league.coordinator.scheduler
    for other in ("a.0", "b.0", "bot"):
        scheduler.resting.until[frozenset(("a", other))] = 50.0
    pairs = {frozenset(entry.player for entry in t.entries) for t in league.play(60)}
    assert frozenset(("a", "b")) in pairs
    assert not pairs & {frozenset(("a", "a.0")), frozenset(("a", "b.0")), frozenset(("a", "bot"))}
    league.now = 50.0
    later = {frozenset(entry.player for entry in t.entries) for t in league.play(60)}
    assert later & {frozenset(("a", "a.0")), frozenset(("a", "b.0"))}


def test_a_void_pair_is_drawn_when_nothing_else_is_left(bench, config):
    rules = config(main=PlayerConfig())
    rules.matchmaking.name = "fsp"
    league = bench(config=rules)
    league.write()
    scheduler = league.coordinator.scheduler
    scheduler.resting.until = {frozenset(("main", "main.0")): 1e9, frozenset(("main",)): 1e9}
    assert len(league.play(5)) == 5
