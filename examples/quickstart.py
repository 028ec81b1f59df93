"""A tic-tac-toe league in this very process, in under a minute: `python examples/quickstart.py`.

Run it again and it goes on where it stopped, which is at its end: delete runs/quickstart to start over.
"""

import sys

import ludus

LEAGUE = [
    "name=quickstart",
    "env=tic_tac_toe",
    "league=pfsp",
    "launch=inline",
    "league.budget.minutes=null",
    "league.budget.env_steps=300_000",
    "league.promotion.min_decisions=20_000",
    "league.promotion.max_decisions=60_000",
    "learner.candidate_decisions=10_000",
]


def main(overrides):
    """Train, then look at the league."""
    league = ludus.run([*LEAGUE, *overrides])
    print("place  player    rating")
    for row in league.standings():
        rating = "-" if row.rating is None else f"{row.rating:.0f}"
        print(f"{row.place:5}  {row.player:8} {rating:>7}")
    score = league.play("main", "random", episodes=200)
    low, high = score.interval
    print(f"main scores {score.score:.0%} against random ({low:.0%} to {high:.0%}): {score}")
    league.verify()


if __name__ == "__main__":
    main(sys.argv[1:])
