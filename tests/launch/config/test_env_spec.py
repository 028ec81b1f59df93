"""The environment's spec in the run directory."""

import pytest

from launch.config.compose import compose
from launch.config.env_spec import describe_environment, prepare_league, read_spec
from league.errors import InputError
from league.store.run_directory import RunDirectory


def test_every_process_reads_the_spec_that_was_taken_from_the_environment(tmp_path):
    run = RunDirectory(tmp_path / "first").create()
    spec = describe_environment(compose(["env=tic_tac_toe"]), run, ())
    assert read_spec(run) == spec
    assert (spec.name, len(spec.seats), spec.actions) == ("tic_tac_toe", 2, 9)


def test_rules_that_are_not_allowed_are_refused_before_a_launch(tmp_path):
    run = RunDirectory(tmp_path / "first").create()
    config = compose(["env=tic_tac_toe", "league=selfplay"])
    assert prepare_league(config, run, ()) == read_spec(run)
    config.league.promotion.rule = "my_rules:never"
    with pytest.raises(InputError, match="--allow my_rules"):
        prepare_league(config, run, ())
