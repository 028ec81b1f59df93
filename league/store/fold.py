"""The fold and its checkpoint: a state and the number of its last event, so that nobody need fold a long ledger again.

    write_fold(run.fold, state, ledger.head, ledger.mark(ledger.head))
    state, seq = resume_fold(run.fold, config, ledger)      # or the beginning, if the checkpoint is not of this ledger
    fold_rows(state, ledger.read(seq))

A checkpoint is only ever a shortcut: whatever is wrong with the file, the ledger has it all. It names its ledger by
the hash of all events up to its last one: next to an older ledger, or another one, it is not used.
"""

import dataclasses
import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_origin

import msgspec
import numpy as np
import numpy.typing as npt

from league.events import DuelCounted, Event, decode_duels
from league.ids import PlayerId, TicketNumber
from league.payoff import FIELDS, Payoff
from league.plain_state import PlainState, Tally
from league.player import Player
from league.population import Population
from league.ratings import Elo
from league.rulebook import LeagueConfig
from league.state import LeagueState, apply_all
from league.store.files import publish
from league.store.ledger import Ledger, decode_row
from league.ticket import Ticket

log = logging.getLogger("ludus.store")

FOLD_VERSION = 6
PAGE = 1000  # rows that are read at once,
SLICE = 100  # and decoded at once: more of them would not stay in the processor's caches
CELL = np.dtype("<u4")


class _Matrix(msgspec.Struct, frozen=True, array_like=True):
    """The cells of a matrix that differ from those of a new one; all of them, without their places, if most do."""

    values: bytes
    cells: bytes | None


class _PackedPayoff(msgspec.Struct, frozen=True):
    players: list[PlayerId]
    matrices: dict[str, _Matrix]


class _Fold(msgspec.Struct, frozen=True, kw_only=True):
    """A state as it is written."""

    version: int
    seq: int
    mark: str  # what the ledger calls its history up to `seq`: a checkpoint of another history is not used
    rules: str  # what of the config the fold depends on
    plain: PlainState
    population: list[Player]
    training: _PackedPayoff
    evaluation: _PackedPayoff
    elo: dict[str, Any]
    open: list[tuple[TicketNumber, Ticket]]
    pending: list[tuple[list[PlayerId], int]]


PLAIN = [field.name for field in dataclasses.fields(PlainState)]


def encode_fold(state: LeagueState, seq: int, mark: str = "") -> bytes:
    """Return a state as bytes: equal states give equal bytes."""
    fold = _Fold(
        version=FOLD_VERSION,
        seq=seq,
        mark=mark,
        rules=_rules(state.config),
        plain=PlainState(**{name: _without_zeros(getattr(state, name)) for name in PLAIN}),
        population=list(state.population),
        training=_pack(state.training),
        evaluation=_pack(state.evaluation),
        elo=state.elo.to_dict(),
        open=sorted(state.open.items()),
        pending=sorted((sorted(pair), games) for pair, games in state.pending.items()),
    )
    return msgspec.msgpack.encode(fold, order="sorted")


def _without_zeros(value: Any) -> Any:
    """Return a value as it is encoded: a tally without the keys that count nothing."""
    return Tally({str(key): count for key, count in value.items() if count}) if isinstance(value, Tally) else value


def _decode_tally(kind: Any, value: Any) -> Any:
    """Return a tally from its mapping: what msgspec has no type for."""
    if get_origin(kind) is not Tally:
        raise NotImplementedError(f"a fold has no {kind}")
    return Tally(msgspec.convert(value, dict[str, int]))


def decode_fold(body: bytes, config: LeagueConfig) -> tuple[LeagueState, int, str] | None:
    """Return the state, the number of its last event and its mark; None if other rules or another version made it."""
    fold = msgspec.msgpack.decode(body, type=_Fold, dec_hook=_decode_tally)
    if fold.version != FOLD_VERSION or fold.rules != _rules(config):
        return None
    state = LeagueState(config)
    for name in PLAIN:
        setattr(state, name, getattr(fold.plain, name))
    state.population = Population(fold.population)
    state.training = _unpack(fold.training, config)
    state.evaluation = _unpack(fold.evaluation, config)
    state.elo = Elo.from_dict(fold.elo)
    state.open = dict(fold.open)
    state.pending = Tally({frozenset(pair): games for pair, games in fold.pending})
    return state, fold.seq, fold.mark


def write_fold(path: Path, state: LeagueState, seq: int, mark: str = "") -> None:
    """Publish a checkpoint of the fold, in one piece."""
    publish_fold(path, encode_fold(state, seq, mark))


