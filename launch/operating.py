"""The commands on a run that is under way: attach, logs, pause, stop, scale, keys. Each returns its exit code."""

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from launch.config.config import stored
from launch.config.foreign import with_foreign
from launch.terminal.console import Console
from launch.terminal.spinner import Spinner
from launch.terminal.wording import allowing
from launch.topology.endpoints import Endpoints
from launch.viewers.live import LiveTable, final_report
from launch.viewers.view import Viewer, ViewError, may_answer, read_offline
from league.state import OVER, LeagueState
from league.store.regular_file import open_regular
from league.store.run_directory import RunDirectory
from league.wire.keys import COMMANDS, KeysError, list_keys, renew_key, revoke_key
from league.wire.sockets import PAGE_LIMIT, RENEWAL

LONGEST_END = 1 << 24  # bytes of a log that are read at once
REFRESH_SECONDS = 0.5  # between two updates of the table, or of a log
RECHECK_SECONDS = 3.0  # without an answer after which the ledger is read: the league may be over
WARN_SECONDS = 30.0  # without an answer after which the user is warned


def print_line(line: str) -> None:
    """Print a line of the answer."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def attach(run: RunDirectory, plain: bool = False, quiet: bool = False, as_json: bool = False) -> int:
    """Show the live table of a run until it is over; Ctrl-C leaves the table, not the league."""
    config = stored(run)
    with (
        LiveTable(run.name, plain=plain, quiet=quiet, as_json=as_json) as table,
        Endpoints(run, "viewer", config.launch.transport, PAGE_LIMIT) as endpoints,
    ):
        state = _follow(run, Viewer(endpoints.replica(), config.league), table)
    final_report(state, run.name, as_json=as_json, allow=with_foreign(config))
    return 0


def _follow(run: RunDirectory, viewer: Viewer, table: LiveTable) -> LeagueState:
    """Show the table until the league is over; return its state then, from the ledger if the replica has ended."""
    there = any(may_answer(run.read_rendezvous(process)) for process in ("coordinator", "replica"))
    silence, heard = RECHECK_SECONDS if there else 0.0, time.monotonic()
    while viewer.state.phase != OVER or not viewer.complete:
        if viewer.refresh(REFRESH_SECONDS):
            silence, heard = RECHECK_SECONDS, time.monotonic()
            table.show(viewer)
        elif time.monotonic() - heard > silence:
            if run.ledger.exists() and (state := read_offline(run).state).phase == OVER:
                return state
            if silence == WARN_SECONDS:
                table.warn(f"no coordinator answers for {WARN_SECONDS:g} s; why may be in: ludus status {run.name}")
            silence, heard = WARN_SECONDS, time.monotonic()
        time.sleep(REFRESH_SECONDS / 5)
    return viewer.state


def stop(run: RunDirectory) -> int:
    """Stop a run so that it can be resumed: episodes finish, checkpoints are written, processes end."""
    config = stored(run)
    if config.launch.name == "slurm":
        from launch.slurm.control import stop as stop_jobs

        return stop_jobs(run, print_line)
    from launch.topology.endpoints import drain

    with Spinner(f"asking the coordinator of {run.name}"):
        heard = may_answer(run.read_rendezvous()) and drain(config, run)
    if not heard:
        raise ViewError(f"no coordinator of the run {run.name} answers: it does not run")
    print_line(f"everybody finishes; it goes on with: ludus resume {run.name}{allowing(with_foreign(config))}")
    return 0


def pause(run: RunDirectory) -> int:
    """Hand out no more tickets until `unpause`; matches under way are finished, and the budget's clock stands."""
    _command(run, "pause")
    print_line(f"matches under way are finished, then everybody waits; it goes on with: ludus unpause {run.name}")
    return 0


def unpause(run: RunDirectory) -> int:
    """Hand out tickets again."""
    _command(run, "unpause")
    print_line(f"{run.name} goes on; look at it: ludus attach {run.name}")
    return 0


def _command(run: RunDirectory, action: str) -> None:
    from launch.topology.endpoints import command

    with Spinner(f"asking the coordinator of {run.name}"):
        done = may_answer(run.read_rendezvous()) and command(stored(run), run, action)
    if not done:
        raise ViewError(f"no coordinator of the run {run.name} answers: it does not run")


