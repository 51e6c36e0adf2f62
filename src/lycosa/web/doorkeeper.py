"""Who may ask, and what every response says of itself.

A dashboard that can start processes listens on loopback, where every page that the browser has open can reach it, too.
So each request is checked before anything else:

    Host            names this server: a name that somebody else's DNS points here (rebinding) is refused
    Origin          of a request that changes something is this server's own, if there is one
    Sec-Fetch-Site  where a browser sends it, the API answers its own pages only
    Content-Type    of a request that changes something is JSON, which no form can send
    token           where the server listens on anything but loopback: a cookie, or `Authorization: Bearer`

A strict Content-Security-Policy is on every response: no inline script or style, nothing from elsewhere, no frames. The
page of a comparison, which is opened by itself, has one that is as strict about scripts and puts it into a sandbox.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
DOCUMENT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'"
)
"""Of a report's own page, which has its styles and pictures inside: a document of no origin, without any script."""
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
COOKIE = "lycosa-token"
SAFE = frozenset({"GET", "HEAD"})
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_BODY = 8 << 20
"""Bytes of a request: bookmarks are the largest."""


@dataclass(frozen=True, slots=True)
class Door:
    """Where the server listens, and who may come in."""

    address: str
    port: int
    token: str = ""
    """Empty: none is asked for, which only loopback may do."""
    names: tuple[str, ...] = ()
    """Further names by which it is reached."""
    hosts: frozenset[str] = field(init=False, default=frozenset())

    def __post_init__(self) -> None:
        if not is_loopback(self.address) and not self.token:
            raise ValueError(f"{self.address} is not a loopback address: a token is required")
        bound = f"[{self.address}]" if ":" in self.address else self.address
        known = {*LOOPBACK, bound, *self.names}
        object.__setattr__(self, "hosts", frozenset(name.lower() for name in known))

    def is_own_name(self, host: str) -> bool:
        """Whether a Host header means this server. Addresses cannot be rebound; names can."""
        name, _, port = host.rpartition(":") if host.rpartition(":")[2].isdigit() else (host, "", "80")
        if port != str(self.port):
            return False
        return name.lower() in self.hosts or (bool(self.token) and _is_address(name))

    def is_own_origin(self, origin: str, host: str) -> bool:
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Doorkeeper:
    """ASGI middleware around everything."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        query = parse_qs(scope["query_string"].decode("latin-1"))
        refusal = self._refusal(scope, headers, query)
        has_token = self._has_token(headers, query)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                cookie = [self._cookie()] if has_token and "token" in query else []
                message = {**message, "headers": [*_with_ours(message.get("headers", [])), *cookie]}
            await send(message)

        if refusal:
            await _refuse(sending, *refusal)
        elif not has_token:
            await _refuse(sending, 401, "a token is required: open the address that the command printed")
        else:
            await self._app(scope, receive, sending)

    def _refusal(self, scope: Scope, headers: Headers, query: dict[str, list[str]]) -> tuple[int, str] | None:
        host, method, path = headers.get("host", ""), scope["method"], scope["path"]
        if len(headers.getlist("host")) != 1 or not self._door.is_own_name(host):
            return 421, f"this server is not {host[:100]!r}: use the address that the command printed"
        origin = headers.get("origin")
        if origin is not None and not self._door.is_own_origin(origin, host):
            return 403, f"a page of {origin[:100]!r} may not ask this server"
        site = headers.get("sec-fetch-site")
        is_visit = method == "GET" and path == "/"
        if site not in (None, "same-origin", "none") and not is_visit:
            return 403, "another site may not ask this server"
        if "token" in query and path != "/":
            return 400, "the token is taken at / only"
        if method not in SAFE:
            if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                return 415, "the body must be JSON: Content-Type: application/json"
            length = headers.get("content-length", "")
            if not length.isdigit() or int(length) > MOST_BODY:
                return 413, f"the body must have a Content-Length of at most {MOST_BODY:,} bytes"
        return None

    def _has_token(self, headers: Headers, query: dict[str, list[str]]) -> bool:
        token = self._door.token
        if not token:
            return True
        given: list[str] = [*query.get("token", []), *_cookies(headers.getlist("cookie"))]
        scheme, _, value = headers.get("authorization", "").partition(" ")
        given += [value.strip()] if scheme.lower() == "bearer" else []
        return any(hmac.compare_digest(each.encode(), token.encode()) for each in given)

    def _cookie(self) -> tuple[bytes, bytes]:
        return b"set-cookie", f"{COOKIE}={self._door.token}; HttpOnly; SameSite=Strict; Path=/".encode()


def _with_ours(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of a response with those that every response has. A document may have the other policy."""
    ours = dict(HEADERS)
    document = (b"content-security-policy", DOCUMENT_POLICY.encode())
    if document in (given := list(headers)):
        ours |= [document]
    return [*(pair for pair in given if pair[0].lower() not in ours), *ours.items()]


def _cookies(lines: Iterable[str]) -> list[str]:
    found = []
    for line in lines:
        try:
            morsel = SimpleCookie(line).get(COOKIE)
        except CookieError:
            continue
        found += [morsel.value] if morsel else []
    return found


async def _refuse(send: Send, status: int, words: str) -> None:
    body = json.dumps({"error": words}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
