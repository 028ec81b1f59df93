"""Errors that a user can fix have one base; those on bad input are also ValueErrors, as the API promises."""

import pytest

from collectors.envs.config import EnvError
from collectors.envs.outcomes import OutcomeError
from collectors.players.scripted import BotError
from coordinator.challenging import ChallengeError
from coordinator.opening import OpeningError
from launch.config.config import ConfigError
from launch.matches.recording import RecordError
from launch.slurm.commands import SlurmError
from launch.trackers.sink import SinkError
from launch.viewers.view import ViewError
from league.errors import InputError, LudusError
from league.plugins import PluginError
from league.store.ledger import LedgerError
from league.store.run_directory import RunError
from league.store.snapshots import SnapshotError
from league.wire.addresses import AddressError
from league.wire.keys import KeysError

ON_INPUT = (
    AddressError,
    BotError,
    ChallengeError,
    ConfigError,
    EnvError,
    KeysError,
    OpeningError,
    OutcomeError,
    PluginError,
    RecordError,
    RunError,
    SinkError,
    SlurmError,
    ViewError,
)


@pytest.mark.parametrize("error", ON_INPUT)
def test_errors_on_input_are_value_errors(error):
    assert issubclass(error, InputError)
    assert issubclass(error, LudusError)
    assert issubclass(error, ValueError)


@pytest.mark.parametrize("error", [LedgerError, SnapshotError])
def test_errors_of_files_are_fixable(error):
    assert issubclass(error, LudusError)
