"""The report of a probe: what it says in one sentence, and how it is kept."""

import json

import msgspec
import pytest

from launch.viewers.probe_reports import (
    ProbePoint,
    ProbeReport,
    ProbeScore,
    read_probe_report,
    read_probe_reports,
    report_json,
    report_lines,
    verdict,
)
from league.store.run_directory import RunDirectory, RunError


def score(value, reach=0.03, games=400, mean_return=None):
    wins = round(value * games)
    return ProbeScore(
        wins=wins,
        draws=0,
        losses=games - wins,
        score=value,
        low=value - reach,
        high=value + reach,
        mean_return=2 * wins / games - 1 if mean_return is None else mean_return,
        reach=0.1,
    )


def report(**changes):
    plain = ProbeReport(
        run="first",
        player="main",
        snapshot="a" * 64,
        start="self",
        env_steps=200_000,
        decisions=90_000,
        seconds=20.2,
        curve=tuple(ProbePoint(env_steps=n * 1000, score=0.5, low=0.4, high=0.6, games=9) for n in range(1, 21)),
        start_score=score(0.5),
        score=score(0.85),
        anchors={"one_ply": score(0.3)},
        path="runs/first/probes/main",
    )
    return msgspec.structs.replace(plain, **changes)


def test_the_verdict_is_one_sentence():
    assert verdict(report(by_time=True)) == (
        "A best response trained for 20 s from main's own weights scores 85% (82 to 88) against it: main is "
        "exploitable."
    )
    weak = verdict(report(score=score(0.52), start="scratch"))
    assert weak.startswith("A best response trained for 200,000 env steps from scratch scores 52% (49 to 55)")
    assert weak.endswith("no hole was found in this time, which does not prove that main has none.")
    assert "from mine.safetensors scores" in verdict(report(start="mine.safetensors"))


def test_only_a_sure_win_is_an_exploit():
    assert report(score=score(0.54)).exploitable
    assert not report(score=score(0.53)).exploitable


def test_in_a_league_by_return_earning_something_is_an_exploit():
    earns = report(score=score(0.5, mean_return=0.2), by_return=True)
    assert earns.exploitable
    assert "returns +0.2 ±0.1 a game: main is exploitable" in verdict(earns)
    assert not report(score=score(0.9, mean_return=0.05), by_return=True).exploitable


def test_a_report_is_read_as_it_was_written(tmp_path):
    run = RunDirectory(tmp_path / "first").create()
    probe = RunDirectory(run.probes / "main").create()
    assert read_probe_report(probe) is None
    assert list(read_probe_reports(run)) == []
    probe.probe_report.write_bytes(msgspec.json.encode(report()))
    assert list(read_probe_reports(run)) == [report()]
    probe.probe_report.write_bytes(b"{")
    with pytest.raises(RunError, match="Delete it, and probe again"):
        read_probe_report(probe)


def test_people_see_the_curve_and_every_score():
    lines = list(report_lines(report()))
    assert sum("50.0% (40.0% to 60.0%)" in line for line in lines) == 10, "of 20 points every other one"
    assert "20,000" in lines[11]
    assert "its start weights against main: 50.0% (47.0% to 53.0%) in 400 games" in lines
    assert "the probe against one_ply: 30.0% (27.0% to 33.0%) in 400 games" in lines
    assert lines[-1] == verdict(report())


def test_returns_are_shown_where_they_are_more_than_wins():
    chips = list(report_lines(report(score=score(0.4, mean_return=0.75))))
    assert "the probe against main: 40.0% (37.0% to 43.0%) in 400 games; returns 0.75 ±0.1" in chips


def test_programs_get_all_of_it():
    plain = json.loads(json.dumps(report_json(report())))
    assert plain["exploitable"] is True
    assert plain["verdict"] == verdict(report())
    assert (
        msgspec.convert({k: v for k, v in plain.items() if k not in ("exploitable", "verdict")}, ProbeReport)
        == report()
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"score": {"wins": 0, "losses": 0}}, "at least one game"),
        ({"score": {"wins": 10**400}}, "int` <= 9007199254740992"),
        ({"score": {"low": 1e308}}, "float` <= 1.0"),
        ({"score": {"mean_return": 1e308}}, "float` <= 1e"),
        ({"start_score": {"draws": -1}}, "int` >= 0"),
    ],
)
def test_a_report_with_impossible_figures_is_refused_in_one_line(change, problem, tmp_path):
    probe = RunDirectory(tmp_path)
    plain = msgspec.to_builtins(report())
    for name, figures in change.items():
        plain[name] |= figures
    probe.probe_report.write_text(json.dumps(plain))
    with pytest.raises(RunError, match=f"cannot read .*{problem}.*Delete it, and probe again"):
        read_probe_report(probe)
