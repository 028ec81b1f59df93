"""`ludus keys`: which processes of a run have a key, and how one is shut out or replaced. Keys are never printed."""

import json
import sys

from rich.box import SIMPLE_HEAD
from rich.table import Table

from launch.console import Console
from league.store.run_directory import RunDirectory
from league.wire.keys import COMMANDS, KeysError, list_keys, renew_key, revoke_key
from league.wire.sockets import RENEWAL


def keys(run: RunDirectory, action: str | None = None, name: str | None = None, as_json: bool = False) -> int:
    """List the keys of a run; or revoke or replace one. Servers that run hear of it by themselves."""
    if not (run.keys / "admitted.json").exists():
        raise KeysError(
            f"the run {run.name} has no keys: its processes meet in a folder that only you can enter "
            "(launch.transport=ipc). There are keys with launch.transport=tcp and on Slurm."
        )
    if action is None:
        _list(run, as_json)
        return 0
    run.inside(run.keys)
    if name is None:
        raise KeysError(f"whose key? Write: ludus keys {run.name} {action} NAME, e.g. collector-3")
    if action == "revoke":
        revoke_key(run.keys, name)
        _say(f"the key of {name} is revoked; every process that runs shuts it out within {2 * RENEWAL:g} s")
        _say(f"let it in again, with another key: ludus keys {run.name} new {name}")
        return 0
    renew_key(run.keys, name)
    _say(f"{name} has a new key; the old one is shut out within {2 * RENEWAL:g} s")
    if name not in COMMANDS:
        _say("the process ends when it is refused, and its launcher starts it again with the new key")
    return 0


def _list(run: RunDirectory, as_json: bool) -> None:
    found = list_keys(run.keys)
    if as_json:
        plain = [{"name": k.name, "role": k.role.value, "state": _state(k.revoked)} for k in found]
        _say(json.dumps(plain, indent=2))
        return
    table = Table("process", "role", "state", box=SIMPLE_HEAD, pad_edge=False)
    for key in found:
        table.add_row(key.name, key.role.value, _state(key.revoked), style="red" if key.revoked else None)
    Console().print(table)


def _state(revoked: bool) -> str:
    return "revoked" if revoked else "admitted"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
