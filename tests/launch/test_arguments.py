"""The parser of the command line: help, examples, wrong usage."""

import subprocess
import sys
from pathlib import Path

import pytest

from launch.arguments import COMMANDS, build_parser
from launch.cli import main


def test_every_command_has_an_example_that_parses_and_a_handler():
    for name, command in COMMANDS.items():
        program, *argv = command.example.split()
        assert program == "ludus"
        assert build_parser().parse_args(argv).command == name
        assert callable(command.handle)


def test_help_shows_an_example_of_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert all(command.example in text for command in COMMANDS.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_shows_its_example(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert COMMANDS[name].example in capsys.readouterr().out


HELP = """
import sys
from launch.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
print(sorted({"torch", "numpy", "hydra", "zmq", "msgspec", "rich", "pettingzoo"} & set(sys.modules)))
import launch.config.config
print(sorted({"torch", "hydra", "pettingzoo"} & set(sys.modules)))
"""


def test_help_imports_nothing_heavy_and_the_config_no_torch():
    root = Path(sys.modules["launch.cli"].__file__).parent.parent
    output = subprocess.run([sys.executable, "-c", HELP], cwd=root, capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-2:] == ["[]", "[]"]


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("ludus ")


@pytest.mark.parametrize(
    "argv", [[], ["rnu"], ["status"], ["status", "a", "b"], ["run", "--fast"], ["watch", "latest", "a"]]
)
def test_wrong_usage(argv, capsys):
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    assert "usage: ludus" in capsys.readouterr().err


def test_an_argument_too_many_is_answered_with_the_usage_of_the_command(capsys):
    with pytest.raises(SystemExit):
        main(["status", "a", "b"])
    told = capsys.readouterr().err
    assert told.startswith("usage: ludus status [-h]")
    assert told.endswith("ludus status: error: unrecognized arguments: b\n")
    with pytest.raises(SystemExit):
        main(["resume", "first", "league.budget.minutes=3"])
    assert "ludus run name=first ... league.budget.minutes=3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "right"), [("rnu", "run"), ("standing", "standings"), ("check", "check-env"), ("dual", "duel")]
)
def test_a_misspelt_command_is_answered_with_the_nearest(wrong, right, capsys):
    with pytest.raises(SystemExit) as ended:
        main([wrong, "latest"])
    assert ended.value.code == 2
    assert f"there is no command {wrong!r}; did you mean {right!r}?" in capsys.readouterr().err


def test_a_command_that_is_like_no_other_is_answered_with_all(capsys):
    with pytest.raises(SystemExit):
        main(["xyzzy"])
    assert f"there is no command 'xyzzy'; there are {', '.join(COMMANDS)}" in capsys.readouterr().err
