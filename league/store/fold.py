"""The fold and its checkpoint: a state and the number of its last event, so that a start need not fold all events.

    write_fold(run.fold, state, ledger.head, ledger.mark(ledger.head))
    state, seq = resume_fold(run.fold, config, ledger)      # a new state and 0 if the checkpoint is of another ledger
    fold_all(state, ledger, seq)
    state, seq = folded(run.fold, config, ledger)           # all of this, for a ledger that anybody may have written

A checkpoint only saves time: if it is missing or damaged, the state is folded from the whole ledger. It identifies its
ledger by the hash of all events up to its last one, so it is ignored beside another ledger, or an older copy.
"""

import dataclasses
import hashlib
import logging
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_origin

import msgspec
import numpy as np
import numpy.typing as npt

from league import limits
from league.candidate_games import CandidateGames
from league.event_check import contradiction, unfit
from league.events import DuelCounted, Event, decode_duels
from league.ids import PlayerId, TicketNumber
from league.payoff import RETURN, Payoff
from league.plain_state import PlainState, Tally
from league.player import Player
from league.population import Population
from league.ratings.elo import Elo
from league.rulebook import LeagueConfig
from league.state import LeagueState, apply, apply_all
from league.store.files import publish
from league.store.ledger import Ledger, LedgerError, decode_row
from league.store.regular_file import IrregularFile, read_regular
from league.ticket import Ticket

log = logging.getLogger("ludus.store")

FOLD_VERSION = 11
PAGE = 1000  # rows read at once
SLICE = 100  # rows decoded at once: more would not stay in the processor's caches
CELL = np.dtype("<u4")
ALTERED = "the ledger {ledger} is damaged or was altered: event {seq} {reason}. `ludus verify` checks all of it"


class _Matrix(msgspec.Struct, frozen=True, array_like=True):
    """The cells of a matrix that differ from its start value, by index; or, if most differ, all cells in order."""

    values: bytes
    cells: bytes | None


class _PackedPayoff(msgspec.Struct, frozen=True):
    players: list[PlayerId]
    matrices: dict[str, _Matrix]
    seen: tuple[float, float]


class _Fold(msgspec.Struct, frozen=True, kw_only=True):
    """A state in its encoded form."""

    version: int
    seq: int
    mark: str  # the ledger's hash of all events up to `seq`
    rules: str  # the part of the config that the fold depends on
    plain: PlainState
    population: list[Player]
    begun: dict[PlayerId, int]
    training: _PackedPayoff
    evaluation: _PackedPayoff
    elo: dict[str, Any]
    proofs: dict[PlayerId, dict[str, Any]]
    open: list[tuple[TicketNumber, Ticket]]
    pending: list[tuple[list[PlayerId], int]]


PLAIN = [field.name for field in dataclasses.fields(PlainState)]


def encode_fold(state: LeagueState, seq: int, mark: str = "") -> bytes:
    """Encode a state: equal states give equal bytes."""
    fold = _Fold(
        version=FOLD_VERSION,
        seq=seq,
        mark=mark,
        rules=_rules(state.config),
        plain=PlainState(**{name: _without_zeros(getattr(state, name)) for name in PLAIN}),
        population=list(state.population),
        begun=state.population.begun,
        training=_pack(state.training),
        evaluation=_pack(state.evaluation),
        elo=state.elo.to_dict(),
        proofs={player: games.to_dict() for player, games in state.proofs.items()},
        open=sorted(state.open.items()),
        pending=sorted((sorted(pair), games) for pair, games in state.pending.items()),
    )
    return msgspec.msgpack.encode(fold, order="sorted")


def _without_zeros(value: Any) -> Any:
    """Return a value in its encoded form: a tally without zero counts, anything else unchanged."""
    return Tally({str(key): count for key, count in value.items() if count}) if isinstance(value, Tally) else value


