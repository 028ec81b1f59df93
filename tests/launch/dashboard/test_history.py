from launch.config.track import TrackConfig
from launch.dashboard.history import BUCKETS, POINTS, Chronicle, OpponentCounts, Series
from launch.viewers.view import read_offline
from league.events import PlayerFrozen, PlayerReset
from league.ids import PlayerId, TicketNumber
from league.store.ledger import open_copy
from league.ticket import Entry, Purpose, Ticket


def test_series_are_the_points_of_the_curves(history, played, rows_of):
    rows = rows_of(played[0])
    known = {name for row in rows for name in row.values}
    assert known == set(history.chronicle.series)


def test_births_and_resets_are_those_of_the_ledger(history, played):
    with open_copy(played[0].ledger) as ledger:
        events = [event for _, event in ledger.events()]
    frozen = {event.player.id for event in events if isinstance(event, PlayerFrozen)}
    assert frozen
    assert frozen <= set(history.chronicle.births)
    resets = [(event.player, event.incarnation) for event in events if isinstance(event, PlayerReset)]
    assert [(one["player"], one["incarnation"]) for one in history.chronicle.resets] == resets


def test_the_tree_says_which_exploiter_broke_whom(history, state):
    broke = {one["player"]: one["broke"] for one in history.tree(state)["players"] if one["broke"]}
    assert broke == state.exploits


def test_reading_again_gives_the_same(played, history):
    chronicle = Chronicle(TrackConfig(every=10, payoff_every=1 << 40))
    read_offline(played[0], watcher=chronicle)
    assert chronicle.series == history.chronicle.series
    assert chronicle.opponents.json("main") == history.chronicle.opponents.json("main")


def test_a_long_series_is_thinned_but_keeps_its_newest_point():
    series = Series()
    for i in range(3 * POINTS):
        for column in (series.rows, series.matches, series.env_steps, series.values):
            column.append(i)
    found = series.json(0, 3 * POINTS)
    assert len(found["values"]) <= POINTS
    assert found["values"][-1] == 3 * POINTS - 1
    assert series.json(3 * POINTS - 2, 3 * POINTS)["values"] == [3 * POINTS - 2, 3 * POINTS - 1]
    assert series.json(3 * POINTS - 2, 3 * POINTS - 1)["values"] == [3 * POINTS - 2], (
        "a row that is being written waits"
    )


def ticket(opponent, episodes=2):
    entries = (Entry(PlayerId("main")), Entry(PlayerId(opponent), None, "random"))
    return Ticket(
        number=TicketNumber(1), purpose=Purpose.TRAIN, entries=entries, episodes=episodes, trains=(PlayerId("main"),)
    )


def test_opponents_are_counted_over_time_in_few_buckets():
    counts = OpponentCounts()
    for match in range(1000):
        counts.add(ticket("old" if match < 500 else "new"), match)
    found = counts.json("main")
    assert len(found["buckets"]) <= BUCKETS
    total = sum(sum(bucket["episodes"].values()) for bucket in found["buckets"])
    assert total == 2000
    assert found["buckets"][0]["episodes"] == {"old": 2 * found["width"]}
    assert found["buckets"][-1]["episodes"].keys() == {"new"}
    assert counts.json("nobody")["buckets"] == []
