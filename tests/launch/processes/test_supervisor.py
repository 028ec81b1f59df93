"""The supervisor of `launch=local`. tests/process kills the processes that it restarts."""

import pytest
from evil_text import EVIL, shown

from launch.config.compose import compose
from launch.config.config import to_plain
from launch.config.env_spec import describe_environment
from launch.processes.supervisor import GivenUp, Supervisor, last_line, tail
from launch.topology.parts import Part
from launch.topology.roles import ProcessRole
from launch.viewers.live import LiveTable
from league.store.run_directory import RunDirectory


def test_logs_that_the_supervisor_prints_are_clean(tmp_path, capsys):
    log = tmp_path / "x.log"
    log.write_text(f"2026-01-01 00:00:00,000 ERROR ludus.x: {EVIL}\n")
    with LiveTable("x", plain=True) as table:
        table.note(tail(log))
        table.note(last_line(log))
    assert shown(capsys.readouterr().out) == []


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_learner_that_refuses_what_it_was_given_is_not_started_again(ranks, tmp_path, patiently):
    run, config, warnings = RunDirectory(tmp_path / "run").create(), compose(["env=tic_tac_toe"]), []
    describe_environment(config, run, ())
    run.write_config(to_plain(config) | {"algo": {"name": "gone_package:GoneConfig"}})
    refused = r"^[^\n]*gone_package[^\n]* \(the log of the learner-0: [^\n]*\)$"
    with (
        pytest.raises(GivenUp, match=refused),
        Supervisor(run, [Part(ProcessRole.LEARNER, 0, ranks)], warn=warnings.append) as supervisor,
    ):
        patiently(supervisor.poll, 100, "the refusal")
    assert warnings == []
    log = run.log("learner", 0).read_text()
    assert "launch/processes/run_learner.py" not in log, "a line, and no traceback"
