"""Ids: plain strings and integers, with types that mypy distinguishes; and seeds derived from them."""

import hashlib
from typing import NewType

PlayerId = NewType("PlayerId", str)
Hash = NewType("Hash", str)
TicketNumber = NewType("TicketNumber", int)

SEED_BITS = 31  # PettingZoo environments pass seeds to numpy, torch and C code, all of which accept 31 bits


def derive_seed(*parts: int | str) -> int:
    """Return a seed that depends on every part and on nothing else.

    >>> derive_seed(1, "ticket", 7) == derive_seed(1, "ticket", 7)
    True
    """
    digest = hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - SEED_BITS)
