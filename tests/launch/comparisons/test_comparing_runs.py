"""Comparisons: known answers, and intervals that cover."""

import shutil

import numpy as np
import pytest

from launch.comparisons.comparing_runs import CompareOrder, compare_runs, crossed_mean, shared_anchors
from launch.comparisons.milestones import DECISIONS, ENV_STEPS
from launch.config.config import stored, to_plain
from launch.viewers.probe_reports import ProbeScore
from league.errors import InputError
from league.events import PlayerAdded
from league.player import Player
from league.rulebook import LeagueConfig
from league.state import LeagueState, apply
from league.store.run_directory import RunDirectory


@pytest.fixture
def pair(run):
    """Return a run and a copy of it with another learning rate in its config."""
    second = RunDirectory(run.root.parent / "second")
    shutil.copytree(run.root, second.root)
    config = stored(second)
    config.name, config.algo["lr"] = "second", 0.1
    second.write_config(to_plain(config))
    return run, second


def score(value, reach=0.1):
    return ProbeScore(
        wins=1, draws=0, losses=0, score=value, low=value - reach, high=value + reach, mean_return=0.0, reach=0.0
    )


def test_a_run_against_its_copy_is_even(pair, state):
    before = [run.ledger.read_bytes() for run in pair]
    found = compare_runs(pair, CompareOrder(games=400, probe_steps=0))
    assert [run.ledger.read_bytes() for run in pair] == before
    assert [budget.axis for budget in found.budgets] == [ENV_STEPS, DECISIONS]
    for budget in found.budgets:
        assert [one.milestone.label for one in budget.snapshots] == ["main", "main"]
        assert [one.run for one in budget.snapshots] == ["first", "second"]
        for (duel,) in (budget.duels, budget.mixture_duels):
            assert duel.score.low < 0.5 < duel.score.high
            assert duel.games == 400
        assert [row.settings for row in budget.rows] == ["first", "second"]
        assert set(budget.rows[0].means) == {"score/main_v_random"}
    assert found.budgets[1].budget == state.candidates["main"].decisions


@pytest.mark.slow
def test_probes_of_the_same_size_are_part_of_it(pair):
    for run in pair:  # else as many as there are cores, and each may hold an update's worth of decisions back
        config = stored(run)
        config.launch.collectors = 1
        run.write_config(to_plain(config))
    # 2 batches of 256 may be under way before a collector waits for an update, and the last moves of 16 slots.
    found = compare_runs(pair, CompareOrder(games=20, probe_steps=1600))
    budget = found.budgets[0]
    assert {one.probe.games for one in budget.snapshots} == {200}
    assert set(budget.rows[0].means) == {"score/main_v_random", "score/probe_v_main"}
    assert [len(list(run.probes.iterdir())) for run in pair] == [1, 1], "both budgets chose the same snapshot"


def test_two_single_runs_have_the_interval_of_their_games():
    mean = crossed_mean([[score(0.6)]])
    assert (mean.mean, mean.low, mean.high) == (0.6, pytest.approx(0.5), pytest.approx(0.7))


def test_the_interval_over_seeds_covers():
    """Simulate groups with a strength for each seed: the 95 % interval holds the true mean 90 to 100 % of the time."""
    rng, covered, trials = np.random.default_rng(5), 0, 400
    for _ in range(trials):
        rows, columns = rng.normal(0, 0.05, 4), rng.normal(0, 0.08, 3)
        noise = rng.normal(0, 0.02, (4, 3))
        table = [[score(float(v)) for v in row] for row in 0.6 + rows[:, None] - columns + noise]
        mean = crossed_mean(table)
        covered += mean.low <= 0.6 <= mean.high
    assert 0.92 <= covered / trials <= 1.0


def test_more_seeds_on_one_side_only_vary_there():
    mean = crossed_mean([[score(0.5)], [score(0.7)]])
    assert mean.mean == pytest.approx(0.6)
    assert mean.runs == 2
    assert mean.low < 0.5
    assert mean.high == 1.0, "a score cannot leave 0 to 1"


def test_only_anchors_that_all_leagues_have_are_played():
    states = []
    for bots in (("random", "one_ply"), ("random",)):
        state = LeagueState(LeagueConfig())
        for bot in bots:
            apply(state, PlayerAdded(player=Player(id=bot, kind="scripted", bot=bot, anchor=0.0)))
        states.append(state)
    assert [entry.bot for entry in shared_anchors(states)] == ["random"]
    assert [entry.bot for entry in shared_anchors(states[:1])] == ["one_ply", "random"]


def test_counts_that_are_none_are_refused():
    with pytest.raises(InputError, match="--games must be at least 1, --probe-steps not negative; got 0, -1"):
        CompareOrder(games=0, probe_steps=-1)
