"""The counters of a league, by SQL and by the fold."""

from launch.verify.counters import by_fold, by_sql
from launch.viewers.view import read_offline
from league.store.ledger import open_copy


def test_sql_and_fold_count_the_same_things(run, state):
    with open_copy(run.ledger) as ledger:
        counted = {name: number for name, number in by_sql(ledger).items() if number}
    folded = {name: number for name, number in by_fold(state).items() if number}
    assert counted == folded
    assert counted["env steps (train)"] > 1000
    assert any("beat random (evaluate)" in name for name in counted)


def test_sql_counts_across_the_ends_of_windows(archived, monkeypatch):
    """Tickets are issued in one window and settled in a later one."""
    state = read_offline(archived).state
    for window in (7, 100, 20_000):
        monkeypatch.setattr("launch.verify.counters.WINDOW", window)
        with open_copy(archived.ledger) as ledger:
            assert {k: n for k, n in by_sql(ledger).items() if n} == {k: n for k, n in by_fold(state).items() if n}
