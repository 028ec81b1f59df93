"""Who may enter the dashboard: requests for a name of this server, from its own pages, with its token.

    app = Entrance(site, Pass.new(), names=own_names("127.0.0.1"))

The address that is printed once has the token; the first visit exchanges it for a cookie, so that no page, log or
history shows it again. A name of this server is required because any web site may let its own name lead to this
machine (DNS rebinding), and an origin, because any web site may send requests here. Everything is only read.
"""

import hashlib
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
READING = ("GET", "HEAD")
OWN_SITE = ("same-origin", "none")  # none: the user typed the address, or followed a link of another program
SAFE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Pass:
    """The token of one start of a server, and the cookie that it becomes."""

    token: str

    @classmethod
    def new(cls) -> "Pass":
        """Return a pass that nobody knows yet."""
        return cls(secrets.token_urlsafe(24))

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers share cookies between the ports of a machine, so each server has its own."""
        return f"ludus-{hashlib.sha256(self.token.encode()).hexdigest()[:12]}"

    def fits(self, text: str | None) -> bool:
        """Whether a text is the token; it takes the same time for each wrong one."""
        return text is not None and hmac.compare_digest(text.encode(), self.token.encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What decides about a request."""

    method: str
    host: str | None  # of the header, with its port
    local: str  # the address of this machine at which it arrived
    origin: str | None = None
    site: str | None = None  # Sec-Fetch-Site: where a browser says that the request comes from


def own_names(host: str) -> frozenset[str]:
    """Return the names under which a server at this address is reached; one at every address has the machine's name."""
    names = {*LOOPBACK, host.lower()}
    if is_wildcard(host):
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset(names)


def is_wildcard(host: str) -> bool:
    """Whether a server at this address is reached at all addresses of the machine."""
    return host in ("", "0.0.0.0", "::")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server at this address."""
    if host in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refusal(visit: Visit, names: Collection[str], methods: Collection[str] = READING) -> str:
    """Return why a request is refused whoever sends it, "" if it is not."""
    name = _name(visit.host)
    if name is None or name not in {*names, visit.local}:
        return "this server has another name: use the address that it printed"
    if visit.origin is not None and visit.origin.lower() != f"http://{(visit.host or '').lower()}":
        return "requests of other sites are refused"
    if visit.site is not None and visit.site not in OWN_SITE:
        return "requests of other sites are refused"
    if visit.method not in methods:
        return "everything here is only read"
    if visit.method not in READING and visit.origin is None:
        return "requests that change something say which page they come from"
    return ""


def _name(host: str | None) -> str | None:
    """Return the name in a Host header without its port; None if there is none.

    >>> _name("localhost:8420"), _name("[::1]:80"), _name("a:b:c"), _name("")
    ('localhost', '::1', None, None)
    """
    try:
        found = urlsplit(f"//{host or ''}")
        _ = found.port  # a port that is no number is an error
    except ValueError:
        return None
    return found.hostname if not (found.path or found.query or found.fragment or found.username) else None


class Entrance:
    """The outermost part of the site: refuses, exchanges the token for a cookie, sets headers."""

    def __init__(self, site: ASGIApp, own: Pass, names: Collection[str], methods: Collection[str] = READING) -> None:
        self._site, self._pass, self._names, self._methods = site, own, names, methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._site(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web socket is accepted: the server closes it

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SAFE_HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._answer(scope, receive, sealed)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        visit = Visit(
            method=scope["method"],
            host=headers.get("host"),
            local=scope["server"][0] if scope.get("server") else "",
            origin=headers.get("origin"),
            site=headers.get("sec-fetch-site"),
        )
        if why := refusal(visit, self._names, self._methods) or (
            "" if len(headers.getlist("host")) == 1 else "one Host, please"
        ):
            await PlainTextResponse(f"{why}\n", 403)(scope, receive, send)
        elif any(map(self._pass.fits, _cookies(headers, self._pass.cookie))):
            await self._site(scope, receive, send)
        elif self._pass.fits(_token(scope)) and scope["path"] == "/":
            answer = RedirectResponse("/", 303)
            answer.set_cookie(self._pass.cookie, self._pass.token, httponly=True, samesite="strict", path="/")
            await answer(scope, receive, send)
        else:
            why = (
                "this address needs its token: open the address that this server (ludus dashboard, ludus play) printed"
            )
            await PlainTextResponse(f"{why}\n", 403)(scope, receive, send)


def _token(scope: Scope) -> str | None:
    found = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
    return found[0] if len(found) == 1 else None


def _cookies(headers: Headers, name: str) -> list[str]:
    """Return what cookies of this name hold. Servers at other ports share cookies with this one, of any form."""
    parts = [part.partition("=") for one in headers.getlist("cookie") for part in one.split(";")]
    return [value.strip() for key, _, value in parts if key.strip() == name]
