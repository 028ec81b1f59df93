"""What was spent on each learning player, from a run that is over."""

import json

from launch.viewers import reading


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
