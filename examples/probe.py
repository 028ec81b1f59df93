"""How exploitable is a league's main? `python examples/probe.py`.

A short tic-tac-toe league, then a best response against its main, trained from the main's own weights.
"""

import sys

import ludus

LEAGUE = [
    "env=tic_tac_toe",
    "name=probed",
    "league=selfplay",
    "launch=inline",
    "policy.hidden=[32]",
    "algo.batch=1024",
    "algo.lr=2e-3",
    "collector.slots=64",
    "learner.candidate_decisions=4096",
    "league.budget.minutes=null",
    "league.budget.env_steps=100_000",
]


def main(overrides, steps=50_000):
    """Train, probe, and print the curve of the probe."""
    league = ludus.run([*LEAGUE, *overrides])
    report = league.probe("main", steps=steps)
    for point in report.curve:
        print(point.env_steps, round(point.score, 3))
    print(report.start_score.score, "->", report.score.score, (report.score.low, report.score.high))
    print("exploitable" if report.exploitable else "no hole was found")


if __name__ == "__main__":
    main(sys.argv[1:])