def _decode_tally(kind: Any, value: Any) -> Any:
    """Decode a tally, the one type of a fold that msgspec does not know."""
    if get_origin(kind) is not Tally:
        raise NotImplementedError(f"a fold has no {kind}")
    return Tally(msgspec.convert(value, dict[str, int]))


def decode_fold(body: bytes, config: LeagueConfig) -> tuple[LeagueState, int, str] | None:
    """Return the state, the number of its last event and its mark; None if the version or the rules differ."""
    fold = msgspec.msgpack.decode(body, type=_Fold, dec_hook=_decode_tally)
    if fold.version != FOLD_VERSION or fold.rules != _rules(config):
        return None
    _refuse_non_finite((fold.elo, fold.proofs, fold.training.seen, fold.evaluation.seen))
    state = LeagueState(config)
    for name in PLAIN:
        setattr(state, name, getattr(fold.plain, name))
    state.population = Population(fold.population, fold.begun)
    state.go_by(state.payoff_by, state.keeps_returns)
    _unpack(fold.training, state.training)
    _unpack(fold.evaluation, state.evaluation)
    state.elo = Elo.from_dict(fold.elo)
    state.proofs = {player: CandidateGames.from_dict(saved) for player, saved in fold.proofs.items()}
    state.open = dict(fold.open)
    state.pending = Tally({frozenset(pair): games for pair, games in fold.pending})
    return state, fold.seq, fold.mark


def _refuse_non_finite(plain: Any) -> None:
    """Raise ValueError if there is NaN or infinity in nested values: whoever made the file put it there."""
    if isinstance(plain, float) and not math.isfinite(plain):
        raise ValueError("a fold has no NaN and no infinity")
    if isinstance(plain, dict | list | tuple):
        for value in plain.values() if isinstance(plain, dict) else plain:
            _refuse_non_finite(value)


def write_fold(path: Path, state: LeagueState, seq: int, mark: str = "") -> None:
    """Write a checkpoint of the fold, atomically."""
    publish_fold(path, encode_fold(state, seq, mark))


