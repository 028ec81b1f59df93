"""What an altered ledger explains, and what it does not."""

import sqlite3
from contextlib import closing

from launch.cli import main
from launch.viewers.diagnosis import alteration
from league.events import PlayerReset
from league.store.ledger import Ledger


def test_a_whole_ledger_explains_nothing(run):
    assert alteration(run) == ""


def test_an_event_that_does_not_fit_is_named(run):
    with Ledger.open(run.ledger) as ledger:
        ledger.commit([PlayerReset(player="nobody", incarnation=1)])
        last = ledger.head
    found = alteration(run)
    assert f"event {last} names a player that does not exist: 'nobody'. `ludus verify`" in found
    assert str(run.ledger) in found


def test_a_row_that_was_changed_is_named(run):
    with closing(sqlite3.connect(run.ledger)) as connection:
        connection.execute("update events set body = body || ' ' where seq = 20")
        connection.commit()
    assert "is damaged: event 20" in alteration(run)


def test_a_forged_checkpoint_is_not_believed(run, capsys):
    """Its mark is that of the ledger, but its players are others."""
    from launch.config.config import stored
    from league.store.fold import read_marked, write_fold

    rules = stored(run).league
    state, seq, mark = read_marked(run.fold, rules)
    state.games["nobody"] = 5
    state.training.index("nobody")
    write_fold(run.fold, state, seq, mark)
    assert main(["standings", str(run.root)]) == 0
    assert "nobody" not in capsys.readouterr().out
