from launch.dashboard.standing_rows import StandingRows, first_rows, standing_rows
from launch.viewers.tables import appraisal_of, standings_json


def test_rows_have_what_the_command_prints(state):
    rows = standing_rows(state, appraisal_of(state))
    for row, printed in zip(rows, standings_json(state), strict=True):
        assert printed.items() <= row.items()


def test_wins_and_losses_of_all_players_balance(state):
    rows = standing_rows(state, appraisal_of(state))
    assert sum(row["wins"] for row in rows) > 0
    for row in rows:
        if row["status"] == "frozen":
            assert row["parent"] in ("main", "exploiter")
    assert {row["player"] for row in rows if row["main"]} == {"main"}


def test_the_first_rows_wait_for_no_ratings_and_have_all_else(state):
    fitted = {row["player"]: row for row in standing_rows(state, appraisal_of(state))}
    first = {row["player"]: row for row in first_rows(state)}
    assert first.keys() == fitted.keys()
    for name, row in first.items():
        assert row.keys() == fitted[name].keys()
        assert {key for key in row if row[key] != fitted[name][key]} <= {"place", "rating", "low", "high", "nash"}
        assert row["rating"] is None
    online = [row["online"] for row in first.values() if row["games"]]
    assert online == sorted(online, reverse=True)


def test_only_rows_that_changed_are_sent_again():
    rows = StandingRows()
    rows.update([{"player": "a", "games": 1}, {"player": "b", "games": 1}])
    first = rows.version
    rows.update([{"player": "a", "games": 2}, {"player": "b", "games": 1}])
    assert rows.since(first) == [{"player": "a", "games": 2}]
    assert rows.since(rows.version) == []


def test_a_version_that_is_not_known_gets_everything():
    rows = StandingRows()
    rows.update([{"player": "a", "games": 1}])
    assert len(rows.since(0)) == len(rows.since(99)) == len(rows) == 1


def test_the_version_stays_while_nothing_changes():
    rows = StandingRows()
    for _ in range(3):
        rows.update([{"player": "a", "games": 1}])
    assert rows.version == 1
