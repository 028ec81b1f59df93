"""`ludus report`: one HTML file with all of a run, ready to be mailed, and its plots as PNG beside it.

path = write_report(run)            # runs/first/report/report.html
"""

import base64
import json
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

from launch.config.track import TrackConfig
from launch.terminal.spinner import Spinner
from launch.viewers.curves import CurveRow, Curves
from launch.viewers.drawing import (
    family_figure,
    nash_conv_figure,
    payoff_figure,
    png_of,
    ratings_figure,
    throughput_figure,
)
from launch.viewers.live import candidate_lines, clock_time
from launch.viewers.payoff_matrix import relevant
from launch.viewers.return_columns import return_cells, return_heads
from launch.viewers.tables import all_standings, appraisal_of, footnotes, short, spread, standing_json, status_json
from launch.viewers.view import View, open_view
from league.metrics import ELO, MARGIN
from league.standings import payoff_table
from league.store.files import publish
from league.store.run_directory import RunDirectory

DENSE = 48  # points of a rating curve before they come half as often
SHOWN = 24  # players in the heat map at most
PACKAGES = ("ludus-league", "numpy", "torch", "pettingzoo", "gymnasium", "scipy", "pyzmq", "msgspec", "wandb")
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 62em; margin: 2em auto; padding: 0 1em; }
h1 { margin-bottom: 0; } h2 { margin-top: 2em; border-bottom: 1px solid #ddd; } .dim { color: #777; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .15em .8em; text-align: right; } th { border-bottom: 2px solid #bbb; }
td:nth-child(2), td:nth-child(3), th:nth-child(2), th:nth-child(3) { text-align: left; }
tr.past td { color: #888; } img { max-width: 100%; } pre { background: #f6f6f6; padding: 1em; overflow-x: auto; }
"""


@dataclass(slots=True)
class Story:
    """The content of a report: the view at its end, and the rows of its curves."""

    name: str
    view: View
    rows: list[CurveRow]
    births: dict[str, int] = field(default_factory=dict)


def read_story(run: RunDirectory) -> Story:
    """Fold a run and keep its curves."""
    rows: list[CurveRow] = []
    with Spinner("report") as progress:

        def keep(row: CurveRow) -> None:
            rows.append(row)
            progress.update(f"match {row.matches:,}")

        curves = Curves(TrackConfig(every=20, payoff_every=1 << 30), keep, dense=DENSE)
        view = open_view(run, watcher=curves)
    return Story(run.name, view, rows, {row.frozen: row.matches for row in rows if row.frozen is not None})


def draw(story: Story) -> dict[str, bytes]:
    """Return the plots, by name, as PNG."""
    state = story.view.state
    learning = [player.id for player in state.population.learning()]
    anchors = {str(player.id): player.anchor for player in state.population.anchors() if player.anchor is not None}
    matches = sum(state.results.values())
    scale = (dict.fromkeys(list(anchors)[:1], 0.0), MARGIN) if state.evaluation.by_return else (anchors, ELO)
    figures = {
        "ratings": ratings_figure(story.rows, learning, *scale),
        "payoff": payoff_figure(payoff_table(relevant(state, SHOWN), state.evaluation)),
        "family": family_figure(state.population, story.births, matches),
        "throughput": throughput_figure(story.rows),
        "nash_conv": nash_conv_figure(story.rows, learning),
    }
    return {name: png_of(figure) for name, figure in figures.items() if figure is not None}


def write_report(run: RunDirectory, out: Path | None = None) -> Path:
    """Write the report of a run and return where it is."""
    folder = out or run.inside(run.report)
    folder.mkdir(parents=True, exist_ok=True)
    with Spinner(f"report of {run.name}"):
        story = read_story(run)
        plots = draw(story)
    for name, png in plots.items():
        publish(folder / f"{name}.png", png)
    path = folder / "report.html"
    publish(path, "\n".join(page(story, plots, run)).encode())
    return path


# --- the page ------------------------------------------------------------------------------------------------


def page(story: Story, plots: dict[str, bytes], run: RunDirectory) -> Iterator[str]:
    """Yield the lines of the page; everything it needs is inside it."""
    state = story.view.state
    yield f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>{escape(story.name)}</title>'
    yield f"<style>{STYLE}</style></head><body>"
    yield f"<h1>{escape(story.name)}</h1>"
    yield f'<p class="dim">{escape(_summary(story.view))}</p>'
    for line in candidate_lines(state):
        yield f"<p>{escape(line)}</p>"
    yield "<h2>Standings</h2>"
    yield from _standings(story)
    titles = {
        "ratings": (
            "Ratings",
            "With the 95 % interval: points of Elo, or the margin a game; the first anchor is the origin.",
        ),
        "payoff": ("Payoff", "What the row scores against the column, in evaluation: snapshots only."),
        "family": ("Family tree", "Who was frozen from whom, and after how many matches of the league."),
        "nash_conv": (
            "Exploitability",
            "Exact NashConv of newest candidates: what best responses gain over them.",
        ),
        "throughput": ("Throughput", "Of all collectors together; and how long each process waited for others."),
    }
    for name, (title, note) in titles.items():
        if name not in plots:
            continue
        data = base64.b64encode(plots[name]).decode()
        yield f'<h2>{title}</h2><p class="dim">{note}</p><img alt="{title}" src="data:image/png;base64,{data}"/>'
    yield "<h2>Environment</h2>"
    yield from _facts(_environment(story))
    yield "<h2>Versions</h2>"
    yield from _facts(_versions())
    config = json.dumps(run.read_config(), indent=2, sort_keys=True)
    yield f"<h2>Config</h2><details><summary>{run.config_hash()[:12]}</summary><pre>{escape(config)}</pre></details>"
    yield "</body></html>"


def _summary(view: View) -> str:
    status = status_json(view)
    return (
        f"{status['phase']}{': ' + status['why'] if status['why'] else ''}. {clock_time(status['elapsed'])} of play, "
        f"{status['matches']:,} matches, {status['env_steps']:,} env steps, {status['players']} players "
        f"({status['frozen']} frozen), term {status['term']}."
    )


def _standings(story: Story) -> Iterator[str]:
    state = story.view.state
    appraisal = appraisal_of(state)
    anchors = [player.id for player in state.population.anchors()]
    scale = "return" if state.evaluation.by_return else "Elo"
    heads = ["#", "player", "kind", scale, "95 % interval", *return_heads(state), "online", "Nash", "games"]
    heads += [f"v {anchor}" for anchor in anchors]
    yield f"<table><tr>{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr>"
    for standing in all_standings(state, appraisal):
        row = standing_json(state, standing)
        cells = [row["place"], row["player"], row["kind"], _number(row["rating"], row["by"]), _interval(row)]
        cells += return_cells(state, standing)
        share = "-" if not row["nash"] else f"{row['nash']:.0%}"
        cells += [_number(row["online"]), share, short(row["games"]), *(_score(row, anchor) for anchor in anchors)]
        past = ' class="past"' if row["kind"] == "frozen" else ""
        yield f"<tr{past}>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>"
    yield "</table>"
    for line in footnotes(state, appraisal):
        yield f'<p class="dim">{escape(line)}</p>'


def _number(value: float | None, by: str = "outcome") -> str:
    return "-" if value is None else f"{value:z.0f}" if by == "outcome" else f"{value:z.2f}"


def _interval(row: dict[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return "-"
    return (
        "pinned" if row["low"] == row["high"] else " to ".join(_number(row[end], row["by"]) for end in ("low", "high"))
    )


def _score(row: dict[str, Any], anchor: str) -> str:
    if found := row["candidate"].get(anchor):
        return spread(found["score"], found["low"], found["high"])
    score = row["anchors"].get(anchor)
    return "-" if score is None else f"{score:.0%}"


def _facts(facts: dict[str, str]) -> Iterator[str]:
    yield "<table>"
    for name, value in facts.items():
        yield f'<tr><td style="text-align: left">{escape(name)}</td><td>{escape(value)}</td></tr>'
    yield "</table>"


def _environment(story: Story) -> dict[str, str]:
    env = story.view.state.env
    if env is None:
        return {}
    return {
        "name": env.name,
        "agents": ", ".join(env.agents),
        "roles": ", ".join(sorted(set(env.roles))),
        "observation": str(env.observation),
        "actions": str(env.actions),
        "seed of the run": str(story.view.state.seed),
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