def publish_fold(path: Path, body: bytes) -> None:
    """Write an encoded fold as the checkpoint, after its SHA-256."""
    publish(path, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def read_fold(path: Path, config: LeagueConfig) -> tuple[LeagueState, int] | None:
    """Return the checkpoint's state and the number of its last event; None if it is missing or cannot be used."""
    found = _decoded(_read_body(path), config)
    return None if found is None else found[:2]


def read_marked(path: Path, config: LeagueConfig) -> tuple[LeagueState, int, str] | None:
    """Return the same as `read_fold`, and the mark, so that the owner of the ledger can check it."""
    return _decoded(_read_body(path), config)


def resume_fold(checkpoint: Path | bytes | None, config: LeagueConfig, ledger: Ledger) -> tuple[LeagueState, int]:
    """Return the checkpoint's state and the number of its last event; a new state and 0 if it is of another ledger.

    The checkpoint is a file, or the bytes that `encode_fold` returned.
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
        digest, _, body = read_regular(path, limits.STATE_FILE).partition(b"\n")
    except (FileNotFoundError, IrregularFile):  # a checkpoint only saves time
        return None
    return body if hashlib.sha256(body).hexdigest().encode() == digest else None


def _decoded(body: bytes | None, config: LeagueConfig) -> tuple[LeagueState, int, str] | None:
    try:
        return None if body is None else decode_fold(body, config)
    except (msgspec.DecodeError, ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None


# --- folding -------------------------------------------------------------------------------------------------


def folded(
    checkpoint: Path | bytes | None, config: LeagueConfig, ledger: Ledger, notify: Callable[[int], None] | None = None
) -> tuple[LeagueState, int]:
    """Return the fold of all events, and the number of the checkpoint's last event: 0 if it was not used.

    Raise LedgerError, with the number of the event, if one does not fit those before it. To check each takes time, so
    this is done only after the fold failed, or contradicts itself.
    """
    try:
        state, since = resume_fold(checkpoint, config, ledger)
        fold_all(state, ledger, since, notify)
        wrong = contradiction(state)
    except LedgerError:
        raise
    except Exception as error:  # events that do not fit may break the fold in any way
        wrong = f"{type(error).__name__}: {error}"
    if not wrong:
        return state, since
    log.debug("all events are checked one by one, because the fold failed: %s", wrong)
    return fold_checked(config, ledger), 0


def fold_checked(config: LeagueConfig, ledger: Ledger) -> LeagueState:
    """Return the fold of all events; check each of them, and raise LedgerError for the first that does not fit."""
    state = LeagueState(config)
    for seq, event in ledger.events():
        try:
            reason = unfit(state, event)
            if not reason:
                apply(state, event)
        except Exception as error:  # events that do not fit may break the fold in any way
            reason = f"cannot be folded: {type(error).__name__}: {error}"
        if reason:
            raise LedgerError(ALTERED.format(ledger=ledger.path, seq=seq, reason=reason))
    if reason := contradiction(state):
        raise LedgerError(
            ALTERED.format(ledger=ledger.path, seq=ledger.head, reason=f"ends in a state in which {reason}")
        )
    return state


def fold_all(state: LeagueState, ledger: Ledger, since: int, notify: Callable[[int], None] | None = None) -> None:
    """Apply all events after number `since`; call `notify` with the number of the last one now and then."""
    while rows := ledger.read(since, PAGE):
        fold_rows(state, rows)
        since = rows[-1][0]
        if notify is not None:
            notify(since)


def fold_rows(state: LeagueState, rows: Sequence[tuple[int, bytes]]) -> None:
    """Apply rows of the ledger, in order; raise LedgerError, with its number, if one cannot be decoded."""
    for start in range(0, len(rows), SLICE):
        apply_all(state, _events(state, rows[start : start + SLICE]))


def _events(state: LeagueState, rows: Sequence[tuple[int, bytes]]) -> Sequence[Event | DuelCounted]:
    bare = state.payoff_by != RETURN and not state.keeps_returns  # nobody reads returns
    if state.env is not None and state.env.sides == (0, 1) and bare:
        try:
            return decode_duels([body for _, body in rows])
        except (msgspec.DecodeError, RecursionError):
            pass  # a row has another form, or is damaged: decode one by one to find out
    return [decode_row(seq, body) for seq, body in rows]


def _rules(config: LeagueConfig) -> str:
    kept = {"payoff": config.payoff, "elo_k": config.evaluation.elo_k}
    return msgspec.json.encode(kept, order="sorted").decode()


def _pack(payoff: Payoff) -> _PackedPayoff:
    players = payoff.players
    size = len(players)
    matrices = {
        name: _pack_matrix(matrix[:size, :size].ravel(), payoff.fields[name].start)
        for name, matrix in payoff.matrix.items()
    }
    return _PackedPayoff(players, matrices, payoff.seen)


def _pack_matrix(values: npt.NDArray[Any], start: float) -> _Matrix:
    new = np.array([start], values.dtype)
    changed = np.flatnonzero(values.view(np.int64) != new.view(np.int64))  # by bits: -0.0 is not 0.0
    if len(changed) * (values.itemsize + CELL.itemsize) >= values.nbytes:
        return _Matrix(values.tobytes(), None)
    return _Matrix(values[changed].tobytes(), changed.astype(CELL).tobytes())


def _unpack(table: _PackedPayoff, payoff: Payoff) -> None:
    """Fill a new table."""
    payoff.seat(table.players)
    payoff.seen = table.seen
    size = len(table.players)
    for name, field in payoff.fields.items():
        packed, matrix = table.matrices[name], payoff.matrix[name]
        values = np.frombuffer(packed.values, np.dtype(field.code))
        if not np.isfinite(values).all():
            raise ValueError(f"the matrix {name} has NaN or infinity")
        if packed.cells is None:
            matrix[:size, :size] = values.reshape(size, size)
        else:
            matrix[np.divmod(np.frombuffer(packed.cells, CELL).astype(np.intp), size)] = values
