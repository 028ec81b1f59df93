"""Seats: players sit where their roles allow it."""

from league_table import BOT, roles_taken

from league.rulebook import PlayerConfig


def test_players_bound_to_roles_sit_only_there_in_training_and_evaluation(bench, config, env):
    roles = ("fox", "hound", "hound")
    players = {"fox": PlayerConfig(role="fox"), "hound": PlayerConfig(role="hound"), "bot": PlayerConfig(**BOT)}
    rules = config(**players)
    rules.evaluation.share = 0.5
    league = bench(config=rules, env=env(*roles))
    league.write()
    league.write("fox", version=1, decisions=5000)
    league.write("hound", version=1, decisions=5000)
    tickets = league.play(80)
    taken = roles_taken(tickets, roles)
    bound = {name: places for name, places in taken.items() if name != "bot"}
    assert sorted(bound) == ["fox", "fox.0", "fox.1", "hound", "hound.0", "hound.1"]
    assert all(places == {name.split(".")[0]} for name, places in bound.items())
    assert {player for t in tickets for player in t.trains} == {"fox", "hound"}
