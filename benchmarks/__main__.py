"""`python -m benchmarks`: one JSON object for each measurement, then one for each target.

python -m benchmarks --only a,b,c --seconds 2 --rounds 5
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.children import ONE_THREAD

os.environ.update(ONE_THREAD)  # before anything imports numpy

from benchmarks.measure import Verdict, emit

Letter = Callable[[Path, float, int], list[Verdict]]


def run_a(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """PettingZoo alone."""
    from benchmarks import raw

    raw.run(seconds, rounds)
    return []


def run_b(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """A collector on PettingZoo."""
    from benchmarks import collecting

    return collecting.run(collecting.B, folder, seconds, rounds)


def run_c(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """A collector on the native game."""
    from benchmarks import collecting

    return collecting.run(collecting.C, folder, seconds, rounds)


def run_d(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """A coordinator under load."""
    from benchmarks import coordinating

    return coordinating.run(folder, seconds, rounds)


def run_e(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """A PPO update."""
    from benchmarks import learning

    learning.run(seconds, rounds)
    return []


def run_f(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """A whole league."""
    from benchmarks import whole

    return whole.run(folder, seconds, rounds)


def run_g(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """A league with trackers and without."""
    from benchmarks import tracking

    return tracking.run(folder, seconds, rounds)


def run_h(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Networks in the collector and beside the learner."""
    from benchmarks import inferring

    inferring.run(folder, seconds, rounds)
    return []


def run_i(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Ways of segments on one host."""
    from benchmarks import carrying

    carrying.run(folder, seconds, rounds)
    return []


def run_j(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """One to four collectors."""
    from benchmarks import scaling

    scaling.run(folder, seconds, rounds)
    return []


def run_k(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Replays in the learner and beside it."""
    from benchmarks import replaying

    replaying.run(folder, seconds, rounds)
    return []


def run_l(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Starts and looks at a league of a million results."""
    from benchmarks import restarting

    return restarting.run(folder, seconds, rounds)


def run_m(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Commits with the hash chain and without."""
    from benchmarks import chaining

    return chaining.run(folder, seconds, rounds)


def run_n(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """The same network in numpy and in torch."""
    from benchmarks import acting_in_torch

    return acting_in_torch.run(folder, seconds, rounds)


def run_o(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """A batched simulator through rows."""
    from benchmarks import batched

    return batched.run(seconds, rounds)


def run_p(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """The dashboard over a league of a thousand players and a million matches."""
    from benchmarks import looking

    return looking.run(folder, seconds, rounds)


def run_q(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """A league with five open browsers and without."""
    from benchmarks import watching

    return watching.run(folder, seconds, rounds)


def run_r(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Leagues on a batched simulator and one by one."""
    from benchmarks import batched_leagues

    return batched_leagues.run(folder, seconds, rounds)


LETTERS: dict[str, Letter] = {
    "a": run_a, "b": run_b, "c": run_c, "d": run_d, "e": run_e, "f": run_f, "g": run_g, "h": run_h, "i": run_i,
    "j": run_j, "k": run_k, "l": run_l, "m": run_m, "n": run_n, "o": run_o, "p": run_p, "q": run_q, "r": run_r,
}  # fmt: skip


USUAL = "abcdefg"  # the others take several minutes more, and are about choices that are made once


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", default=",".join(USUAL), help=f"letters of {', '.join(LETTERS)}")
    parser.add_argument("--seconds", type=float, default=0.7, help="length of a slice")
    parser.add_argument("--rounds", type=int, default=9, help="slices of each subject")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where ledgers are written: a real disk")
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    unknown = [letter for letter in chosen if letter not in LETTERS]
    if unknown:
        parser.error(f"--only: unknown {', '.join(unknown)}; there are {', '.join(LETTERS)}")
    arguments.runs.mkdir(parents=True, exist_ok=True)
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=arguments.runs) as folder:
        for letter in chosen:
            verdicts += LETTERS[letter](Path(folder), arguments.seconds, arguments.rounds)
    emit("machine", cores=os.cpu_count(), load_average=os.getloadavg()[0])
    for verdict in verdicts:
        verdict.tell()


if __name__ == "__main__":
    main()
