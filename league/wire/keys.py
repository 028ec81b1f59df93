"""The keys of a run: one folder that only its owner can enter, a file for the server and one for each role.

make_keys(run.keys)                                        # once, by whoever starts the run
server_keys = load_server_keys(run.keys)                   # coordinator, learners
client_keys = load_client_keys(run.keys, Role.COLLECTOR)   # everybody else
"""

import stat
from pathlib import Path
from typing import TypeVar

import msgspec

from league.store.files import publish_once
from league.wire.admission import ClientKeys, ServerKeys
from league.wire.messages import Role
from league.wire.sockets import new_pair


class KeysError(ValueError):
    """Keys that are missing, damaged, or that others could read."""


class _ServerFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    public: str
    secret: str


class _ClientFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    role: Role
    server: str
    public: str
    secret: str


File = TypeVar("File", _ServerFile, _ClientFile)


def make_keys(directory: Path) -> None:
    """Make whatever key is missing; keys that exist stay as they are."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_lax(directory, "700")
    server_path = directory / "server.json"
    if not server_path.exists():
        if any(_client_path(directory, role).exists() for role in Role):
            raise KeysError(f"{server_path} is gone, and the keys beside it are of no use; delete {directory}")
        _write(server_path, _ServerFile(*new_pair()))
    server = _read(server_path, _ServerFile)
    for role in Role:
        if not _client_path(directory, role).exists():
            _write(_client_path(directory, role), _ClientFile(role, server.public, *new_pair()))


def load_server_keys(directory: Path) -> ServerKeys:
    """Return the server's pair and the role of each client's public key."""
    _refuse_lax(directory, "700")
    server = _read(directory / "server.json", _ServerFile)
    clients = [_read(_client_path(directory, role), _ClientFile) for role in Role]
    try:
        roles = {client.public: client.role for client in clients}
        return ServerKeys(public=server.public, secret=server.secret, clients=roles)
    except ValueError as error:
        raise KeysError(f"{directory}: {error}") from error


def load_client_keys(directory: Path, role: Role) -> ClientKeys:
    """Return the pair of one role. Only this role's file is read, so only this one need be there."""
    _refuse_lax(directory, "700")
    path = _client_path(directory, role)
    file = _read(path, _ClientFile)
    if file.role != role:
        raise KeysError(f"{path} holds the key of a {file.role}, not of a {role}; was the file renamed?")
    try:
        return ClientKeys(server=file.server, public=file.public, secret=file.secret)
    except ValueError as error:
        raise KeysError(f"{path}: {error}") from error


def _client_path(directory: Path, role: Role) -> Path:
    return directory / f"{role}.json"


def _write(path: Path, file: _ServerFile | _ClientFile) -> None:
    publish_once(path, msgspec.json.encode(file), mode=0o600)


def _read(path: Path, kind: type[File]) -> File:
    _refuse_lax(path, "600")
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise KeysError(f"{path} is damaged ({error}); delete the folder and make new keys") from error


def _refuse_lax(path: Path, mode: str) -> None:
    try:
        lax = stat.S_IMODE(path.stat().st_mode) & 0o077
    except FileNotFoundError as error:
        raise KeysError(f"there is no {path}; make the keys of this run with make_keys()") from error
    if lax:
        raise KeysError(f"others may read {path}; run: chmod {mode} {path}")
