import json

import numpy as np
from packed import packed

import ludus
from launch.cli import main


def test_the_command_writes_a_file_named_after_run_and_player(played, in_an_empty_directory, capsys):
    assert main(["pack", str(played[0].root), "main"]) == 0
    assert capsys.readouterr().out == "first-main.safetensors\n"
    player = ludus.load("first-main.safetensors", seed=1)
    assert player.act(np.zeros((3, 3, 2), np.int8), [0, 0, 1, 0, 0, 0, 0, 0, 0]) == 2


def test_show_prints_json_for_programs_and_one_line_for_a_wrong_file(tmp_path, capsys):
    path = packed(tmp_path / "p")
    assert main(["show", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["manifest"]["decisions"] == 1000
    path.write_bytes(path.read_bytes()[:-3])
    assert main(["show", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_tournament_prints_standings_and_writes_a_report(in_an_empty_directory, tmp_path, capsys):
    packed(tmp_path / "a.safetensors")
    order = ["tournament", "a.safetensors", "random", "--rounds", "2", "--inline", "--name", "cup"]
    assert main(order) == 0
    out = capsys.readouterr()
    assert "Who beats whom" in out.out
    assert (tmp_path / "runs" / "cup" / "report" / "report.html").exists()
    assert main([*order, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["player"]: row["games"] for row in found["standings"]} == {"a": 4, "random": 4}
    assert main([*order, "--anchor", "random"]) == 2
    assert "write PLAYER=ELO" in capsys.readouterr().err


def test_the_zoo_is_listed_and_shown(capsys):
    assert main(["zoo"]) == 0
    assert "zoo:leduc/main  plays leduc_poker; rating" in capsys.readouterr().out
    assert main(["zoo", "--json"]) == 0
    assert "zoo:connect_four/strong" in json.loads(capsys.readouterr().out)
    assert main(["show", "zoo:simple_tag/agent"]) == 0
    assert "simple_tag as agent" in capsys.readouterr().out
    assert main(["show", "zoo:chess/best"]) == 2
