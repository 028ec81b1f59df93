"""What was spent on each learning player, from a run that is over."""

import json

import msgspec
from rich.console import Console

from launch.viewers import reading
from launch.viewers.costs import costs, costs_table


def test_standings_with_what_was_spent_on_each_player(run, state, out):
    assert reading.standings_with_costs(run, as_json=True) == 0
    rows = {row["player"]: row for row in json.loads(out())}
    learning = [player.id for player in state.population.learning()]
    assert sorted(rows) == sorted(learning)
    for player, row in rows.items():
        assert row["env_steps"] == state.trained_steps[player] > 0
        assert row["decisions"] == state.candidate(player).decisions
        assert row["algorithm"] == "ppo"
        assert row["cpu_seconds"] > 0
    assert sum(row["env_steps"] for row in rows.values()) >= state.steps["train"], "a match may train both"
    assert reading.standings_with_costs(run) == 0
    text = out()
    assert all(f"{player} " in text for player in learning)
    assert "CPU s" in text


def test_a_long_algorithm_leaves_room_for_the_numbers(run, capsys):
    view, rows = costs(run)
    rows = [msgspec.structs.replace(row, algorithm="own_algorithm:ReinforceConfig") for row in rows]
    Console(width=80).print(costs_table(view.state, rows))
    text = capsys.readouterr().out
    assert all(f"{row.cpu_seconds:,.1f}" in text for row in rows)
    assert "env steps" in text
    assert "±" in text
    assert "\u2026" not in text
