"""The arena: every algorithm a player of one league, with equal shares of env steps."""

import pytest

from coordinator.scheduling.training import LEAD
from launch.config.compose import compose
from launch.config.config import algorithm_names, to_plain
from launch.processes.inline import play
from launch.start import rehearse
from launch.verify.verify import verify
from launch.viewers.costs import costs
from league.rulebook import founders
from league.store.run_directory import RunDirectory

ARENA = ["seed=0", "experiment=arena_quick", "launch=inline", "launch.collectors=1", "league.budget.minutes=null"]
SMALL = ["policy.hidden=[16]", "league.evaluation.final_games=20", "league.budget.env_steps=100_000"]
OWN = "+league.players.mine={kind: main, role: each, algo: {name: vpg, lr: 0.01}}"


def test_all_kinds_of_algorithms_are_there_and_their_files_agree():
    for experiment in ("arena", "arena_quick"):
        config = compose([f"experiment={experiment}"])
        learning = [player.id for player in founders(config.league) if player.learning]
        assert learning == ["ppo", "a2c", "impala", "appo", "dqn", "rainbow", "sac", "es"]
        names = algorithm_names(config)
        assert [names[player] for player in learning] == [*learning[:6], "discrete_sac", "es"]


def test_another_algorithm_joins_with_one_line():
    config = compose(["experiment=arena_quick", OWN])
    assert algorithm_names(config)["mine"] == "vpg"


@pytest.mark.slow
def test_every_algorithm_gets_its_share_of_env_steps_and_a_rating(tmp_path):
    config = compose([*ARENA, *SMALL, OWN])
    rehearse(config)
    run = RunDirectory(tmp_path).create()
    run.write_config(to_plain(config))
    state = play(config, run)
    assert (state.voids, verify(run)) == (0, 0)
    _, rows = costs(run)
    assert len(rows) == 9
    steps = [row.env_steps for row in rows]
    lead = (
        LEAD * config.league.episodes * 9 / len(rows)
    )  # of tickets that may be under way, in which episodes have up to 9 steps
    assert max(steps) - min(steps) <= lead
    assert all(row.low < row.rating < row.high for row in rows)
    assert all(row.decisions > 0 and row.cpu_seconds > 0 for row in rows), rows
