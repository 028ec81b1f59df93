"""`ludus probe` and `ludus compare` on the command line."""

import json
import shutil

import pytest
from command_line import refused

from launch.cli import main
from launch.config.config import stored, to_plain
from league.store.run_directory import RunDirectory


@pytest.fixture
def pair(run):
    second = RunDirectory(run.root.parent / "second")
    shutil.copytree(run.root, second.root)
    config = stored(second)
    config.name, config.algo["lr"] = "second", 0.1
    second.write_config(to_plain(config))
    return str(run.root), str(second.root)


def test_a_probe_prints_its_verdict(run, capsys):
    argv = ["probe", str(run.root), "main", "--steps", "1_000", "--games", "20", "--inline"]
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert "the probe against main: " in out
    assert "from main's own weights scores" in out
    assert main([*argv, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert plain["verdict"] in out
    assert main([*argv, "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_what_cannot_be_probed_is_refused_in_one_line(run, capsys, tmp_path):
    root = str(run.root)
    assert refused(capsys, "probe", root, "mian") == "there is no player 'mian'; did you mean 'main'?"
    assert refused(capsys, "probe", root, "main", "--steps", "0") == "--steps must be more than 0, got 0"
    assert "there is no such file" in refused(capsys, "probe", root, "main", "--from", "none.safetensors")
    (tmp_path / "text").write_text("no weights")
    assert "is no snapshot of Ludus" in refused(capsys, "probe", root, "main", "--from", str(tmp_path / "text"))


def test_a_probe_from_weights_of_another_game_is_refused(run, bid, capsys):
    foreign = str(next(bid.snapshots.glob("*.safetensors")))
    line = refused(capsys, "probe", str(run.root), "main", "--from", foreign)
    assert "are for another environment than tic_tac_toe" in line


@pytest.mark.slow
def test_a_comparison_is_printed_and_plotted(pair, capsys, tmp_path):
    argv = ["compare", *pair, "--games", "20", "--probe-steps", "0", "--out", str(tmp_path / "out")]
    assert main(argv) == 0
    output = capsys.readouterr()
    assert "head to head" in output.out
    assert "comparison.svg" in output.err
    assert main([*argv, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["groups"] == {"first": ["first"], "second": ["second"]}
    assert len(plain["budgets"]) == 2


def test_what_cannot_be_compared_is_refused_in_one_line(pair, bid, capsys):
    first = pair[0]
    assert "at least two runs, got first" in refused(capsys, "compare", first)
    assert "first plays tic_tac_toe, but bidding plays" in refused(capsys, "compare", first, str(bid.root))
    assert "--games must be at least 1" in refused(capsys, "compare", *pair, "--games", "0")
    assert "there is no run 'nowhere'" in refused(capsys, "compare", first, "nowhere")
