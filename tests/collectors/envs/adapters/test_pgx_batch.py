"""Worlds of Pgx in parts, which one program steps one after the other."""

import os
from dataclasses import replace

import numpy as np

from collectors.envs.adapters.pgx import share_machine
from collectors.envs.adapters.pgx_arrays import LATE, OVER
from collectors.envs.adapters.pgx_batch import PgxBatch


def test_worlds_in_parts_are_the_same_worlds():
    """With chance, and a limit, so that episodes are truncated; few worlds, so that it compiles soon."""
    share_machine(os.environ)
    from collectors.envs.adapters.pgx_program import PgxOrder, compile_program

    order = PgxOrder("leduc_holdem", 12, True, "bool", limit=4)
    batches = [PgxBatch(compile_program(replace(order, worlds=12 // parts)), parts) for parts in (1, 3)]
    rng, late = np.random.default_rng(0), 0
    for _ in range(20):
        over = batches[0].marks[OVER].astype(bool) | ~batches[0].legal.any(axis=1)
        keys = rng.integers(2**32, size=(12, 2), dtype=np.uint32)
        for batch in batches:
            batch.begin(over.copy(), keys.copy())
        legal = batches[0].legal
        actions = (rng.random(legal.shape) * legal).argmax(axis=1).astype(np.int32)
        actions[rng.integers(12)] = -1
        for batch in batches:
            batch.step(actions.copy())
        whole, parted = (
            (batch.observation, batch.legal, batch.marks, batch.numbers, batch.views()) for batch in batches
        )
        for one, other in zip(whole, parted, strict=True):
            np.testing.assert_array_equal(one, other)
        late += int(batches[0].marks[LATE].sum())
    assert late > 5
