"""What all commands share: arguments, and how they find a run."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from launch.commands.command import add_allow, find_run, optional_path, print_note


def test_packages_are_allowed_one_by_one():
    parser = ArgumentParser()
    add_allow(parser)
    assert parser.parse_args([]).allow == []
    assert parser.parse_args(["--allow", "mine", "--allow", "games"]).allow == ["mine", "games"]


def test_a_run_is_found_by_its_path(run):
    assert find_run(Namespace(run=str(run.root))).root == run.root


def test_an_option_that_was_left_out_is_no_path():
    assert (optional_path(None), optional_path("here")) == (None, Path("here"))


def test_notes_go_to_standard_error(capsys):
    print_note("3 rows")
    assert capsys.readouterr() == ("", "ludus: 3 rows\n")
