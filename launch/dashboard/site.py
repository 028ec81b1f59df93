"""The pages and what they ask for: a Starlette application over the runs of a folder. Everything is only read.

    app = make_site(Runs.of_folder(Path("runs")))

Every answer comes from a feed that all visitors share; what takes longer than a moment runs in a thread.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from launch.dashboard.dashboard_runs import Runs
from launch.dashboard.match_replay import ReplayOrder, replay_apart
from launch.dashboard.match_search import ENDINGS, PURPOSES, MatchFilter, find_match, search_matches, sides_of
from launch.dashboard.run_comparison import compare_json, is_tournament, tournament_rows
from launch.dashboard.run_feed import TABLES, NotReady, RunFeed
from launch.dashboard.status_stream import status_events
from launch.dashboard.under_way import coordinator_host, under_way
from launch.matches.playing import parse_match
from launch.sweeps.comparing import figures
from launch.viewers.view import ViewError
from league.errors import LudusError
from league.events import ResultCounted

log = logging.getLogger("ludus.dashboard")

STATIC = Path(str(files("launch.dashboard"))) / "static"
ORDERS = ("rating", "kind", "cluster")
JSON = "application/json"
MOST_COMPARED = 64  # runs side by side
MOST_MATCHES = 200  # in one answer
NOT_READY = 202  # accepted, and not done: browsers log what is 400 or more as an error


def make_site(runs: Runs) -> Starlette:
    """Return the site over these runs."""

    @asynccontextmanager
    async def closing(app: Starlette) -> AsyncIterator[None]:
        runs.begin()
        yield
        runs.close()

    one = "/api/runs/{run}"
    routes = [
        Route("/", _index),
        Route("/api/runs", _runs),
        Route("/api/compare", _compare),
        Route(f"{one}/league", _league),
        Route(f"{one}/stream", _stream),
        Route(f"{one}/standings", _standings),
        Route(f"{one}/payoff", _payoff),
        Route(f"{one}/cell", _cell),
        Route(f"{one}/curves", _curves),
        Route(f"{one}/tree", _tree),
        Route(f"{one}/why", _why),
        Route(f"{one}/open", _open),
        Route(f"{one}/matches", _matches),
        Route(f"{one}/replay", _replay),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    handlers: dict[Any, Callable[..., Any]] = {
        LudusError: _explain_error,
        HTTPException: _http_error,
        Exception: _log_error,
    }
    site = Starlette(routes=routes, lifespan=closing, exception_handlers=handlers)
    site.state.runs = runs
    return site


def answer(plain: Any, status: int = 200) -> Response:
    """Return an answer in JSON."""
    return Response(msgspec.json.encode(plain), status, media_type=JSON)


def tagged(request: Request, tag: str, body: bytes, kind: str) -> Response:
    """Return an answer that a browser may keep and ask about: an empty one if it has these bytes already."""
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type=kind)


def _explain_error(request: Request, error: Exception) -> Response:
    return answer({"problem": str(error)}, NOT_READY if isinstance(error, NotReady) else 404)


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return answer({"problem": error.detail}, error.status_code)


def _log_error(request: Request, error: Exception) -> Response:
    log.error("%s cannot be answered", request.url.path, exc_info=error)
    return answer({"problem": f"the dashboard failed ({type(error).__name__}): its output says where"}, 500)


def _feed(request: Request) -> RunFeed:
    runs: Runs = request.app.state.runs
    feed = runs.feed(request.path_params["run"])
    feed.look()
    return feed


def _number(request: Request, name: str, usual: int = 0) -> int:
    text = request.query_params.get(name, str(usual))
    if not text.isdecimal() or len(text) > 18:
        raise HTTPException(400, f"{name} is a number, got {text[:40]!r}")
    return int(text)


def _one_of(request: Request, name: str, known: tuple[str, ...]) -> Any:
    text = request.query_params.get(name, known[0])
    if text not in known:
        raise HTTPException(400, f"{name} is one of {', '.join(known)}, got {text[:40]!r}")
    return text


# --- the routes ----------------------------------------------------------------------------------------------


async def _index(request: Request) -> Response:
    return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


async def _runs(request: Request) -> Response:
    runs: Runs = request.app.state.runs
    return answer(await run_in_threadpool(runs.cards))


async def _league(request: Request) -> Response:
    feed = _feed(request)
    feed.view()
    return answer({"league": feed.league, "status": feed.status})


async def _stream(request: Request) -> Response:
    feed = _feed(request)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(status_events(feed, asyncio.sleep), headers=headers, media_type="text/event-stream")


async def _standings(request: Request) -> Response:
    """Answer with the rows that have changed since a version, and the notes under them."""
    tag, body = _feed(request).standings(_number(request, "since"))
    return tagged(request, tag, body, JSON)


async def _payoff(request: Request) -> Response:
    feed = _feed(request)
    table, order = _one_of(request, "of", TABLES), _one_of(request, "order", ORDERS)
    tag, body = await run_in_threadpool(feed.matrix, table, order)
    return tagged(request, tag, body, "application/octet-stream")


async def _cell(request: Request) -> Response:
    feed, pair = _feed(request), [request.query_params.get(name, "") for name in ("player", "opponent")]
    return answer(await run_in_threadpool(feed.cell, _one_of(request, "of", TABLES), *pair))


async def _why(request: Request) -> Response:
    runs: Runs = request.app.state.runs
    feed, history = _feed(request), runs.history(request.path_params["run"])
    history.look()
    player = request.query_params.get("player", "")
    found = await run_in_threadpool(feed.explained, player)
    past = history.chronicle.opponents.json(found["player"])
    return answer(found | {"past": past, "complete": history.complete})


async def _curves(request: Request) -> Response:
    """Answer with the names of all curves, or with the points of those that are named."""
    history = request.app.state.runs.history(request.path_params["run"])
    history.look()
    names = request.query_params.getlist("name")
    return answer(history.curves(names, _number(request, "since")) if names else history.names())


async def _tree(request: Request) -> Response:
    runs: Runs = request.app.state.runs
    feed, history = _feed(request), runs.history(request.path_params["run"])
    history.look()
    return answer(await run_in_threadpool(feed.reading_state, history.tree))


# --- matches -------------------------------------------------------------------------------------------------


async def _open(request: Request) -> Response:
    """Answer with the tickets under way and who plays them."""
    feed = _feed(request)
    found = await run_in_threadpool(feed.reading_view, under_way)
    return answer(found | {"coordinator": coordinator_host(feed.run)})


async def _matches(request: Request) -> Response:
    """Answer with the newest matches that fit, and from where to search on."""
    feed, asked = _feed(request), request.query_params
    known = await run_in_threadpool(feed.reading_state, sides_of)
    wanted = MatchFilter(
        player=asked.get("player", ""),
        against=asked.get("against", ""),
        purpose=_one_of(request, "purpose", PURPOSES),
        ending=_one_of(request, "ending", ENDINGS),
        longest=_number(request, "longest"),
    )
    before = _number(request, "before") if "before" in asked else None
    limit = min(MOST_MATCHES, max(1, _number(request, "limit", 50)))
    return answer(await run_in_threadpool(search_matches, feed.run, wanted, before, limit, known["sides"]))


async def _replay(request: Request) -> Response:
    """Answer with a recorded episode, position by position."""
    feed, asked = _feed(request), request.query_params
    known = await run_in_threadpool(feed.reading_state, sides_of)
    number, episode = parse_match(asked.get("match", ""))
    seq = _number(request, "seq") if "seq" in asked else None
    body = await run_in_threadpool(_replayed, feed, (number, episode), seq, known["seed"])
    return Response(body, media_type=JSON)


def _replayed(feed: RunFeed, match: tuple[int, int | None], seq: int | None, seed: int) -> bytes:
    found = find_match(feed.run, match[0], seq)
    if not isinstance(found.event, ResultCounted):
        raise ViewError(f"ticket {match[0]} is void, nobody played it to its end: {found.event.why}")
    kept = [i for i, episode in enumerate(found.event.episodes) if episode.actions]
    if match[1] not in (None, *kept) or not kept:
        raise ViewError(f"this episode of ticket {match[0]} was not recorded; recorded are: {kept or 'none'}")
    episode = kept[0] if match[1] is None else match[1]
    order = ReplayOrder(
        run=str(feed.run.root),
        ticket=found.ticket,
        attempt=found.event.attempt,
        episode=episode,
        recorded=found.event.episodes[episode],
        seed=seed,
        allow=feed.allow,
    )
    return feed.replays.get(f"{match[0]}.{episode}", lambda: replay_apart(order))


# --- several runs --------------------------------------------------------------------------------------------


async def _compare(request: Request) -> Response:
    """Answer with several runs side by side, and the curves that are named."""
    runs: Runs = request.app.state.runs
    names = list(dict.fromkeys(request.query_params.getlist("run")))
    if not 2 <= len(names) <= MOST_COMPARED:
        raise HTTPException(400, f"compare 2 to {MOST_COMPARED} runs, got {len(names)}")
    return answer(await run_in_threadpool(_compared, runs, names, request.query_params.getlist("name")))


def _compared(runs: Runs, names: list[str], curves: list[str]) -> dict[str, Any]:
    for name in names:
        runs.feed(name).look()
        runs.history(name).look()
    samples = {name: runs.feed(name).reading_state(lambda state: dict(figures(state, None))) for name in names}
    courses = {name: runs.history(name).courses(curves) for name in names}
    plain = compare_json([runs.run(name) for name in names], samples, courses)
    known = sorted({curve for name in names for curve in runs.history(name).chronicle.series})
    plain["tournaments"] = {name: rows for name in runs.found() if (rows := _tournament(runs, name, names))}
    return plain | {"names": known, "complete": all(runs.history(name).complete for name in names)}


def _tournament(runs: Runs, name: str, compared: list[str]) -> list[dict[str, Any]]:
    """Return the standings of a tournament in which players of the compared runs met; nothing if it is none."""
    if name in compared or not is_tournament(runs.run(name)):
        return []
    feed = runs.feed(name)
    feed.look()
    try:
        found = feed.reading_state(lambda state: {p.id: p.snapshot for p in state.population if p.snapshot is not None})
    except NotReady:
        return []  # it is being read, and is there the next time
    return tournament_rows(feed.rows.since(0), found, [runs.run(one) for one in compared])
