"""Names for the runs of a sweep: readable, unique, and the same whenever the sweep is started again.

run_names(["try", "try"], [("league=pfsp", "seed=1"), ("league=pfsp", "seed=2")])
# ['try.league=pfsp,seed=1', 'try.league=pfsp,seed=2']
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

NAME, SEED = "name", "seed"
LONGEST = 120  # characters of a run's name: it is the name of a directory
DIGEST = 8


def run_names(bases: Sequence[str], several: Sequence[Sequence[str]]) -> list[str]:
    """Return a name for each combination: that of its config, and its values; two that look alike get a digest."""
    plain = [_named(base, mine) for base, mine in zip(bases, several, strict=True)]
    seen = Counter(plain)
    return [
        name if seen[name] == 1 and len(name) <= LONGEST else f"{name[: LONGEST - DIGEST - 1]}.{_digest(mine)}"
        for name, mine in zip(plain, several, strict=True)
    ]


def _named(base: str, mine: Sequence[str]) -> str:
    parts = _parts(mine, (NAME,))
    return f"{base}.{re.sub(r'[^A-Za-z0-9_.+=,@-]+', '-', ','.join(parts))}" if parts else base


def settings(mine: Sequence[str], base: str) -> str:
    """Return what runs of other seeds have in common with this one; the name of the run if only seeds differ.

    >>> settings(["league=pfsp", "seed=1", "algo.lr=0.01"], "try"), settings(["seed=1"], "try")
    ('league=pfsp, lr=0.01', 'try')
    """
    return ", ".join(_parts(mine, (SEED,))) or base


def _parts(mine: Sequence[str], without: Sequence[str]) -> list[str]:
    pairs = [text.lstrip("+").partition("=") for text in mine]
    short = short_keys([key for key, _, _ in pairs])
    return [f"{short[key]}={_bare(value)}" for key, _, value in pairs if key not in without]


def _bare(value: str) -> str:
    return value.strip("[]{}'\" ")


def short_keys(keys: Sequence[str]) -> dict[str, str]:
    """Return the shortest end of each key that no other key ends with.

    >>> short_keys(["algo.lr", "league.players.main.rate", "league.players.second.rate"])
    {'algo.lr': 'lr', 'league.players.main.rate': 'main.rate', 'league.players.second.rate': 'second.rate'}
    """
    ends = {key: [key.split(".", i)[-1] for i in range(key.count("."), -1, -1)] for key in keys}
    shared = Counter(end for key in ends for end in ends[key])
    return {key: next((end for end in ends[key] if shared[end] == 1), key) for key in keys}


def _digest(mine: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(mine).encode()).hexdigest()[:DIGEST]
