"""How a comparison is shown."""

import io
import json

import msgspec
import pytest

from launch.comparisons.comparing_runs import BudgetComparison, ComparedSnapshot, GroupDuel, RunComparison
from launch.comparisons.comparison_views import comparison_json, print_comparison, write_plots
from launch.comparisons.milestones import DECISIONS, ENV_STEPS, Milestone
from launch.sweeps.comparing import ComparisonRow, Mean
from launch.terminal.console import Console


def mean(value, reach=0.05):
    return Mean(mean=value, low=value - reach, high=value + reach, runs=2)


@pytest.fixture
def comparison():
    def snapshot(run):
        mark = Milestone(label="main.4", snapshot="a" * 64, env_steps=1000, decisions=400)
        return ComparedSnapshot(run=run, group=run, milestone=mark)

    def at(axis):
        rows = [
            ComparisonRow(settings=group, measured=2, runs=2, means={"score/probe_v_main": mean(value)})
            for group, value in (("pfsp", 0.8), ("selfplay", 0.9))
        ]
        duel = GroupDuel(first="pfsp", second="selfplay", score=mean(0.4), games=800)
        snapshots = [snapshot("pfsp"), snapshot("selfplay")]
        return BudgetComparison(
            axis=axis, budget=1000, snapshots=snapshots, rows=rows, duels=[duel], mixture_duels=[duel]
        )

    groups = {"pfsp": ["a", "b"], "selfplay": ["c", "d"]}
    return RunComparison(game="connect_four", groups=groups, budgets=[at(ENV_STEPS), at(DECISIONS)])


def test_people_see_which_snapshots_were_compared(comparison):
    out = io.StringIO()
    print_comparison(comparison, Console(file=out, width=100))
    text = out.getvalue()
    assert "connect_four at 1,000 env steps of the league:" in text
    assert "connect_four at 1,000 decisions of the main:" in text
    assert "pfsp: main.4, 1,000 env steps, 400 decisions" in text
    assert "probe v main" in text
    assert "80% ±5" in text
    assert text.count("40% ±5") == 4
    assert "uniform mixtures of all mains so far" in text


def test_programs_get_all_of_it(comparison):
    plain = json.loads(json.dumps(comparison_json(comparison)))
    assert msgspec.convert(plain, RunComparison) == comparison


@pytest.mark.slow
def test_plots_are_written_as_png_and_svg(comparison, tmp_path):
    files = write_plots(comparison, tmp_path / "out")
    assert [path.name for path in files] == ["comparison.json", "comparison.png", "comparison.svg"]
    assert files[1].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in files[2].read_bytes()
    again = write_plots(comparison, tmp_path / "again")
    assert files[1].read_bytes() == again[1].read_bytes()
