"""Draw the NashConv of candidates: a colour for each name, a line for each seed or run.

python -m benchmarks.converging experiment=kuhn --plain > plain.jsonl
ludus export kuhn1 --to csv --out kuhn1; ludus export kuhn2 --to csv --out kuhn2
python -m benchmarks.converging_plot "Kuhn poker" "experiment=kuhn: kuhn1/points.csv kuhn2/points.csv" \\
    "plain PPO: plain.jsonl" --level "CFR+, 100 iterations: 0.003" --out kuhn.png

A file is what benchmarks.converging printed, by decisions, or the exported points of a run, by env steps: where one
agent acts at a time these are the same, but for the games of evaluation.
"""

import argparse
import csv
import json
from collections import defaultdict
from pathlib import Path

from matplotlib.figure import Figure

MILLION = 1e6
STEPS, NASH_CONV = "league/env_steps", "league/nash_conv/main"


def printed(path):
    """Return the points of each seed."""
    found = defaultdict(list)
    for line in path.read_text().splitlines():
        row = json.loads(line) if line.startswith("{") else {}
        if "nash_conv" in row:
            found[row["seed"]].append((row["decisions"] / MILLION, row["nash_conv"]))
    return list(found.values())


def exported(path):
    """Return the points of a run, one for each candidate that was measured."""
    found = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            if (row["axis"], row["name"]) == (STEPS, NASH_CONV):
                found.setdefault(float(row["value"]), float(row["step"]) / MILLION)
    return [[(step, value) for value, step in found.items()]]


def curves(paths):
    """Return the curves of some files."""
    files = [Path(path) for path in paths.split()]
    return [curve for file in files for curve in (exported if file.suffix == ".csv" else printed)(file)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.converging_plot", description=__doc__.splitlines()[0])
    parser.add_argument("title")
    parser.add_argument("groups", nargs="+", metavar="'NAME: FILE FILE'")
    parser.add_argument("--level", action="append", default=[], metavar="'NAME: NUMBER'", help="to compare with")
    parser.add_argument("--out", required=True)
    told = parser.parse_args()
    figure = Figure(figsize=(6, 3.2), layout="constrained")
    axes = figure.subplots()
    for number, group in enumerate(told.groups):
        name, _, paths = group.partition(": ")
        for seed, points in enumerate(curves(paths)):
            axes.plot(*zip(*points, strict=True), color=f"C{number}", alpha=0.8, label=None if seed else name)
    for level in told.level:
        name, _, value = level.partition(": ")
        axes.axhline(float(value), color="black", linestyle="--", linewidth=1, label=name)
    axes.set(xlabel="million decisions", ylabel="NashConv", title=told.title, yscale="log")
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    figure.savefig(told.out, dpi=90)


if __name__ == "__main__":
    main()
