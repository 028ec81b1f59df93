"""Requests to an ASGI application without a socket."""

import asyncio
import json
from types import SimpleNamespace

SERVER = ("127.0.0.1", 8420)


def ask(app, path, headers=(), method="GET", query="", most=None, body=b""):
    """Return status, headers and body of an answer; of a stream, the first `most` pieces."""
    return asyncio.run(_ask(app, path, headers, method, query, most, body))


async def _ask(app, path, headers, method, query, most, body):
    given = [(name.lower().encode(), value.encode()) for name, value in headers]
    if not any(name == b"host" for name, _ in given):
        given.append((b"host", b"127.0.0.1:8420"))
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode()}
    scope |= {"headers": given, "server": SERVER, "client": ("127.0.0.1", 1), "scheme": "http", "root_path": ""}
    answer = SimpleNamespace(status=None, headers={}, body=b"", pieces=[])
    enough = asyncio.Event()
    asked = False

    async def receive():
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": body, "more_body": False}
        await enough.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        elif message["type"] == "http.response.body":
            answer.body += message.get("body", b"")
            if message.get("body"):
                answer.pieces.append(message["body"])
            if most is not None and len(answer.pieces) >= most:
                enough.set()

    await app({**scope, "asgi": {"version": "3.0", "spec_version": "2.3"}}, receive, send)
    answer.json = (
        json.loads(answer.body) if answer.headers.get("content-type", "").startswith("application/json") else None
    )
    return answer
