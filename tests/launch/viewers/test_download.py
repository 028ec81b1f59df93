"""A fold that comes from the replica in pieces."""

import hashlib

from launch.viewers.download import Download
from launch.viewers.view import read_rules
from league.store.fold import encode_fold
from league.wire.messages import FoldChunk


def chunks(body, size):
    digest = hashlib.sha256(body).hexdigest()
    return [
        FoldChunk(term=1, request=1, seq=17, digest=digest, size=len(body), offset=at, data=body[at : at + size])
        for at in range(0, len(body), size)
    ]


def test_pieces_become_the_fold_and_one_that_comes_twice_is_not_taken(run, state):
    body, download = encode_fold(state, 17), Download()
    pieces = chunks(body, len(body) // 3 + 1)
    for piece in pieces:
        assert not download.complete
        assert download.question(5).offset == piece.offset
        assert download.take(piece)
        assert not download.take(piece)
    assert download.complete
    found, seq = download.open(read_rules(run))
    assert (seq, found.env_steps) == (17, state.env_steps)


def test_a_damaged_fold_is_none(run, state):
    body, download = encode_fold(state, 17), Download()
    (piece,) = chunks(body, len(body))
    damaged = body[:-1] + bytes([body[-1] ^ 1])
    download.take(FoldChunk(term=1, request=1, seq=17, digest=piece.digest, size=len(body), offset=0, data=damaged))
    assert download.complete
    assert download.open(read_rules(run)) is None
