"""The environment's spec in the run directory."""

from launch.config.compose import compose
from launch.config.env_spec import describe_environment, read_spec
from league.store.run_directory import RunDirectory


def test_every_process_reads_the_spec_that_was_taken_from_the_environment(tmp_path):
    run = RunDirectory(tmp_path / "first").create()
    spec = describe_environment(compose(["env=tic_tac_toe"]), run, ())
    assert read_spec(run) == spec
    assert (spec.name, len(spec.seats), spec.actions) == ("tic_tac_toe", 2, 9)