def scale(run: RunDirectory, wanted: Sequence[str]) -> int:
    """Change the number of collectors while the league runs on Slurm."""
    key, _, value = wanted[0].partition("=") if len(wanted) == 1 else ("", "", "")
    if key != "collectors" or not value.isdigit():
        raise ViewError(f"cannot read {' '.join(wanted)!r}: write collectors=NUMBER, e.g. collectors=64")
    from launch.slurm.control import scale as scale_jobs

    return scale_jobs(run, int(value), print_line)


# --- logs ----------------------------------------------------------------------------------------------------


def logs(run: RunDirectory, role: str | None = None, follow: bool = False, lines: int = 20) -> int:
    """Print the end of the logs, of one role or process or of all; with `follow`, also what is added to them."""
    found = _logs(run, role)
    if not found and not follow:
        known = ", ".join(path.stem for path in _logs(run, None)) or "none yet"
        raise ViewError(f"there is no log of {role or run.name!r}; there are: {known}")
    read: dict[Path, int] = {}
    for path in found:
        before, data = _end_of(path)
        if follow:
            data = _whole_lines(data)  # the rest of the last one is on its way
        read[path] = before + len(data)
        _print(path, data.decode(errors="replace").splitlines()[-lines:])
    while follow:
        time.sleep(REFRESH_SECONDS)
        for path in _logs(run, role):
            read[path] = _print_new(path, read.get(path, 0))
    return 0


def _logs(run: RunDirectory, role: str | None) -> list[Path]:
    return sorted(path for path in run.logs.glob("*.log") if role in (None, path.stem, path.stem.rpartition("-")[0]))


def _end_of(path: Path) -> tuple[int, bytes]:
    """Return the end of a log, and how many bytes are before it."""
    with open_regular(path) as file:
        before = max(0, os.fstat(file.fileno()).st_size - LONGEST_END)
        file.seek(before)
        return before, file.read(LONGEST_END)


def _print_new(path: Path, since: int) -> int:
    """Print the whole lines behind `since`; return how far the log was read."""
    with open_regular(path) as file:
        file.seek(since)
        data = file.read(LONGEST_END)
    whole = _whole_lines(data)
    _print(path, whole.decode(errors="replace").splitlines())
    return since + len(whole)


def _whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


def _print(path: Path, lines: Sequence[str]) -> None:
    for line in lines:
        print_line(f"{path.stem}: {line}")


def keys(run: RunDirectory, action: str | None = None, name: str | None = None, as_json: bool = False) -> int:
    """List the keys of a run; or revoke or replace one. Running servers notice by themselves."""
    if not (run.keys / "admitted.json").exists():
        raise KeysError(
            f"the run {run.name} has no keys: its processes meet in a folder that only you can enter "
            "(launch.transport=ipc). There are keys with launch.transport=tcp and on Slurm."
        )
    if action is None:
        _list_keys(run, as_json)
        return 0
    run.inside(run.keys)
    if name is None:
        raise KeysError(f"whose key? Write: ludus keys {run.name} {action} NAME, e.g. collector-3")
    if action == "revoke":
        revoke_key(run.keys, name)
        print_line(f"the key of {name} is revoked; every process that runs shuts it out within {2 * RENEWAL:g} s")
        print_line(f"let it in again, with another key: ludus keys {run.name} new {name}")
        return 0
    renew_key(run.keys, name)
    print_line(f"{name} has a new key; the old one is shut out within {2 * RENEWAL:g} s")
    if name not in COMMANDS:
        print_line("the process ends when it is refused, and its launcher starts it again with the new key")
    return 0


def _list_keys(run: RunDirectory, as_json: bool) -> None:
    found = list_keys(run.keys)
    if as_json:
        plain = [{"name": k.name, "role": k.role.value, "state": _key_state(k.revoked)} for k in found]
        print_line(json.dumps(plain, indent=2))
        return
    table = Table("process", "role", "state", box=SIMPLE_HEAD, pad_edge=False)
    for key in found:
        table.add_row(key.name, key.role.value, _key_state(key.revoked), style="red" if key.revoked else None)
    Console().print(table)


def _key_state(revoked: bool) -> str:
    return "revoked" if revoked else "admitted"
