"""Ludus: train a league of players by self-play, and see who is really better.

import ludus

league = ludus.run(["env=tic_tac_toe", "launch=inline", "league.budget.env_steps=300_000"])
for row in league.standings():
    print(row.place, row.player, row.rating)
"""

from launch.api import League, Score, open, run

__all__ = ["League", "Score", "open", "run"]
