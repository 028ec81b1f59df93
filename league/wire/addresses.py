"""Checks of addresses, before a socket exists: whether it is safe to listen on one or to connect to it."""

import os
import socket
import stat
from pathlib import Path
from typing import TypeVar

from league.errors import InputError
from league.limits import LONGEST_HOST

Keys = TypeVar("Keys")

LONGEST_PATH = 107  # bytes that fit into the kernel's struct sockaddr_un
WILDCARDS = frozenset({"*", "0.0.0.0"})


class AddressError(InputError):
    """An address that cannot be used; the message says how to correct it."""


def is_ipc(address: str) -> bool:
    """Return whether the address is a file on this host: its folder is private, so it needs no keys."""
    return address.startswith("ipc://")


def check_tcp(address: str, keys: Keys | None) -> Keys:
    """Return the keys; raise AddressError if the address is not tcp://host:port, or without keys, even on loopback."""
    if not address.startswith("tcp://"):
        raise AddressError(f"{address!r} is no address; use tcp://host:port or ipc:///path")
    if not address.rpartition(":")[2].isdigit():
        raise AddressError(f"{address!r} has no port; use tcp://host:port (port 0: any free one)")
    if keys is None:
        raise AddressError(f"{address!r} needs keys: tcp is always encrypted. Make them with make_keys().")
    return keys


def check_ipc(address: str) -> Path:
    """Return the path of an ipc address; raise AddressError if it is relative, too long, or in a shared folder."""
    path = Path(address.removeprefix("ipc://"))
    if not path.is_absolute():
        raise AddressError(f"{address!r}: an ipc address needs an absolute path")
    length = len(os.fsencode(path))
    if length > LONGEST_PATH:
        raise AddressError(
            f"{address!r}: the path has {length} bytes, {LONGEST_PATH} are allowed; use a shorter folder"
        )
    if path.parent.exists():
        _check_private(path.parent)
    return path


def _check_private(folder: Path) -> None:
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise AddressError(f"the folder {folder} belongs to another user; use a folder of your own")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise AddressError(f"others may enter the folder {folder}; run: chmod 700 {folder}")


def this_host() -> str:
    """Return the name of this machine, as messages may have it."""
    return "".join(letter if " " <= letter <= "~" else "?" for letter in socket.gethostname())[:LONGEST_HOST]


def advertised(asked: str, bound: str) -> str:
    """Return the address that clients connect to: the requested host (or this one for `*`), and the bound port.

    >>> advertised("tcp://login-node:0", "tcp://10.0.0.7:4711")
    'tcp://login-node:4711'
    """
    host = asked.removeprefix("tcp://").rpartition(":")[0]
    if host in WILDCARDS:
        host = socket.gethostname()
    return f"tcp://{host}:{bound.rpartition(':')[2]}"
