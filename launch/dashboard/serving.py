"""`ludus dashboard`: serves the site until it is interrupted. The address with its token is printed once.

serve(Runs(folder=Path("runs")), ServerPlace(), print)
"""

import asyncio
import errno
import socket
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from launch.dashboard.bounded_protocol import BoundedProtocol
from launch.dashboard.dashboard_runs import Runs
from launch.dashboard.entrance import READING, Entrance, Pass, is_loopback, is_wildcard, own_names
from launch.dashboard.play_site import PLAYING, make_play_site
from launch.dashboard.play_table import PlayTable
from launch.dashboard.site import make_site
from launch.terminal.spinner import hushed
from league.errors import InputError

HOST, PORT = "127.0.0.1", 8420
SWITCH_SECONDS = 0.0005  # for which a thread that reads a run may keep one that answers waiting
BACKLOG = 128  # connections that wait to be accepted
GOODBYE_SECONDS = 1  # that open streams have to end
STOP_SECONDS = 0.2  # between two looks whether it is time to stop


Notify = Callable[[str], None]
Stopped = Callable[[], bool]


class DashboardError(InputError):
    """A dashboard that cannot be served; the message says why, and how to fix it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPlace:
    """Where a dashboard listens. Without a port it takes the usual one, or a free one if that is taken."""

    host: str = HOST
    port: int | None = None
    usual: int = PORT


def listen(place: ServerPlace) -> socket.socket:
    """Return a socket that listens; raise DashboardError if the port is taken."""
    wanted = [place.port] if place.port is not None else [place.usual, 0]
    for port in wanted:
        try:
            return _bound(place.host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise DashboardError(f"cannot listen at {place.host}:{port}: {error.strerror}") from error
    raise DashboardError(
        f"port {place.port} is in use, perhaps by another dashboard: choose another --port, or none for a free one"
    )


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(
        family, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )  # asyncio sends at once only if it is named
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if isinstance(error, socket.gaierror):
            raise DashboardError(f"--host {host}: {error.strerror}") from error
        raise
    return listener


def address(host: str, listener: socket.socket, token: str) -> str:
    """Return the address to open in a browser.

    >>> with socket.create_server(("127.0.0.1", 0)) as listener:
    ...     address("127.0.0.1", listener, "x") == f"http://127.0.0.1:{listener.getsockname()[1]}/?token=x"
    True
    """
    name = socket.gethostname() if is_wildcard(host) else f"[{host}]" if ":" in host else host
    return f"http://{name}:{listener.getsockname()[1]}/?token={token}"


def serve(runs: Runs, place: ServerPlace, notify: Notify, stopped: Stopped = lambda: False) -> None:
    """Serve the dashboard until an interrupt, or until it is time to stop."""
    serve_site(make_site(runs), READING, place, "dashboard", notify, stopped)


def serve_table(
    table: PlayTable, opponent: str, name: str, place: ServerPlace, notify: Notify, stopped: Stopped = lambda: False
) -> None:
    """Serve a table to play at until an interrupt, or until it is time to stop."""
    serve_site(make_play_site(table, opponent, name), PLAYING, place, "play", notify, stopped)


def serve_site(
    site: ASGIApp, methods: Collection[str], place: ServerPlace, what: str, notify: Notify, stopped: Stopped
) -> None:
    """Serve a site behind its entrance, which admits these methods; print its address once."""
    own = Pass.new()
    sys.setswitchinterval(SWITCH_SECONDS)
    with listen(place) as listener, hushed():
        config = uvicorn.Config(
            Entrance(site, own, own_names(place.host), methods),
            log_level="critical",  # the site logs its own errors; streams that are cut off at the end are none
            access_log=False,  # it would have the token
            server_header=False,
            proxy_headers=False,
            ws="none",
            http=BoundedProtocol,
            timeout_graceful_shutdown=GOODBYE_SECONDS,
        )
        server = uvicorn.Server(config)
        notify(f"{what}: {address(place.host, listener, own.token)}")
        if not is_loopback(place.host):
            notify("everybody who has this address can use it, and the traffic is not encrypted")
        asyncio.run(_serve(server, listener, stopped))


async def _serve(server: uvicorn.Server, listener: socket.socket, stopped: Callable[[], bool]) -> None:
    async def watch() -> None:
        while not stopped():
            await asyncio.sleep(STOP_SECONDS)
        server.should_exit = True

    watching = asyncio.create_task(watch())
    try:
        await server.serve(sockets=[listener])
    finally:
        watching.cancel()
