"""Errors that a user can fix have one base; those on bad input are also ValueErrors, as the API promises."""

import os

import pytest
from odd_envs import UnreadableError

from collectors.envs.config import EnvError
from collectors.envs.other_python.far_side import errors as far_side
from collectors.envs.outcomes import OutcomeError
from collectors.players.scripted import BotError
from coordinator.challenging import ChallengeError
from coordinator.opening import OpeningError
from launch.config.config import ConfigError
from launch.matches.recording import RecordError
from launch.slurm.commands import SlurmError
from launch.trackers.sink import SinkError
from launch.viewers.view import ViewError
from league.errors import LONGEST_MESSAGE, InputError, LudusError, message_of
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


SAID = {
    "plain": (ValueError("the board caught fire: 50 °C"), "the board caught fire: 50 °C"),
    "nothing": (ValueError(), ""),
    "a file that is no text": (ValueError(os.fsdecode(b"a\xff.png")), r"a\udcff.png"),
    "control codes": (ValueError("a\n\tb \x1b[31m \0"), r"a b \x1b[31m \x00"),
    "long": (ValueError("x" * 5000), "x" * LONGEST_MESSAGE),
    "long and odd": (ValueError("\x00" * 5000), r"\x00" * (LONGEST_MESSAGE // 4)),
    "unreadable": (UnreadableError(), "its message cannot be read: its __str__ raised SystemExit"),
}


@pytest.mark.parametrize(("error", "said"), SAID.values(), ids=SAID)
def test_what_an_error_says_can_be_printed_and_sent_on_both_sides(error, said):
    assert message_of(error) == far_side.message_of(error) == said
    said.encode()
