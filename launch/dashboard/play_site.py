"""`ludus play RUN PLAYER --browser`: a page to play at, served by a process of its own with a token of its own.

The dashboard only reads. Here a visitor makes moves, and a game for a rating changes the league: so it is another
server, which the user starts on purpose, with the key of a human.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from launch.dashboard.play_table import Opening, PlayTable
from launch.dashboard.site import STATIC, answer
from league.errors import LudusError

LARGEST = 4096  # bytes of a request
PLAYING = ("GET", "HEAD", "POST")

Asked = TypeVar("Asked")


class MoveRequest(msgspec.Struct, frozen=True):
    """A move of the human."""

    action: int


def make_play_site(table: PlayTable, opponent: str, name: str) -> Starlette:
    """Return the site of one table."""

    async def index(request: Request) -> Response:
        return FileResponse(STATIC / "play.html", headers={"Cache-Control": "no-cache"})

    async def players(request: Request) -> Response:
        return answer({"players": await run_in_threadpool(table.opponents), "opponent": opponent, "name": name})

    async def state(request: Request) -> Response:
        return answer(table.view())

    async def considered(request: Request) -> Response:
        return answer(table.considered())

    async def begin(request: Request) -> Response:
        return await _done(request, Opening, table.begin)

    async def move(request: Request) -> Response:
        return await _done(request, MoveRequest, lambda asked: table.move(asked.action))

    async def undo(request: Request) -> Response:
        return answer(await run_in_threadpool(table.undo))

    routes = [
        Route("/", index),
        Route("/api/players", players),
        Route("/api/game", state),
        Route("/api/considered", considered),
        Route("/api/begin", begin, methods=["POST"]),
        Route("/api/move", move, methods=["POST"]),
        Route("/api/undo", undo, methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Starlette(routes=routes, exception_handlers={LudusError: _refused, msgspec.MsgspecError: _refused})


async def _done(request: Request, kind: type[Asked], do: Callable[[Asked], dict[str, Any]]) -> Response:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            return answer({"problem": "this is too long"}, 413)
    return answer(await run_in_threadpool(do, msgspec.json.decode(body, type=kind)))


def _refused(request: Request, error: Exception) -> Response:
    return answer({"problem": str(error)}, 409)