def publish_fold(path: Path, body: bytes) -> None:
    """Publish an encoded fold as the checkpoint."""
    publish(path, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def read_fold(path: Path, config: LeagueConfig) -> tuple[LeagueState, int] | None:
    """Return the checkpoint, or None if there is none to be trusted."""
    found = _decoded(_read_body(path), config)
    return None if found is None else found[:2]


def read_marked(path: Path, config: LeagueConfig) -> tuple[LeagueState, int, str] | None:
    """Return the checkpoint with its mark, for one who asks somebody else whether it is of this ledger."""
    return _decoded(_read_body(path), config)


def resume_fold(checkpoint: Path | bytes | None, config: LeagueConfig, ledger: Ledger) -> tuple[LeagueState, int]:
    """Return a state to go on from and the number of its last event: that of the checkpoint, if it is of this ledger.

    The checkpoint is a file, or what `encode_fold` returned.
    """
    is_file = isinstance(checkpoint, Path) and checkpoint.exists()
    found = _decoded(_read_body(checkpoint) if isinstance(checkpoint, Path) else checkpoint, config)
    if found is not None and found[1] <= ledger.head and found[2] == ledger.mark(found[1]):
        return found[:2]
    if is_file:
        wrong = (
            "of another ledger, or of a later state of this one" if found else "damaged, or of another version or rules"
        )
        log.warning("the checkpoint %s is not used: it is %s", checkpoint, wrong)
    return LeagueState(config), 0


def _read_body(path: Path) -> bytes | None:
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    return body if hashlib.sha256(body).hexdigest().encode() == digest else None


def _decoded(body: bytes | None, config: LeagueConfig) -> tuple[LeagueState, int, str] | None:
    try:
        return None if body is None else decode_fold(body, config)
    except (msgspec.DecodeError, ValueError, KeyError, IndexError):
        return None


# --- folding -------------------------------------------------------------------------------------------------


def fold_all(state: LeagueState, ledger: Ledger, since: int) -> None:
    """Apply everything after an event."""
    while rows := ledger.read(since, PAGE):
        fold_rows(state, rows)
        since = rows[-1][0]


def fold_rows(state: LeagueState, rows: Sequence[tuple[int, bytes]]) -> None:
    """Apply rows of the ledger, in order; LedgerError names one that cannot be read."""
    for start in range(0, len(rows), SLICE):
        apply_all(state, _events(state, rows[start : start + SLICE]))


def _events(state: LeagueState, rows: Sequence[tuple[int, bytes]]) -> Sequence[Event | DuelCounted]:
    if state.env is not None and state.env.sides == (0, 1):
        try:
            return decode_duels([body for _, body in rows])
        except msgspec.DecodeError:
            pass  # one of them has another form, or cannot be read at all: find out which
    return [decode_row(seq, body) for seq, body in rows]


def _rules(config: LeagueConfig) -> str:
    kept = {"payoff": config.payoff, "carry": config.evaluation.carry, "elo_k": config.evaluation.elo_k}
    return msgspec.json.encode(kept, order="sorted").decode()


def _pack(payoff: Payoff) -> _PackedPayoff:
    players = payoff.players
    size = len(players)
    return _PackedPayoff(
        players,
        {name: _pack_matrix(m[:size, :size].ravel(), FIELDS[name].start) for name, m in payoff.matrix.items()},
    )


def _pack_matrix(values: npt.NDArray[Any], start: float) -> _Matrix:
    new = np.array([start], values.dtype)
    changed = np.flatnonzero(values.view(np.int64) != new.view(np.int64))  # by bits: -0.0 is not 0.0
    if len(changed) * (values.itemsize + CELL.itemsize) >= values.nbytes:
        return _Matrix(values.tobytes(), None)
    return _Matrix(values[changed].tobytes(), changed.astype(CELL).tobytes())


def _unpack(table: _PackedPayoff, config: LeagueConfig) -> Payoff:
    payoff = Payoff(config.payoff)
    payoff.seat(table.players)
    size = len(table.players)
    for name, field in FIELDS.items():
        packed, matrix = table.matrices[name], payoff.matrix[name]
        values = np.frombuffer(packed.values, np.dtype(field.code))
        if packed.cells is None:
            matrix[:size, :size] = values.reshape(size, size)
        else:
            matrix[np.divmod(np.frombuffer(packed.cells, CELL).astype(np.intp), size)] = values
    return payoff
