"""A data set of games holds every recorded episode, as it was played."""

import numpy as np
import pytest

import ludus
from collectors.episode import ReplayError
from launch.cli import main
from launch.config.config import stored, to_plain
from launch.packing import game_export
from launch.packing.game_export import export_games
from launch.viewers.view import read_offline
from league.events import ResultCounted


def recorded(run):
    """Return every recorded episode of a run."""
    found = []

    def observe(seq, event, state):
        if isinstance(event, ResultCounted):
            ticket = state.open[event.ticket]
            found.extend((ticket, i, episode) for i, episode in enumerate(event.episodes) if episode.actions)

    read_offline(run, observe)
    return found


def test_every_recorded_episode_is_there_with_its_outcome(played, tmp_path, monkeypatch):
    run, _ = played
    monkeypatch.setattr(game_export, "EPISODES_IN_A_FILE", 60)
    (tmp_path / "games-00099.safetensors").write_bytes(b"of an earlier export")
    _, count = export_games(run, tmp_path)
    files = list(ludus.read_games(tmp_path))
    wanted = recorded(run)
    assert len(files) > 1
    assert sum(map(len, files)) == count == len(wanted)
    rows = iter(wanted)
    for games in files:
        for e in range(len(games)):
            ticket, number, episode = next(rows)
            assert (games.ticket[e], games.number[e]) == (ticket.number, number)
            names = [games.card.players[p] for p in games.players[e]]
            assert names == [entry.player for entry in ticket.entries]
            assert games.returns[e].tolist() == list(episode.returns)
            mine = games.episode == e
            assert mine.sum() == episode.length
            assert games.mask[mine, games.action[mine]].all(), "only legal actions were played"
            earned = np.bincount(games.player[mine], games.reward[mine], minlength=len(games.card.players))
            if len(set(games.players[e])) == 2:
                assert earned[games.players[e]].tolist() == list(episode.returns)


def test_the_command_writes_into_the_run(run, capsys):
    assert main(["export", str(run.root), "--to", "games"]) == 0
    assert f"episodes in {run.root}/export/games" in capsys.readouterr().err
    assert next(ludus.read_games(run.root / "export" / "games")).card.run == "first"


def test_games_of_another_environment_are_refused(run, tmp_path):
    config = stored(run)
    config.env.name = "connect_four"
    run.write_config(to_plain(config))
    with pytest.raises(ReplayError, match="does not play as it did"):
        export_games(run, tmp_path / "out")
