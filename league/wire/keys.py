"""The keys of a run, in a folder that only its owner can enter: a file for the server and one for each process.

make_keys(run.keys, {"collector-0": Role.COLLECTOR})       # once, by the command that starts the run
server_keys = load_server_keys(run.keys)                   # coordinator, learners
client_keys = load_client_keys(run.keys, "collector-0")    # every client, each with its own file
revoke_key(run.keys, "collector-0")                        # servers reject the key within a second

`admitted.json` lists the public keys; servers re-read it while they run. A client needs no file but its own.
"""

import fcntl
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from league import limits
from league.errors import InputError
from league.store.files import publish
from league.store.plain_json import decode_json
from league.store.regular_file import read_regular
from league.wire.admission import ClientKeys, Clients, Holder, ServerKeys
from league.wire.messages import Role
from league.wire.sockets import new_pair

COMMANDS = {"viewer": Role.VIEWER, "operator": Role.OPERATOR, "human": Role.COLLECTOR}  # keys of user commands


class KeysError(InputError):
    """Keys that are missing, damaged, revoked, or readable by others."""


class Key(msgspec.Struct, frozen=True):
    """One entry of the list: the holder of a key, and whether the key was revoked."""

    name: str
    role: Role
    public: str
    revoked: bool = False


class _ServerFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    public: str
    secret: str


class _ClientFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    role: Role
    server: str
    public: str
    secret: str


class _ListFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    keys: list[Key]


File = TypeVar("File", _ServerFile, _ClientFile, _ListFile)


def make_keys(directory: Path, processes: Mapping[str, Role] | None = None) -> None:
    """Create the keys that are missing, including those of user commands; existing keys do not change.

    A name whose key was revoked does not get a new one here, only by `renew_key`.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_lax(directory, "700")
    with _locked(directory):
        server_path, list_path = directory / "server.json", directory / "admitted.json"
        if not server_path.exists():
            if list_path.exists():
                raise KeysError(f"{server_path} is gone, and the keys beside it are of no use; delete {directory}")
            _write(server_path, _ServerFile(*new_pair()))
        found = list_keys(directory) if list_path.exists() else []
        known = {key.name for key in found if key.revoked or _client_path(directory, key.name).exists()}
        wanted = {**COMMANDS, **(processes or {})}
        new = [_issue(directory, name, role) for name, role in wanted.items() if name not in known]
        made = {key.name for key in new}
        if new or not list_path.exists():
            _write(list_path, _ListFile([*(key for key in found if key.name not in made), *new]))


def load_server_keys(directory: Path, roles: Collection[Role] = tuple(Role)) -> ServerKeys:
    """Return the server's key pair and the holder of each public key of these roles that is not revoked."""
    _refuse_lax(directory, "700")
    server = _read(directory / "server.json", _ServerFile)
    watch = _watch(directory, roles)
    try:
        return ServerKeys(public=server.public, secret=server.secret, clients=dict(watch() or {}), renew=watch)
    except ValueError as error:
        raise KeysError(f"{directory}: {error}") from error


def load_client_keys(directory: Path, name: str) -> ClientKeys:
    """Return the key pair of one process, or of one kind of user command. Read no file but its own."""
    _refuse_lax(directory, "700")
    path = _client_path(directory, name)
    if not path.exists():
        raise KeysError(
            f"there is no key of {name!r} in {directory}: it was revoked, or never made. "
            f"`ludus keys {directory.parent}` lists the keys, `ludus keys {directory.parent} new {name}` replaces one"
        )
    file = _read(path, _ClientFile)
    if file.name != name:
        raise KeysError(f"{path} holds the key of {file.name!r}, not of {name!r}; was the file renamed?")
    try:
        return ClientKeys(server=file.server, public=file.public, secret=file.secret)
    except ValueError as error:
        raise KeysError(f"{path}: {error}") from error


def list_keys(directory: Path) -> list[Key]:
    """Return all keys of a run, including those that were revoked and not replaced."""
    _refuse_lax(directory, "700")
    return _read(directory / "admitted.json", _ListFile).keys


def revoke_key(directory: Path, name: str) -> None:
    """Revoke the key of this name at all servers, for good, and delete its file."""
    with _locked(directory):
        found = list_keys(directory)
        _find(found, name)
        kept = [msgspec.structs.replace(key, revoked=True) if key.name == name else key for key in found]
        _write(directory / "admitted.json", _ListFile(kept))
        _client_path(directory, name).unlink(missing_ok=True)


def renew_key(directory: Path, name: str) -> None:
    """Create a new key for this name, and revoke the old one in the same write."""
    with _locked(directory):
        found = list_keys(directory)
        role = _find(found, name).role
        new = _issue(directory, name, role)
        _write(directory / "admitted.json", _ListFile([new if key.name == name else key for key in found]))


def _find(keys: list[Key], name: str) -> Key:
    for key in keys:
        if key.name == name:
            return key
    known = ", ".join(key.name for key in keys[:20])
    raise KeysError(f"there is no key of {name!r}; there are {known}{', ...' if len(keys) > 20 else ''}")


def _watch(directory: Path, roles: Collection[Role]) -> Callable[[], Clients | None]:
    """Return a function that reads the list, and returns the holders if it has changed since the last call, else None.

    It opens the file each time: over NFS, opening revalidates the file with the server, but its times may be cached.
    """
    path, last = directory / "admitted.json", b""

    def watch() -> Clients | None:
        nonlocal last
        _refuse_lax(path, "600")
        data = read_regular(path, limits.SMALL_FILE)
        if data == last:
            return None
        keys = _decoded(path, data, _ListFile).keys
        last = data
        return {key.public: Holder(key.name, key.role) for key in keys if not key.revoked and key.role in roles}

    return watch


def _issue(directory: Path, name: str, role: Role) -> Key:
    """Write a new key pair for a name; return its entry, which the caller must add to the list."""
    server = _read(directory / "server.json", _ServerFile)
    public, secret = new_pair()
    _write(_client_path(directory, name), _ClientFile(name, role, server.public, public, secret))
    return Key(name, role, public)


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Hold the lock of the folder, so that one process at a time changes the list."""
    _refuse_lax(directory, "700")
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _client_path(directory: Path, name: str) -> Path:
    return directory / f"{name}.json"


def _write(path: Path, file: _ServerFile | _ClientFile | _ListFile) -> None:
    publish(path, msgspec.json.encode(file), mode=0o600)


def _read(path: Path, kind: type[File]) -> File:
    _refuse_lax(path, "600")
    return _decoded(path, read_regular(path, limits.SMALL_FILE), kind)


def _decoded(path: Path, data: bytes, kind: type[File]) -> File:
    try:
        return decode_json(data, kind)
    except msgspec.DecodeError as error:
        raise KeysError(f"{path} is damaged ({error}); delete the folder and make new keys") from error


def _refuse_lax(path: Path, mode: str) -> None:
    try:
        lax = stat.S_IMODE(path.stat().st_mode) & 0o077
    except FileNotFoundError as error:
        raise KeysError(f"there is no {path}; make the keys of this run with make_keys()") from error
    if lax:
        raise KeysError(f"others may read {path}; run: chmod {mode} {path}")
