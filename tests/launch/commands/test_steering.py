"""The commands that work on a run that is under way."""

import json
from pathlib import Path

import pytest
from command_line import refused

from launch.cli import main
from launch.config.compose import compose
from launch.config.config import to_plain
from league.store.run_directory import RunDirectory
from league.wire.keys import make_keys
from league.wire.messages import Role

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


@pytest.fixture
def locked():
    """A run whose processes talk by tcp."""
    run = RunDirectory(Path("runs/locked")).create()
    run.write_config(to_plain(compose(["launch.transport=tcp"])))
    make_keys(run.keys, {"collector-0": Role.COLLECTOR, "learner-0": Role.LEARNER})
    return run


def test_keys_are_listed_revoked_and_replaced_and_never_printed(locked, capsys):
    secrets = [json.loads(path.read_text()) for path in locked.keys.glob("*-0.json")]

    def told():
        assert main(["keys", "locked", "--json"]) == 0
        return {row["name"]: (row["role"], row["state"]) for row in json.loads(capsys.readouterr().out)}

    assert told()["collector-0"] == ("collector", "admitted")
    assert set(told()) == {"viewer", "operator", "human", "collector-0", "learner-0"}
    assert main(["keys", "locked", "revoke", "collector-0"]) == 0
    printed = capsys.readouterr().out
    assert "ludus keys locked new collector-0" in printed
    assert told()["collector-0"] == ("collector", "revoked")
    assert main(["keys", "locked"]) == 0
    printed += capsys.readouterr().out
    assert "revoked" in printed
    assert main(["keys", "locked", "new", "collector-0"]) == 0
    printed += capsys.readouterr().out
    assert told()["collector-0"] == ("collector", "admitted")
    assert not any(file[half] in printed for file in secrets for half in ("public", "secret", "server"))


def test_keys_of_nobody_and_of_a_run_without_any_are_refused(locked, capsys):
    assert "there is no key of 'collector-9'; there are viewer" in refused(
        capsys, "keys", "locked", "revoke", "collector-9"
    )
    assert "whose key?" in refused(capsys, "keys", "locked", "new")
    RunDirectory(Path("runs/open")).create().write_config(to_plain(compose([])))
    assert "has no keys: its processes meet in a folder" in refused(capsys, "keys", "open")
