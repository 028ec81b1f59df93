"""The names of things: plain strings and integers with types that a reader and mypy can tell apart."""

import hashlib
from typing import NewType

PlayerId = NewType("PlayerId", str)
Hash = NewType("Hash", str)
TicketNumber = NewType("TicketNumber", int)

SEED_BITS = 31  # PettingZoo environments hand seeds to numpy, torch and C code: 31 bits suit them all


def derive_seed(*parts: int | str) -> int:
    """Return a seed that depends on every part and on nothing else.

    >>> derive_seed(1, "ticket", 7) == derive_seed(1, "ticket", 7)
    True
    """
    digest = hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - SEED_BITS)
