"""Draw what benchmarks printed: a line for each file or each value of a key, from its JSON lines.

python -m benchmarks.reaching experiment=pong --score 17 --seeds 3 > pong.jsonl
python -m benchmarks.plot pong.jsonl --x seconds --y mean --by seed --out pong.png --title "Pong"
python -m benchmarks.plot sac.jsonl td3.jsonl --x decisions --y evaluated --band --out pendulum.png    # over seeds
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from matplotlib.figure import Figure


def lines_of(paths, x, y, by):
    """Return the points of each line, by its name; lines that are no JSON, or lack a key, are left out."""
    found = defaultdict(list)
    for path in paths:
        for line in Path(path).read_text().splitlines():
            row = json.loads(line) if line.startswith("{") else {}
            if x in row and y in row:
                found[f"{by} {row[by]}" if by else Path(path).stem].append((row[x], row[y]))
    return {name: sorted(points) for name, points in found.items()}


def band(points):
    """Return for each x its y's mean, least and most.

    >>> band([(1, 2.0), (1, 4.0), (2, 5.0)])
    [(1, 3.0, 2.0, 4.0), (2, 5.0, 5.0, 5.0)]
    """
    found = defaultdict(list)
    for x, y in points:
        found[x].append(y)
    return [(x, sum(each) / len(each), min(each), max(each)) for x, each in sorted(found.items())]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plot", description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--x", required=True)
    parser.add_argument("--y", required=True)
    parser.add_argument("--by", help="a key; without it each file is a line")
    parser.add_argument("--band", action="store_true", help="points of the same x are one: their mean, least and most")
    parser.add_argument("--out", required=True)
    parser.add_argument("--title", default="")
    parser.add_argument("--xlabel")
    parser.add_argument("--ylabel")
    told = parser.parse_args()
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, points in lines_of(told.files, told.x, told.y, told.by).items():
        if told.band:
            x, mean, least, most = zip(*band(points), strict=True)
            axes.fill_between(x, least, most, alpha=0.2)
            points = zip(x, mean, strict=True)
        axes.plot(*zip(*points, strict=True), marker=".", label=name)
    axes.set(xlabel=told.xlabel or told.x, ylabel=told.ylabel or told.y, title=told.title)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(told.out, dpi=120)


if __name__ == "__main__":
    main()
