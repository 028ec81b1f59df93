"""Ludus: train a league of players by self-play, and see who is really better.

import ludus

league = ludus.run(["env=tic_tac_toe", "launch=inline", "league.budget.env_steps=300_000"])
for row in league.standings():
    print(row.place, row.player, row.rating)
"""

import sys

try:
    from launch.api import League, Standings, load, open, read_games, run
    from launch.matches.score import Score
    from launch.shadowing import check_packages
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] != "launch":
        raise
    place = getattr(sys.modules.get("launch"), "__file__", None) or "folder launch/"
    raise ImportError(f"your {place} hides Ludus's package launch: rename it, or run from another folder") from None

__all__ = ["League", "LudusError", "Score", "Standings", "load", "open", "read_games", "run"]

check_packages()

from league.errors import LudusError  # noqa: E402  (a package of the user's may hide ours: that is checked first)


def __getattr__(name: str) -> str:
    """Look the version up when somebody asks: reading the metadata of packages takes a while."""
    if name != "__version__":
        raise AttributeError(f"module 'ludus' has no attribute {name!r}")
    from launch.arguments import version

    return version()
