"""Who takes part in a tournament: packed players, players of runs (RUN/PLAYER) and bots.

entrants = find_entrants(["main.safetensors", "first/main", "random"])
env = common_environment(entrants)
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from collectors.envs.config import EnvConfig
from launch.config.config import stored
from launch.config.player_files import player_path, unlike_environments
from launch.matches.match import find_entry
from launch.viewers.view import open_view
from league.errors import InputError
from league.ids import Hash
from league.player import FROZEN, SCRIPTED
from league.plugins import names
from league.rulebook import LONGEST_NAME, PlayerConfig
from league.store.player_file import read_player
from league.store.run_directory import RunDirectory, RunError
from league.store.snapshots import SnapshotStore

USE = "name a packed player (FILE or zoo:NAME), RUN/PLAYER, or a bot"


class TournamentError(InputError):
    """A tournament that cannot be played; the message says what to change."""


@dataclass(frozen=True, slots=True)
class TournamentEntrant:
    """A player of a tournament: where its weights lie, or its bot; and the environment that it was made for."""

    given: str  # as the user named it
    name: str  # in the tournament
    bot: str | None = None
    file: Path | None = None  # a packed player, or the snapshot of a run
    snapshot: Hash | None = None
    role: str | None = None
    env: EnvConfig | None = None

    def row(self, anchor: float | None) -> PlayerConfig:
        """Return the entrant as a player of a league."""
        if self.bot is not None:
            return PlayerConfig(kind=SCRIPTED, bot=self.bot, anchor=anchor)
        return PlayerConfig(kind=FROZEN, weights=str(self.file), role=self.role, anchor=anchor)


def find_entrants(given: Sequence[str]) -> list[TournamentEntrant]:
    """Return the entrants, each under a name of its own."""
    found: list[TournamentEntrant] = []
    for text in given:
        entrant = _find(text)
        same = sum(one.name == entrant.name or one.name.startswith(f"{entrant.name}_") for one in found)
        found.append(replace(entrant, name=f"{entrant.name}_{same + 1}") if same else entrant)
    return found


def _find(text: str) -> TournamentEntrant:
    path = player_path(text)
    if path.is_file():
        packed = read_player(path)
        env = msgspec.convert(packed.card.env, EnvConfig)
        name = _name(text.removeprefix("zoo:") if text.startswith("zoo:") else path.stem)
        return TournamentEntrant(text, name, file=path, snapshot=packed.hash, role=packed.card.role, env=env)
    if text in names("ludus.bots") or (":" in text and "/" not in text):
        return TournamentEntrant(text, _name(text), bot=text)
    run, slash, player = text.rpartition("/")
    if not slash:
        raise TournamentError(f"there is no file and no bot {text!r}: {USE}")
    return _of_run(text, run, player)


def _of_run(text: str, run_name: str, player: str) -> TournamentEntrant:
    """Return a player of a run, as it is evaluated now."""
    try:
        run = RunDirectory.find(run_name)
    except RunError as error:
        raise TournamentError(f"{text!r} is neither a file nor a player of a run: {error}") from error
    state, config = open_view(run).state, stored(run)
    entry = find_entry(state, player)
    if entry.bot is not None:
        return TournamentEntrant(text, _name(text), bot=entry.bot, env=config.env)
    if entry.snapshot is None:
        raise TournamentError(f"{text!r} is a mixture: name its members")
    file = SnapshotStore(run.snapshots).path(entry.snapshot)
    role = state.population[entry.player].role
    name = _name(f"{run.name}_{player}")
    return TournamentEntrant(text, name, file=file, snapshot=entry.snapshot, role=role, env=config.env)


def _name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_")[: LONGEST_NAME - 4] or "player"


def common_environment(entrants: Sequence[TournamentEntrant], given: EnvConfig | None = None) -> EnvConfig:
    """Return the environment that all were made for; raise TournamentError with the difference if there is none."""
    with_env = [(one.given, one.env) for one in entrants if one.env is not None]
    if given is not None:
        with_env.insert(0, ("--env", given))
    if not with_env:
        raise TournamentError("bots play any game: say which one with --env, such as --env connect_four")
    name, env = with_env[0]
    for other, own in with_env[1:]:
        if unlike := list(
            unlike_environments(msgspec.to_builtins(own), msgspec.to_builtins(env), f"in {other}", f"in {name}")
        ):
            raise TournamentError(f"{other} is not for the same game as {name}: {'; '.join(unlike)}")
    return env
