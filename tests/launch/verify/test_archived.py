"""A run whose old events are archived: every reader sees what it saw before."""

import random
import shutil

import pytest

from benchmarks.ledgers import make_run
from coordinator.opening import refold
from launch.config.compose import compose
from launch.config.config import stored, to_plain
from launch.processes.inline import play
from launch.trackers.exporting import export
from launch.verify.verify import verify
from launch.viewers.reading import matches, standings
from launch.viewers.view import read_offline, read_rules
from league.store.fold import encode_fold
from league.store.ledger import Ledger, LedgerError, open_copy
from league.store.run_directory import RunDirectory


@pytest.fixture
def whole(drawn, tmp_path):
    """Return the run with all its events in the ledger."""
    shutil.copytree(drawn.root, tmp_path / "whole" / "first")
    return type(drawn)(tmp_path / "whole" / "first")


def test_the_views_and_the_fold_are_the_same(whole, archived, rows_of):
    assert rows_of(archived) == rows_of(whole)
    views = [read_offline(run) for run in (whole, archived)]
    assert len({encode_fold(view.state, view.seq) for view in views}) == 1
    rules = read_rules(archived)
    with Ledger.open(archived.ledger) as ledger:
        expected = encode_fold(views[0].state, 0)
        assert encode_fold(refold(ledger, rules), 0) == expected
        assert encode_fold(refold(ledger, rules, archived.fold), 0) == expected


def test_exports_and_reports_are_the_same(whole, archived, tmp_path, capsys):
    told = []
    for name, run in (("whole", whole), ("archived", archived)):
        assert export(run, "csv", tmp_path / "out" / name) > 3
        capsys.readouterr()
        assert standings(run, True) == 0
        assert matches(run, None, 20, True) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    whole_out, archived_out = tmp_path / "out" / "whole", tmp_path / "out" / "archived"
    files = [path.relative_to(whole_out) for path in whole_out.rglob("*") if path.is_file()]
    assert len(files) > 2
    for name in files:
        assert (whole_out / name).read_bytes() == (archived_out / name).read_bytes()


def test_verify_walks_archive_and_ledger(archived, capsys):
    assert verify(archived) == 0
    assert "all is well" in capsys.readouterr().out
    segment = sorted(archived.archive.glob("*.segment"))[2]
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 4
    segment.write_bytes(data)
    assert verify(archived) == 1
    assert segment.name in capsys.readouterr().out


def test_segments_are_not_copied_to_be_read(archived, monkeypatch):
    copied = []
    copy = shutil.copyfile
    monkeypatch.setattr(shutil, "copyfile", lambda source, target: (copied.append(source.name), copy(source, target)))
    with open_copy(archived.ledger) as ledger:
        assert ledger.read(0, 1)
    assert copied
    assert not any("segment" in name for name in copied)


@pytest.mark.slow
def test_a_league_archives_while_it_plays_and_goes_on_where_it_stopped(whole, tmp_path, capsys):
    """The same seed, with an archive and without: the same events."""
    config, runs = stored(whole), []
    for name, keep in (("without", None), ("with", 30)):
        config.league.archive.keep_events, config.league.archive.segment_events = keep, 15
        run = type(whole)(tmp_path / name).create()
        run.write_config(whole.read_config())
        state = play(config, run)
        runs.append(run)
    with open_copy(runs[0].ledger) as other, open_copy(run.ledger) as ledger:
        assert len(other.archive) == 0
        assert len(ledger.archive) > 3
        assert 30 <= ledger.live < 100
        assert ledger.rows() == other.rows()
    assert verify(run) == 0
    run.fold.unlink()
    config.league.budget.env_steps += 1000
    resumed = play(config, run)
    assert resumed.env_steps > state.env_steps
    capsys.readouterr()
    assert verify(run) == 0


def problems_of(run):
    try:
        with open_copy(run.ledger) as ledger:
            return ledger.damage()
    except LedgerError as error:
        return [error]


@pytest.mark.slow
def test_flipped_bits_in_the_archive_are_found(archived, figure):
    rng, missed = random.Random(3), 0
    segments = sorted(archived.archive.glob("*.segment"))
    for _ in range(100):
        segment = rng.choice(segments)
        data = segment.read_bytes()
        changed = bytearray(data)
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        segment.write_bytes(changed)
        missed += segment.name not in str(problems_of(archived))
        segment.write_bytes(data)
    figure(f"{100 - missed} of 100 flipped bits in archived segments found")
    assert missed == 0


def all_archived(run):
    """Archive all events of a run; return the bytes of its ledger before, of the archive, and of what is left."""
    full = run.ledger.stat().st_size
    with Ledger.open(run.ledger) as ledger:
        before = ledger.rows()
        while ledger.live:
            ledger.put_away(5000)
        for _ in range(1000):
            ledger.shrink(1000, 0)
        assert ledger.rows() == before
        assert ledger.damage() == []
    return full, sum(path.stat().st_size for path in run.archive.iterdir()), run.ledger.stat().st_size


@pytest.mark.slow
def test_an_archived_result_takes_at_most_150_bytes(tmp_path, figure):
    """Of a Connect Four league that was played, and of a longer one that is made up, with all their events.

    The database that stays has some fixed pages and the metrics, which are not archived: they weigh in a short league.
    """
    overrides = ["launch=inline", "league.budget.minutes=null", "league.budget.env_steps=100000", "algo.epochs=1"]
    config = compose([*overrides, "collector.slots=64", "launch.collectors=1", "league.evaluation.final_games=64"])
    run = RunDirectory(tmp_path / "four").create()
    run.write_config(to_plain(config))
    results = sum(play(config, run).results.values())
    full, archive, left = all_archived(run)
    figure(
        f"played: {full / results:.0f} bytes of ledger for each of {results} results, {archive / results:.0f} archived "
        f"and {left / results:.0f} for fixed pages and metrics"
    )
    assert archive / results <= 150
    long, results = make_run(tmp_path / "long", 20_000, 30), 20_000
    full, archive, left = all_archived(long)
    figure(
        f"made up: {full / results:.0f} bytes for each of {results} results, {(archive + left) / results:.0f} archived"
    )
    assert (archive + left) / results <= 150
