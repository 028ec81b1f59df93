"""Recorded games as a data set: files of arrays that anybody can read, and that execute nothing.

    for games in read_games(Path("games")):                 # one file after the other
        games.observation[games.episode == 0]               # all decisions of its first episode

A file is safetensors; its metadata has one entry, `ludus_games`, with the card as JSON.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import safetensors.numpy

from league import limits
from league.errors import InputError
from league.segment import not_finite
from league.spec import EnvSpec
from league.store.files import publish
from league.store.plain_json import decode_json
from league.store.regular_file import read_regular
from league.store.snapshots import metadata_of

FORMAT = 1
KEY = "ludus_games"  # of the entry in the metadata
PATTERN = "games-*.safetensors"


class GameFileError(InputError):
    """A file that holds no games, or cannot be read."""


class GamesCard(msgspec.Struct, frozen=True, kw_only=True):
    """What the arrays of a file are about."""

    format: int = FORMAT
    run: str
    env: dict[str, Any]  # the config of the environment
    spec: EnvSpec
    players: tuple[str, ...]  # by number
    snapshots: tuple[str, ...]  # of each player, a bot's name after `bot:`; empty for live weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Games:
    """The decisions and outcomes of some episodes. E episodes, N decisions of all of them, S seats."""

    card: GamesCard
    episode: npt.NDArray[np.int32]  # [N] the number of the episode in this file
    agent: npt.NDArray[np.int16]  # [N] index into spec.agents
    player: npt.NDArray[np.int32]  # [N] index into card.players
    observation: npt.NDArray[Any]  # [N, *observation]
    mask: npt.NDArray[np.bool_]  # [N, actions]
    action: npt.NDArray[Any]  # [N], or [N, parts]
    reward: npt.NDArray[np.float32]  # [N] earned until the agent's next decision, or its end
    last: npt.NDArray[np.bool_]  # [N] the agent's last decision
    truncated: npt.NDArray[np.bool_]  # [N] the game would have gone on after it
    ticket: npt.NDArray[np.int64]  # [E] of the run's ledger
    number: npt.NDArray[np.int32]  # [E] of the episode in its ticket: `ludus replay RUN TICKET.NUMBER`
    training: npt.NDArray[np.bool_]  # [E] whether somebody learned from it; otherwise it was evaluation
    players: npt.NDArray[np.int32]  # [E, S] the entries of the ticket; returns and ranks are in their order
    returns: npt.NDArray[np.float32]  # [E, S]
    ranks: npt.NDArray[np.int16]  # [E, S] 0 is the best

    def __len__(self) -> int:
        return len(self.ticket)


ARRAYS = tuple(item.name for item in fields(Games) if item.name != "card")
OF_DECISIONS = ARRAYS[: ARRAYS.index("ticket")]


def write_games(path: Path, games: Games) -> None:
    """Write a file of games."""
    arrays = {name: np.ascontiguousarray(getattr(games, name)) for name in ARRAYS}
    text = msgspec.json.encode(games.card, order="sorted").decode()
    publish(path, safetensors.numpy.save(arrays, metadata={KEY: text}))


def read_games(folder: Path) -> Iterator[Games]:
    """Yield the files of a data set in their order, or one file; raise GameFileError, in one line, if one is none."""
    paths = sorted(folder.glob(PATTERN)) if folder.is_dir() else [folder]
    if not paths:
        raise GameFileError(f"there are no games in {folder}. Write some with: ludus export RUN --to games")
    yield from map(_read, paths)


def _read(path: Path) -> Games:
    try:
        data = read_regular(path, limits.STATE_FILE)
        card = decode_json(metadata_of(data)[KEY].encode(), GamesCard)
        if card.format != FORMAT:
            raise ValueError(f"it has format {card.format}, this Ludus reads {FORMAT}: update it")
        arrays = safetensors.numpy.load(data)
        games = Games(card=card, **{name: arrays[name] for name in ARRAYS})
        _check(games)
    except Exception as error:
        detail = " ".join(str(error).split())[:200] or type(error).__name__
        raise GameFileError(f"{path} is no whole file of games: {detail}") from error
    return games


def _check(games: Games) -> None:
    """Raise ValueError if an array is not what the card and the other arrays make of it."""
    for name, (dtype, shape) in _expected(games).items():
        array = getattr(games, name)
        if array.dtype != dtype or array.shape != shape:
            found, needed = f"{array.dtype} {array.shape}", f"{np.dtype(dtype)} {shape}"
            raise ValueError(f"the array {name} is {found}, the card and the other arrays need {needed}")
    for name, most in _indices(games).items():
        array = getattr(games, name)
        if array.size and not 0 <= array.min() <= array.max() < most:
            raise ValueError(f"the array {name} has numbers that are none of {most}")
    if (games.episode[1:] < games.episode[:-1]).any():
        raise ValueError("the array episode does not ascend: the decisions of an episode follow one another")
    if wrong := not_finite({name: getattr(games, name) for name in ("observation", "action", "reward", "returns")}):
        raise ValueError(f"the array {wrong[0]} holds NaN or infinity")


def _expected(games: Games) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the dtype and the shape of every array."""
    spec, decisions, episodes = games.card.spec, games.episode.shape[:1], games.ticket.shape[:1]
    entries = (*episodes, games.players.shape[-1])
    return {
        "episode": ("int32", decisions),
        "agent": ("int16", decisions),
        "player": ("int32", decisions),
        "observation": (spec.observation.dtype, (*decisions, *spec.observation.shape)),
        "mask": ("bool", (*decisions, spec.actions)),
        "action": (spec.action.dtype, (*decisions, *spec.action.shape)),
        "reward": ("float32", decisions),
        "last": ("bool", decisions),
        "truncated": ("bool", decisions),
        "ticket": ("int64", episodes),
        "number": ("int32", episodes),
        "training": ("bool", episodes),
        "players": ("int32", entries),
        "returns": ("float32", entries),
        "ranks": ("int16", entries),
    }


def _indices(games: Games) -> dict[str, int]:
    """Return the arrays that count something, and how many of it there are."""
    players = len(games.card.players)
    return {"episode": len(games), "agent": len(games.card.spec.agents), "player": players, "players": players}
