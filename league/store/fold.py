"""The fold checkpoint: a state and the number of its last event, so that a restart need not fold a long ledger anew.

    write_fold(run.fold, state, ledger.head)
    found = read_fold(run.fold, config)         # None if it is missing, damaged, or of another version or config

It is only ever a shortcut: whatever is wrong with the file, the ledger tells the same.
"""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from league.events import CandidateWritten
from league.ids import Hash, PlayerId, TicketNumber
from league.payoff import Payoff
from league.player import Player
from league.population import Population
from league.ratings import Elo
from league.rulebook import LeagueConfig
from league.spec import EnvSpec
from league.state import LeagueState
from league.store.files import publish
from league.ticket import Ticket

FOLD_VERSION = 2


class _Table(msgspec.Struct, frozen=True):
    players: list[PlayerId]
    arrays: dict[str, tuple[str, tuple[int, ...], bytes]]


class _Fold(msgspec.Struct, frozen=True, kw_only=True):
    """A state in plain values, field by field as LeagueState has them."""

    version: int
    seq: int
    rules: str  # what of the config the fold depends on
    seed: int
    config_hash: Hash
    env: EnvSpec | None
    term: int
    phase: str
    why: str
    paused: bool
    population: list[Player]
    training: _Table
    evaluation: _Table
    elo: dict[str, Any]
    candidates: dict[PlayerId, CandidateWritten]
    initial: dict[PlayerId, Hash]
    incarnations: dict[PlayerId, int]
    frozen_at: dict[PlayerId, int]
    latest: dict[PlayerId, dict[PlayerId, list[int]]]
    open: list[tuple[TicketNumber, Ticket]]
    tickets: int
    asked: dict[PlayerId, int]
    results: dict[str, int]
    episodes: dict[str, int]
    steps: dict[str, int]
    games: dict[PlayerId, int]
    outstanding: dict[str, int]
    pending: list[tuple[list[PlayerId], int]]
    evaluated: dict[PlayerId, int]
    voids: int
    voids_in_a_row: int
    kept: dict[PlayerId, list[Hash]]


PLAIN = (
    "seed", "config_hash", "env", "term", "phase", "why", "paused", "candidates", "initial", "incarnations",
    "frozen_at", "latest", "tickets", "voids", "voids_in_a_row", "kept",
)  # fmt: skip
COUNTERS = ("asked", "results", "episodes", "steps", "games", "outstanding", "evaluated")


def encode_fold(state: LeagueState, seq: int) -> bytes:
    """Return a state as bytes: equal states give equal bytes."""
    plain: dict[str, Any] = {name: getattr(state, name) for name in PLAIN}
    counters: dict[str, Any] = {
        name: {str(key): count for key, count in getattr(state, name).items() if count} for name in COUNTERS
    }
    fold = _Fold(
        version=FOLD_VERSION,
        seq=seq,
        rules=_rules(state.config),
        population=list(state.population),
        training=_pack(state.training),
        evaluation=_pack(state.evaluation),
        elo=state.elo.to_dict(),
        open=sorted(state.open.items()),
        pending=sorted((sorted(pair), games) for pair, games in state.pending.items()),
        **plain,
        **counters,
    )
    return msgspec.json.encode(fold, order="sorted")


def decode_fold(body: bytes, config: LeagueConfig) -> tuple[LeagueState, int] | None:
    """Return the state and the number of its last event; None if it was made by other rules or another version."""
    fold = msgspec.json.decode(body, type=_Fold)
    if fold.version != FOLD_VERSION or fold.rules != _rules(config):
        return None
    state = LeagueState(config)
    for name in PLAIN:
        setattr(state, name, getattr(fold, name))
    for name in COUNTERS:
        setattr(state, name, Counter(getattr(fold, name)))
    state.population = Population(fold.population)
    state.training = _unpack(fold.training, config)
    state.evaluation = _unpack(fold.evaluation, config)
    state.elo = Elo.from_dict(fold.elo)
    state.open = dict(fold.open)
    state.pending = Counter({frozenset(pair): games for pair, games in fold.pending})
    return state, fold.seq


def write_fold(path: Path, state: LeagueState, seq: int) -> None:
    """Publish a checkpoint of the fold, in one piece."""
    body = encode_fold(state, seq)
    publish(path, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def read_fold(path: Path, config: LeagueConfig) -> tuple[LeagueState, int] | None:
    """Return the checkpoint, or None if there is none to be trusted."""
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    if hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    try:
        return decode_fold(body, config)
    except (msgspec.DecodeError, ValueError, KeyError):
        return None


def _rules(config: LeagueConfig) -> str:
    kept = {"payoff": config.payoff, "carry": config.evaluation.carry, "elo_k": config.evaluation.elo_k}
    return msgspec.json.encode(kept, order="sorted").decode()


def _pack(payoff: Payoff) -> _Table:
    players, arrays = payoff.to_arrays()
    return _Table(players, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()})


def _unpack(table: _Table, config: LeagueConfig) -> Payoff:
    arrays = {
        name: np.frombuffer(data, np.dtype(kind)).reshape(shape) for name, (kind, shape, data) in table.arrays.items()
    }
    return Payoff.from_arrays(table.players, arrays, config.payoff)
