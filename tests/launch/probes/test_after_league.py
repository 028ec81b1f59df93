"""The probe at the end of a league."""

import csv
import json
from pathlib import Path

import pytest
from command_line import TINY, refused

import ludus
from launch.cli import main
from launch.config.compose import compose
from launch.config.config import stored, to_plain
from launch.probes.after_league import conclude
from launch.viewers.probe_reports import read_probe_reports
from league.store.run_directory import RunDirectory

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")
PROBED = ["league.probe=true", "league.probe.seconds=null", "league.probe.steps=1500", "league.probe.games=10"]


def test_the_shorthand_switches_the_probe_on():
    assert compose(["league.probe=true"]).league.probe.enabled
    assert not compose(["league.probe=false"]).league.probe.enabled
    assert not compose(["env=tic_tac_toe"]).league.probe.enabled


def test_a_league_ends_with_a_sentence_about_its_main(capsys):
    assert main(["run", *TINY, *PROBED]) == 0
    out = capsys.readouterr().out
    assert "from main's own weights scores" in out.splitlines()[-1]
    (report,) = read_probe_reports(RunDirectory(Path("runs/tiny")))
    assert (report.player, report.start) == ("main", "self")
    assert main(["resume", "tiny", "--json"]) == 0, "it is over, and so is its probe"
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["probe"]["score"]["score"] == report.score.score


@pytest.mark.slow
def test_the_score_is_a_curve_of_the_league():
    league = ludus.run([*TINY, *PROBED, "track=csv"])
    (report,) = read_probe_reports(RunDirectory(league.path))
    with (league.path / "track" / "csv" / "points.csv").open() as file:
        points = [row for row in csv.DictReader(file) if row["name"] == "league/probe_score"]
    assert [float(point["value"]) for point in points] == [report.score.score]
    assert int(points[0]["step"]) == sum(league.state.results.values())


def test_without_the_setting_or_after_a_failure_nothing_is_probed(run, capsys):
    assert conclude(run, 0, quiet=False, as_json=False, allow=()) == 0
    config = stored(run)
    config.league.probe.enabled = True
    run.write_config(to_plain(config))
    assert conclude(run, 1, quiet=False, as_json=False, allow=()) == 1
    assert not run.probes.exists()
    assert capsys.readouterr().out == ""


def test_a_probe_that_fails_does_not_fail_the_league(run, capsys):
    config = stored(run)
    config.league.probe.enabled = True
    run.write_config(to_plain(config))
    for path in run.snapshots.iterdir():
        path.unlink()
    assert conclude(run, 0, quiet=False, as_json=False, allow=()) == 0
    assert "the probe at the end (league.probe) failed: the weights of 'main' are gone" in capsys.readouterr().err


def test_in_co_operation_there_is_nothing_to_probe(capsys):
    line = refused(capsys, "run", "env=two_step", "league=cooperative", "experiment=null", "league.probe=true")
    assert line == "league.probe: all seats of two_step are on one side, so nobody can be exploited"


def test_jobs_of_slurm_are_probed_later(run, capsys):
    config = stored(run)
    config.league.probe.enabled = True
    config.launch.name, config.launch.transport, config.launch.collectors = "slurm", "tcp", 2
    run.write_config(to_plain(config))
    assert conclude(run, 0, quiet=False, as_json=False, allow=()) == 0
    assert "when the jobs have ended, ludus probe first main" in capsys.readouterr().err
