"""The commands that read runs."""

from launch.cli import main


def test_the_command_says_where_it_is(run, capsys, tmp_path):
    assert main(["report", str(run.root), "--out", str(tmp_path / "here")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'here' / 'report.html'}\n"
