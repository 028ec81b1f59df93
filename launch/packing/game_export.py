"""`ludus export RUN --to games`: recorded episodes as a data set. Observations are made again by replay.

export_games(run, Path("games"))

A result stores its actions: all of them in evaluation, a share in training (`collector.record_share`). An episode that
does not replay as it was played is an error.
"""

from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from collectors.envs.config import make_environment
from collectors.envs.rows import Environment
from collectors.episode import ReplayError, difference, replay
from collectors.row_tape import RowTape, TapedSteps
from launch.config.config import stored
from launch.terminal.spinner import Spinner
from launch.viewers.view import open_view
from league.events import Event, ResultCounted
from league.state import LeagueState
from league.store.game_file import OF_DECISIONS, PATTERN, Games, GamesCard, write_games
from league.store.run_directory import RunDirectory
from league.ticket import Entry, Episode, Purpose, Ticket

EPISODES_IN_A_FILE = 1000
DECISIONS_IN_A_FILE = 200_000  # about: a file ends with the episode that reaches one of both


def export_games(run: RunDirectory, out: Path | None = None, allow: Collection[str] = ()) -> tuple[Path, int]:
    """Write all recorded episodes of a run into files; return their folder, and the number of episodes."""
    folder, config = out or run.inside(run.root / "export" / "games"), stored(run)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(PATTERN):  # of an earlier export: with more episodes files may be divided otherwise
        old.unlink()
    env = make_environment(config.env, 1, allow)
    with closing(env), Spinner("export to games") as progress:
        writer = GameWriter(folder, run.name, msgspec.to_builtins(replace(config.env, python="")), env, progress)
        open_view(run, writer.observe)
        writer.flush()
    return folder, writer.count


class _Replayed(NamedTuple):
    """An episode that was played again, and the players of its entries by number."""

    ticket: Ticket
    number: int
    outcome: Episode
    steps: TapedSteps
    entries: list[int]  # of each decision
    players: list[int]


class GameWriter:
    """Observes results, replays their recorded episodes, and writes them into numbered files."""

    def __init__(self, folder: Path, run: str, config: dict[str, Any], env: Environment, progress: Spinner) -> None:
        self._folder, self._run, self._config, self._progress = folder, run, config, progress
        self._tape = RowTape(env)
        self._pending: list[_Replayed] = []
        self._known: dict[tuple[str, str], int] = {}  # name and snapshot of each player, with its number in the file
        self._files = self.count = 0

    def observe(self, seq: int, event: Event, state: LeagueState) -> None:
        """Take in the episodes of a result whose actions were recorded."""
        if not isinstance(event, ResultCounted):
            return
        ticket = state.open[event.ticket]
        for number, episode in enumerate(event.episodes):
            if episode.actions:
                self._pending.append(self._replayed(ticket, event.attempt, number, episode, state.seed))
                self.count += 1
        self._progress.update(f"{self.count:,} episodes")
        decisions = sum(len(one.steps.agent) for one in self._pending)
        if len(self._pending) >= EPISODES_IN_A_FILE or decisions >= DECISIONS_IN_A_FILE:
            self.flush()

    def _replayed(self, ticket: Ticket, attempt: int, number: int, episode: Episode, seed: int) -> _Replayed:
        frames, entries = replay(self._tape, ticket, attempt, number, episode.actions, seed), list[int]()
        while True:
            try:
                entries += [move.entry for move in next(frames).moves]
            except StopIteration as stop:
                outcome: Episode = stop.value
                break
        if wrong := difference(episode, outcome):
            raise ReplayError(f"{ticket.number}.{number} does not play as it did: {wrong}")
        players = [self._number(entry) for entry in ticket.entries]
        return _Replayed(ticket, number, outcome, self._tape.take(), entries, players)

    def _number(self, entry: Entry) -> int:
        weights = entry.snapshot or (f"bot:{entry.bot}" if entry.bot else "")
        return self._known.setdefault((str(entry.player), weights), len(self._known))

    def flush(self) -> None:
        """Write what is pending into the next file."""
        if not self._pending:
            return
        write_games(self._folder / f"games-{self._files:05}.safetensors", self._gathered())
        self._pending, self._known, self._files = [], {}, self._files + 1

    def _gathered(self) -> Games:
        pending = self._pending
        names = [name for name in OF_DECISIONS if name not in ("episode", "player")]
        steps = {name: np.concatenate([getattr(one.steps, name) for one in pending]) for name in names}
        return Games(
            card=GamesCard(
                run=self._run,
                env=self._config,
                spec=self._tape.spec,
                players=tuple(name for name, _ in self._known),
                snapshots=tuple(weights for _, weights in self._known),
            ),
            episode=np.repeat(np.arange(len(pending), dtype=np.int32), [len(one.entries) for one in pending]),
            player=np.array([one.players[entry] for one in pending for entry in one.entries], np.int32),
            ticket=np.array([one.ticket.number for one in pending], np.int64),
            number=np.array([one.number for one in pending], np.int32),
            training=np.array([one.ticket.purpose == Purpose.TRAIN for one in pending], np.bool_),
            players=np.array([one.players for one in pending], np.int32),
            returns=np.array([one.outcome.returns for one in pending], np.float32),
            ranks=np.array([one.outcome.ranks for one in pending], np.int16),
            **steps,
        )
