"""Comparisons across seeds: known answers, and what is taken from a league that was played."""

import doctest
import math
import random
import statistics

import pytest
from rich.console import Console

from launch.sweeps import comparing
from launch.sweeps.comparing import Figure, RunSample, average, compare, comparison_table, figures, t_interval
from launch.viewers.tables import all_standings, candidate_scores


def sample(settings, seed, score, elo=None):
    found = {"score/main_v_one_ply": Figure(score, score - 0.02, score + 0.02)}
    return RunSample(
        run=f"{settings},seed={seed}", settings=settings, figures=found | ({"elo/main": Figure(elo)} if elo else {})
    )


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(comparing).failed == 0


@pytest.mark.parametrize(
    ("values", "mean", "reach"),
    [  # quantiles of the t distribution as printed in tables: 12.706, 4.303, 2.776
        ([0.5, 0.7], 0.6, 12.706 * 0.1414214 / math.sqrt(2)),
        ([1.0, 2.0, 3.0], 2.0, 4.303 / math.sqrt(3)),
        ([2.0, 4.0, 4.0, 4.0, 6.0], 4.0, 2.776 * math.sqrt(2) / math.sqrt(5)),
        ([5.0, 5.0], 5.0, 0.0),
    ],
)
def test_the_t_interval_of_known_answers(values, mean, reach):
    found = t_interval(values)
    assert found[0] == pytest.approx(mean)
    assert found[1] == pytest.approx(reach, rel=1e-3)


def test_the_t_interval_covers_as_often_as_it_says(figure):
    generator = random.Random(7)
    hits, trials = 0, 4000
    for _ in range(trials):
        mean, reach = t_interval([generator.gauss(10.0, 3.0) for _ in range(3)])
        hits += abs(mean - 10.0) <= reach
    figure(f"three seeds: the interval covers in {hits / trials:.1%} of {trials} sweeps")
    assert abs(hits / trials - 0.95) < 4 * math.sqrt(0.05 * 0.95 / trials)


def test_an_interval_needs_two_runs():
    with pytest.raises(ValueError, match="needs two"):
        t_interval([1.0])


def test_rows_are_settings_without_the_seed_in_the_order_in_which_they_come():
    rows = compare([sample("b", 1, 0.6, 100), sample("a", 1, 0.5), sample("b", 2, 0.8, 140)])
    assert [(row.settings, row.measured, row.runs) for row in rows] == [("b", 2, 2), ("a", 1, 1)]
    b, a = rows
    assert b.means["elo/main"].mean == 120
    assert b.means["score/main_v_one_ply"].mean == pytest.approx(0.7)
    assert (b.means["score/main_v_one_ply"].low, b.means["score/main_v_one_ply"].high) == (0.0, 1.0), (
        "two seeds say little"
    )
    only = a.means["score/main_v_one_ply"]
    assert (only.mean, only.low, only.high, only.runs) == (0.5, 0.48, 0.52, 1), "one run has its own interval"


def test_a_run_without_figures_counts_as_a_run_that_was_not_measured():
    (row,) = compare([sample("a", 1, 0.5), RunSample(run="a,seed=2", settings="a")])
    assert (row.measured, row.runs, row.means["score/main_v_one_ply"].runs) == (1, 2, 1)


def test_a_rating_may_leave_the_interval_of_scores():
    assert average("elo/main", [Figure(-300.0), Figure(500.0)]).low < -300


def test_the_figures_of_a_league_are_those_of_its_standings(played):
    _, state = played
    found = figures(state, 10.0)
    score, low, high, _ = candidate_scores(state, "main")["random"]
    (main,) = [row for row in all_standings(state) if row.player == "main"]
    assert found == {
        "score/main_v_random": Figure(score, low, high),
        "elo/main": Figure(main.rating, main.low, main.high),
        "charts/SPS": Figure(state.env_steps / 10.0),
    }
    assert "charts/SPS" not in figures(state, None)


def test_the_table_tells_means_with_their_reach_and_what_is_missing():
    samples = [sample("league=pfsp", seed, score, 200 + seed) for seed, score in enumerate((0.6, 0.62, 0.64))]
    samples.append(RunSample(run="x", settings="league=fsp"))
    console = Console(width=100, record=True, file=None)
    with console.capture() as capture:
        console.print(comparison_table(compare(samples)))
    lines = [line.split() for line in capture.get().splitlines()]
    reach = 100 * 4.303 * statistics.stdev([0.6, 0.62, 0.64]) / math.sqrt(3)
    assert ["league=pfsp", "3", "62%", f"±{reach:.0f}", "201", "±2"] in lines
    assert ["league=fsp", "0", "of", "1", "-", "-"] in lines
