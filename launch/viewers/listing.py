"""`ludus list`: the runs in a directory, the newest first, each with its state and its best player."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from launch.terminal.console import Console
from launch.terminal.spinner import Spinner
from launch.viewers.tables import all_standings, rating_text, short
from launch.viewers.view import open_view
from league.errors import LudusError
from league.standings import Standing
from league.state import OVER, LeagueState
from league.store.run_directory import RunDirectory, RunError

UNREADABLE, NOT_STARTED, RUNNING, STOPPED = "unreadable", "not started", "running", "stopped"
WHOLE = 36  # characters of a name that stay on one line, so that it can be copied: a sweep's names are long
UNITS = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))


def list_runs(runs: Path, as_json: bool = False) -> int:
    """Print all runs of a directory."""
    if not runs.is_dir():
        raise RunError(f"there is no directory {str(runs)!r}; name the directory of the runs: ludus list DIRECTORY")
    found = []
    with Spinner("list") as progress:
        for config in sorted(runs.glob("*/config.json"), key=lambda path: -path.stat().st_mtime_ns):
            progress.update(config.parent.name)
            found.append(run_json(RunDirectory(config.parent)))
    if as_json:
        sys.stdout.write(json.dumps(found, indent=2, allow_nan=False) + "\n")
        return 0
    Console().print(_table(found) if found else f"no runs in {runs}; start one with: ludus run", highlight=False)
    return 0


def run_json(run: RunDirectory) -> dict[str, Any]:
    """Return a run.

    name, path; state: running, stopped, over, not started or unreadable; why: of its end, or why it cannot be read;
    game, players, matches, env_steps; best: the strongest player that is no anchor, with player, text, rating, low and
    high (in co-operation mean, low and high of its returns with itself), null as long as nobody is rated; created: the
    time as seconds since 1970; age: seconds since then.
    """
    created = run.layout.stat().st_mtime if run.layout.exists() else run.config.stat().st_mtime
    plain: dict[str, Any] = {"name": run.name, "path": str(run.root), "created": created, "age": time.time() - created}
    nothing = {"why": "", "game": None, "players": 0, "matches": 0, "env_steps": 0, "best": None}
    try:
        run.check()
        if not run.ledger.exists():
            return plain | nothing | {"state": NOT_STARTED}
        view = open_view(run)
        return plain | _league(view.state, view.live)
    except (LudusError, ValueError, OSError) as error:
        return plain | nothing | {"state": UNREADABLE, "why": str(error)}


def _league(state: LeagueState, live: bool) -> dict[str, Any]:
    over = OVER if state.phase == OVER else STOPPED
    row = _best(state)
    return {
        "state": RUNNING if live and state.phase != OVER else over,
        "why": state.why,
        "game": None if state.env is None else state.env.name,
        "players": len(state.population),
        "matches": sum(state.results.values()),
        "env_steps": state.env_steps,
        "best": None if row is None else _strength(row),
    }


def _best(state: LeagueState) -> Standing | None:
    rated = [row for row in all_standings(state) if row.rating is not None or row.own is not None]
    return next((row for row in rated if state.population[row.player].anchor is None), None)


def _strength(row: Standing) -> dict[str, Any]:
    plain = {"player": row.player, "text": str(rating_text(row))}
    if row.own is not None:
        return plain | {"mean": row.own.mean, "low": row.own.low, "high": row.own.high}
    return plain | {"rating": row.rating, "low": row.low, "high": row.high}


def _table(found: list[dict[str, Any]]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    longest = max((len(one["name"]) for one in found), default=0)
    table.add_column("run", overflow="fold", min_width=max(6, min(longest, WHOLE)))
    table.add_column("state", no_wrap=True)
    table.add_column("game", overflow="fold", min_width=8)
    for name in ("players", "env steps"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("best", overflow="fold", min_width=8)
    table.add_column("age", justify="right", no_wrap=True)
    for one in found:
        best = "-" if one["best"] is None else f"{one['best']['player']}, {one['best']['text']}"
        style = {RUNNING: "bold", UNREADABLE: "red"}.get(one["state"], "")
        cells = [one["name"], Text(one["state"], style=style), one["game"] or "-", str(one["players"])]
        table.add_row(*cells, short(one["env_steps"]), best, age_text(one["age"]))
    unread = [f"{one['name']}: {one['why']}" for one in found if one["state"] == UNREADABLE]
    if unread:
        table.caption = "\n".join(unread)
    return table


def age_text(seconds: float) -> str:
    """Return an age in the largest unit that it has one of.

    >>> age_text(5), age_text(130), age_text(7300), age_text(200_000)
    ('5 s', '2 min', '2 h', '2 d')
    """
    unit, size = next(((unit, size) for unit, size in UNITS if seconds >= size), UNITS[-1])
    return f"{max(0.0, seconds) // size:.0f} {unit}"
