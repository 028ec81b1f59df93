import re
import sqlite3

import msgspec
import pytest

from launch.matches import playing
from launch.viewers.view import ViewError
from league.events import ResultCounted, decode, encode
from league.store.ledger import open_copy
from league.store.snapshots import SnapshotMissing


def results(run):
    with open_copy(run.ledger) as ledger:
        return [event for _, event in ledger.events() if isinstance(event, ResultCounted)]


def test_watch_shows_who_is_who_every_move_and_the_result(run, state, capsys):
    naps = []
    assert playing.watch(run, "main", "random", seed=3, delay=0.25, sleep=naps.append) == 0
    text = capsys.readouterr().out
    newest = state.candidate("main").snapshot
    assert f"player_1: main, snapshot {newest[:12]}" in text
    assert "player_2: random, bot random" in text
    assert "1. player_1 (main) plays " in text
    assert "2. player_2 (random) plays " in text
    assert "X" in text
    assert "returns: main " in text
    moves = text.count(" plays ")
    assert f"after {moves} moves" in text
    assert naps == [0.25] * (moves + 1)


def test_the_same_seed_is_the_same_game(run, capsys):
    games = []
    for seed in (1, 1, 2, 3, 4):
        assert playing.watch(run, "main.0", "exploiter", seed, 0) == 0
        games.append(capsys.readouterr().out)
    assert games[0] == games[1]
    assert len(set(games)) > 2


def test_watch_refuses_who_cannot_play(run):
    with pytest.raises(ViewError, match="did you mean 'main'"):
        playing.watch(run, "maine", "random")
    with pytest.raises(ViewError, match="'one_ply' cannot play tic_tac_toe"):
        playing.watch(run, "main", "one_ply")
    for path in run.snapshots.iterdir():
        path.unlink()
    with pytest.raises(SnapshotMissing):
        playing.watch(run, "main.0", "random")


def test_an_environment_that_has_a_text_of_its_own_shows_it(run, capsys):
    plain = run.read_config()
    run.write_config(plain | {"env": plain["env"] | {"name": "pettingzoo", "id": "classic/chess_v6"}})
    assert playing.watch(run, "random", "random", seed=1, delay=0) == 0
    text = capsys.readouterr().out
    assert "R N B Q K B N R" in text
    assert " sees" not in text


@pytest.mark.slow
def test_every_recorded_episode_of_a_league_replays(run, capsys):
    count = 0
    for result in results(run):
        for index, episode in enumerate(result.episodes):
            if episode.actions and (index == 0 or result.ticket % 5 == 0):
                assert playing.replay(run, f"{result.ticket}.{index}", 0) == 0
                count += 1
    assert count > 20
    assert capsys.readouterr().out.count("the same outcome as recorded") == count


def test_without_an_episode_the_first_recorded_one_is_shown(run, capsys):
    result = next(r for r in reversed(results(run)) if r.episodes[0].actions)
    assert playing.replay(run, str(result.ticket), 0) == 0
    assert f"after {result.episodes[0].length} moves" in capsys.readouterr().out


def test_what_was_not_recorded_is_told_with_what_was(run):
    found = results(run)
    bare = next(r for r in found if not any(e.actions for e in r.episodes))
    partly = next(r for r in found if r.episodes[0].actions and not r.episodes[1].actions)
    newest = next(r for r in reversed(found) if r.episodes[-1].actions)
    last = f"{newest.ticket}.{len(newest.episodes) - 1}"
    with pytest.raises(ViewError, match=rf"no episode of ticket {bare.ticket} was recorded; .*{re.escape(last)}"):
        playing.replay(run, str(bare.ticket))
    with pytest.raises(ViewError, match=rf"episode 1 of ticket {partly.ticket} was not recorded; .*{partly.ticket}\.0"):
        playing.replay(run, f"{partly.ticket}.1")
    with pytest.raises(ViewError, match="ticket 99999 has no result; recorded are, for example"):
        playing.replay(run, "99999")


@pytest.mark.parametrize("text", ["", "main", "3.", "3.x", "-3", "1.2.3", "9" * 5000])
def test_what_names_no_match_is_refused(text, run):
    with pytest.raises(ViewError, match="names no match"):
        playing.replay(run, text)


def test_a_record_that_lies_is_found(run, capsys):
    result = next(r for r in results(run) if r.episodes[0].actions and r.episodes[0].ranks == (0, 1))
    lie = msgspec.structs.replace(result.episodes[0], ranks=(1, 0))
    body = encode(msgspec.structs.replace(result, episodes=(lie, *result.episodes[1:])))
    assert decode(body) != result
    with sqlite3.connect(run.ledger) as database:
        database.execute(
            "update events set body = ? where kind = 'result_counted' and ticket = ?", (body.decode(), result.ticket)
        )
    database.close()
    assert playing.replay(run, str(result.ticket), 0) == 1
    assert "NOT what was recorded: ranks (1, 0) became (0, 1)" in capsys.readouterr().out
