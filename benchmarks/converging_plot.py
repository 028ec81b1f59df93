"""Draw what benchmarks.converging printed: a colour for each file, a line for each seed.

python -m benchmarks.converging experiment=kuhn > settles.jsonl
python -m benchmarks.converging experiment=kuhn --plain > plain.jsonl
python -m benchmarks.converging_plot "Kuhn poker" settles.jsonl plain.jsonl --out kuhn.png
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from matplotlib.figure import Figure


def curves(path):
    """Return the points of each seed."""
    found = defaultdict(list)
    for line in Path(path).read_text().splitlines():
        row = json.loads(line) if line.startswith("{") else {}
        if "nash_conv" in row:
            found[row["seed"]].append((row["decisions"] / 1e6, row["nash_conv"]))
    return found.values()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.converging_plot", description=__doc__.splitlines()[0])
    parser.add_argument("title")
    parser.add_argument("files", nargs="+", help="the name of a file is the name of its lines")
    parser.add_argument("--out", required=True)
    told = parser.parse_args()
    figure = Figure(figsize=(6, 3.2), layout="constrained")
    axes = figure.subplots()
    for number, file in enumerate(told.files):
        for seed, points in enumerate(curves(file)):
            label = Path(file).stem.replace("_", " ") if seed == 0 else None
            axes.plot(*zip(*points, strict=True), color=f"C{number}", alpha=0.8, label=label)
    axes.set(xlabel="million decisions", ylabel="NashConv", title=told.title, yscale="log")
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    figure.savefig(told.out, dpi=90)


if __name__ == "__main__":
    main()
