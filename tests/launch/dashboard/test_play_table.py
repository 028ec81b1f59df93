import threading

import pytest

from launch.dashboard import play_table
from launch.dashboard.play_table import Opening, PlayError, PlayTable
from launch.viewers.tables import all_standings
from launch.viewers.view import ViewError, open_view


@pytest.fixture
def table(played):
    table = PlayTable(played[0])
    yield table
    table.leave()


def finish(table, view):
    while not view["over"]:
        view = table.move(view["legal"][0])
    return view


def pieces(view):
    return sum(cell in "XO" for row in view["board"] for cell in row)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_whole_game_is_played_from_either_seat(table, seat):
    view = table.begin(Opening(opponent="main", seat=seat))
    assert (pieces(view), len(view["legal"])) == (seat, 9 - seat)
    assert view["actions"] == 9
    view = finish(table, view)
    assert "after" in view["outcome"]
    assert view["problem"] == ""
    assert len(view["log"]) == pieces(view) >= 5


def test_a_move_can_be_taken_back_and_another_made(table):
    view = table.begin(Opening(opponent="random"))
    assert not view["undo"]
    first = table.move(4)
    before = table.move(first["legal"][0])
    if before["over"]:
        return
    again = table.undo()
    assert again["board"] == first["board"]
    assert again["legal"] == first["legal"]
    assert table.undo()["legal"] == list(range(9))
    with pytest.raises(PlayError, match="nothing to take back"):
        table.undo()
    assert "after" in finish(table, table.view())["outcome"]


def test_an_illegal_move_is_refused(table):
    table.begin(Opening(opponent="random"))
    table.move(4)
    with pytest.raises(PlayError, match="4 is no legal move now"):
        table.move(4)


def test_the_player_says_what_it_would_do(table):
    table.begin(Opening(opponent="main"))
    found = table.considered()
    assert sum(found["chances"].values()) == pytest.approx(1, abs=1e-3)
    assert found["value"] is not None
    table.begin(Opening(opponent="random"))
    assert table.considered() == {"chances": {}, "value": None}


def test_undo_keeps_what_the_player_remembers(table, monkeypatch):
    """The moves that stay are played again before it, so it is asked in every position."""
    asked = []
    seat_all = play_table.seat_actors

    class Watched:
        def __init__(self, bots):
            self.bots = bots

        def choose_in(self, seed):
            choose = self.bots.choose_in(seed)
            return lambda rows, entry: asked.append(len(entry)) or choose(rows, entry)

    monkeypatch.setattr(play_table, "seat_actors", lambda *words, **more: Watched(seat_all(*words, **more)))
    table.begin(Opening(opponent="random"))
    first = table.move(4)
    if table.move(first["legal"][0])["over"]:
        return
    del asked[:]
    table.undo()
    assert len(asked) == 3  # its human's first move, its own, and the position that is open again


def test_games_that_are_begun_at_the_same_time_do_not_mix(table, monkeypatch):
    monkeypatch.setattr(play_table, "LEAVE_SECONDS", 100.0)  # each leaves the one before at once, wherever that is
    threads = [threading.Thread(target=table.begin, args=(Opening(opponent="random"),)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert sum(thread.name == "game" for thread in threading.enumerate()) == 1
    view = finish(table, table.view())
    assert len(view["log"]) == pieces(view)


def test_a_failing_environment_is_a_line_on_the_page(table, monkeypatch, caplog):
    def fail(*words, **more):
        raise RuntimeError("the board is gone")

    monkeypatch.setattr(play_table, "play", fail)
    assert table.begin(Opening(opponent="random"))["problem"] == "RuntimeError: the board is gone"
    assert "the game failed" in caplog.text


def test_a_game_for_a_rating_counts_and_cannot_be_undone(run):
    table = PlayTable(run)
    view = table.begin(Opening(opponent="random", rated=True, name="ada"))
    assert view["problem"] == ""
    if len(view["log"]) < 2:
        view = table.move(view["legal"][0])
    with pytest.raises(PlayError, match="the game is rated"):
        table.undo()
    finish(table, view)
    table.leave()
    rated = {row.player: row.games for row in all_standings(open_view(run).state)}
    assert rated["ada"] == 1


def test_a_rated_game_that_is_left_does_not_count(run):
    table = PlayTable(run)
    table.begin(Opening(opponent="random", rated=True, name="ada"))
    table.leave()
    assert "not counted" in table.view()["note"]
    assert "ada" not in {row.player for row in all_standings(open_view(run).state)}


def test_who_can_be_played(table, state):
    assert set(table.opponents()) == {player.id for player in state.population}


def test_an_unknown_opponent_is_refused(table):
    with pytest.raises(ViewError, match="nobody"):
        table.begin(Opening(opponent="nobody"))
