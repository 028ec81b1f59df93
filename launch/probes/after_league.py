"""The probe at the end of a league: `league.probe=true` trains a best response against each main, for some seconds.

code = conclude(run, launch(run, ...), quiet=False, as_json=False, allow=[])
"""

import sys
from collections.abc import Sequence

import msgspec

from launch.config.config import Config, stored
from launch.probes.probe_config import ProbeOrder
from launch.probes.probing import probe
from launch.trackers.exporting import export
from launch.trackers.tracker import Kept
from launch.viewers.live import emit_line
from launch.viewers.probe_reports import ProbeReport, report_json, verdict
from launch.viewers.view import View, read_offline
from league.errors import LudusError
from league.state import OVER
from league.store.run_directory import RunDirectory


def conclude(run: RunDirectory, code: int, *, quiet: bool, as_json: bool, allow: Sequence[str]) -> int:
    """Probe the mains of a league that has ended well, if its config asks for it; return the exit code of the league.

    A probe that fails is no failure of the league: a line says so.
    """
    config = stored(run)
    if code or not config.league.probe.enabled or not run.ledger.exists():
        return code
    if config.launch.name == "slurm":
        _note(f"league.probe trains on this machine: when the jobs have ended, ludus probe {run.name} main", quiet)
        return code
    view = read_offline(run)
    if view.state.phase != OVER:
        return code
    try:
        for report in probe_mains(run, config, view, quiet=quiet, as_json=as_json, allow=allow):
            _show(report, quiet, as_json)
        _track(run, config, view, allow)
    except LudusError as error:
        _note(f"the probe at the end (league.probe) failed: {error}", False)
    return code


def probe_mains(
    run: RunDirectory, config: Config, view: View, *, quiet: bool, as_json: bool, allow: Sequence[str]
) -> list[ProbeReport]:
    """Probe each main within its share of the time."""
    rules, mains = config.league.probe, [player.id for player in view.state.probed()]
    seconds = None if rules.seconds is None else rules.seconds / max(1, len(mains))
    order = ProbeOrder(steps=rules.steps, seconds=seconds, games=rules.games)
    return [probe(run, main, order, allow=allow, quiet=quiet, as_json=as_json) for main in mains]


def _show(report: ProbeReport, quiet: bool, as_json: bool) -> None:
    if as_json:
        emit_line({"probe": report_json(report)})
    elif not quiet:
        sys.stdout.write(f"{verdict(report)}\n")


def _track(run: RunDirectory, config: Config, view: View, allow: Sequence[str]) -> None:
    """Add the score of the probes to the curves of all trackers: these have ended with the league."""
    for name in config.track.to:
        kept = msgspec.json.decode(view.notes[name], type=Kept).id if name in view.notes else ""
        export(run, name, run.track / name, allow=allow, id=kept)


def _note(line: str, quiet: bool) -> None:
    if not quiet:
        sys.stderr.write(f"ludus: {line}\n")
