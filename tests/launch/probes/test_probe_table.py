"""What is shown while a probe trains."""

import json

from launch.probes.probe_config import PROBE, TARGET
from launch.probes.probe_table import ProbeTable, progress_json, progress_words, share_done
from league.events import PlayerAdded
from league.player import Player
from league.rulebook import BudgetConfig, LeagueConfig
from league.state import LeagueState, apply


def state_with(games, **budget):
    state = LeagueState(LeagueConfig(budget=BudgetConfig(**budget)))
    apply(state, PlayerAdded(player=Player(id=PROBE, kind="main_exploiter")))
    apply(state, PlayerAdded(player=Player(id=TARGET, kind="frozen", snapshot="a" * 64)))
    state.training.record_games(PROBE, TARGET, games)
    state.steps["train"] = 500
    return state


def test_progress_names_steps_time_and_the_recent_score():
    plain = progress_json("main", state_with([(0, 1)] * 30, env_steps=1000), 3.0)
    assert plain["score"] > 0.9
    assert progress_words(plain) == f"500 of 1,000 env steps, scores {plain['score']:.0%} against main of late"
    assert share_done(plain) == 0.5
    timed = progress_json("main", state_with([], minutes=0.1), 3.0)
    assert progress_words(timed) == "500 env steps in 3 of 6 s"
    assert share_done(timed) == 0.5


def test_before_the_league_is_founded_there_is_no_score():
    assert progress_json("main", LeagueState(LeagueConfig()), 0.0)["score"] is None


def test_json_lines_for_programs_and_nothing_if_quiet(capsys):
    for quiet, lines in ((True, 0), (False, 1)):
        with ProbeTable("main", quiet=quiet, as_json=True) as table:
            for _ in range(3):
                table.update(state_with([], env_steps=1000), 1.0)
            table.note("3 processes start")
        out = capsys.readouterr().out.splitlines()
        assert len(out) == lines, "three updates within ten seconds are one line"
        assert all(json.loads(line)["env_steps"] == 500 for line in out)
