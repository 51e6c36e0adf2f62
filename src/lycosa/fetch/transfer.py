"""One request on one libcurl handle: its callbacks, its limits, and its result.

Handles are reused. `Transfer.begin` sets what differs between requests; the handle keeps only what they have in common,
so it need not be reset.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pycurl

from lycosa.fetch.guard import Guard
from lycosa.fetch.kept_connections import KeptConnections
from lycosa.fetch.proxy import proxy_trouble
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.model import Kind, Response

HeadersCheck = Callable[[int, Sequence[tuple[str, str]]], str]
"""A function of status and headers that ends the transfer before the body by returning a non-empty string."""

ADDRESS_REFUSED = "address refused"
"""Reason of a failure if the guard refuses the address: no request was sent."""
_STOP = 0
"""Return value with which a callback ends the transfer: fewer bytes accepted than offered."""
_DETAIL_LENGTH = 200

_REASONS = {
    code: reason
    for reason, codes in (
        ("bad url", (3,)),
        ("dns", (6,)),
        ("connect", (7,)),
        ("tls", (35, 53, 54, 58, 59, 60, 64, 66, 77, 80, 83, 91)),
        ("reset", (18, 52, 55, 56)),
        ("protocol", (1, 8, 16, 61, 92)),
        ("too many headers", (100,)),
    )
    for code in codes
}
_TRANSIENT = frozenset({6, 7, 16, 18, 35, 52, 55, 56, 80, 92})
"""Error codes after which another try may succeed."""
_CAPS = frozenset({"too large", "too many headers", "too slow", ADDRESS_REFUSED, "scheme", "bad url"})
"""Reasons for which we ended the transfer ourselves."""
_TIMED_OUT = 28
_FAULTS = frozenset({2, 4, 23, 27, 41, 42, 43, 48})
"""Error codes that point to a fault of this program or machine rather than the web; 23 and 42 to our callbacks."""


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """What is sent with a request, and limits on its answer."""

    user_agent: str = ""
    """The User-Agent header, with a contact: `Lycosa/0.1 (+https://example.org/crawl)`. Empty: Lycosa, its version, and
    `network.contact`."""
    accept: str = "text/html,application/xhtml+xml;q=0.9,text/plain;q=0.8,*/*;q=0.1"
    """The Accept header."""
    accept_language: str = "en,*;q=0.5"
    """The Accept-Language header."""
    deadline: float = 60.0
    """Time limit for the whole fetch in seconds, including name resolution."""
    connect_timeout: float = 15.0
    """Time limit for establishing the connection, in seconds."""
    min_rate: int = 100
    """Minimum transfer rate in bytes per second; slower transfers are ended."""
    min_rate_seconds: int = 20
    """Number of seconds below the minimum rate after which a transfer is ended."""
    max_bytes: int = 10_000_000
    """Maximum size of the body in bytes, as it comes over the wire."""
    max_header_lines: int = 250
    """Maximum number of header lines, over all header blocks of an answer: 1xx, final, trailers."""
    max_header_bytes: int = 64 * 1024
    """Maximum number of header bytes, likewise over all header blocks."""
    max_idle_connections: int = 1000
    """Maximum number of connections kept open for later requests."""
    ca_file: str = ""
    """PEM file of trusted certificates. Empty: SSL_CERT_FILE, or the system's own."""

    def __post_init__(self) -> None:
        require_above_zero(self, "http", "deadline", "connect_timeout", "max_bytes", "min_rate_seconds")
        require_above_zero(self, "http", "max_header_lines", "max_header_bytes", "max_idle_connections")
        require_at_least(self, "http", min_rate=0)


@dataclass(frozen=True, slots=True)
class TransferFailure:
    """Why there is no answer."""

    kind: Kind
    """REFUSED if we ended the transfer ourselves, otherwise UNREACHABLE."""
    reason: str
    detail: str = ""
    is_transient: bool = False
    address: str = ""
    """IP address that was contacted, or would have been; empty if the transfer ended before that."""


def failure(reason: str, detail: str, *, is_transient: bool = False, address: str = "") -> TransferFailure:
    kind = Kind.REFUSED if reason in _CAPS else Kind.UNREACHABLE
    return TransferFailure(kind, reason, detail[:_DETAIL_LENGTH], is_transient, address)


class Transfer:
    """A libcurl handle and its current request. Its methods are libcurl's callbacks."""

    def __init__(
        self,
        *,
        settings: HttpSettings,
        guard: Guard,
        kept: KeptConnections,
        loop: asyncio.AbstractEventLoop,
        now: Callable[[], float],
    ) -> None:
        self.curl: Any = pycurl.Curl()
        self.has_own_headers = False
        """Whether the handle sends headers that were meant for one request."""
        self.is_fresh = False
        """Whether the handle is set to open a connection for each request."""
        self.route = ""
        """Proxy that the handle is set to go through; empty: none."""
        self.has_login = False
        """Whether the handle has a client certificate or trusted certificates of one origin."""
        self._kept = kept
        self._now = now
        self._settings = settings
        self._guard = guard
        self._loop = loop
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_open_socket)
        self.curl.setopt(pycurl.PREREQFUNCTION, self._before_request)

    def begin(
        self,
        url: str,
        *,
        request: bytes,
        stop_at_headers: HeadersCheck | None,
        max_bytes: int,
        chop: int | None,
        target_address: str = "",
    ) -> None:
        """`target_address`: of a request through a proxy, what the proxy is told to connect to."""
        self._target_address = target_address
        self.url = url
        self.request = request
        self.started = self._now()
        self.future: asyncio.Future[Response | TransferFailure] = self._loop.create_future()
        self._stop_at_headers = stop_at_headers
        self._max_bytes = max_bytes
        self._chop = chop
        self._head: list[bytes] = []
        self._headers: list[tuple[str, str]] = []
        self._status = 0
        self._header_lines = 0
        self._header_bytes = 0
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._is_chopped = False
        self._cap = ""
        self._fault: BaseException | None = None
        self._refused = ""
        self._address = ""
        self.has_socket = False
        """A connection was opened for it."""
        self._is_sent = False
        self.is_unsent = False
        """The transfer ended before its request was sent, as something waited on the connection."""
        self.is_repeated = False
        """The connection broke when the request arrived, and libcurl was about to send it again."""

    def end(self) -> None:
        """Release what the request held; the handle can be reused."""
        del self.future, self._stop_at_headers, self._head, self._headers, self._body, self._fault

    def _before_request(self, address: str, local_address: str, port: int, local_port: int) -> int:
        """libcurl calls this whenever it is about to send the request: on a new connection, a kept one, or again."""
        try:
            if self._is_sent:
                self.is_repeated = True
            elif not self.has_socket and self._kept.has_input((address, port, local_address, local_port)):
                self.is_unsent = True
            self._is_sent = True
        except Exception as error:
            self._fault = error
        has_to_stop = self.is_repeated or self.is_unsent or self._fault is not None
        return int(pycurl.PREREQFUNC_ABORT if has_to_stop else pycurl.PREREQFUNC_OK)

    def _on_header(self, line: bytes) -> int | None:
        try:
            self._header_lines += 1
            self._header_bytes += len(line)
            settings = self._settings
            if self._header_lines > settings.max_header_lines or self._header_bytes > settings.max_header_bytes:
                self._cap = "too many headers"
                return _STOP
            if self._status:
                return None  # a trailer: counted but not kept
            if not self._is_sent:
                return None  # from the proxy, which opens a tunnel
            if line in (b"\r\n", b"\n"):
                return self._on_end_of_head()
            self._head.append(line)
        except Exception as error:
            self._fault = error
            return _STOP
        return None

    def _on_end_of_head(self) -> int | None:
        status = _parse_status(self._head)
        if status < 200:
            self._head.clear()  # the final answer is still to come
            return None
        self._status = status
        self._headers = _parse_headers(self._head[1:])
        if self._stop_at_headers is not None and self._stop_at_headers(status, self._headers):
            self._is_chopped = True
            return _STOP
        if self._chop is None:
            for name, value in self._headers:
                if name == "content-length" and value.isdecimal() and int(value[:20]) > self._max_bytes:
                    self._cap = "too large"
                    return _STOP
        return None

    def _on_body(self, data: bytes) -> int | None:
        size = self._body_bytes + len(data)
        if self._chop is not None and size > self._chop:
            self._body.append(data[: self._chop - self._body_bytes])
            self._is_chopped = True
            return _STOP
        if size > self._max_bytes:
            self._cap = "too large"
            return _STOP
        self._body_bytes = size
        self._body.append(data)
        return None

    def _on_open_socket(self, purpose: int, target: Any) -> Any:  # noqa: ARG002 libcurl passes both
        try:
            family, kind, protocol, endpoint = target
            self._address = endpoint[0]
            # Through a proxy: `Http` has asked the guard about the target, and this address somebody has named.
            reason = "" if self.route else self._guard.refuses(endpoint[0])
            if reason:
                self._refused = reason
                return pycurl.SOCKET_BAD
            opened = socket.socket(family, kind, protocol)
        except Exception as error:
            if not (isinstance(error, OSError) and error.errno in (errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT)):
                self._fault = error
            return pycurl.SOCKET_BAD
        self.has_socket = True
        # pycurl gives libcurl a duplicate of the descriptor once this function has returned.
        self._loop.call_soon(opened.close)
        return opened

    def result(self, code: int, message: str) -> Response | TransferFailure:
        """The result of the request, once libcurl has finished it; raises if there was a fault."""
        if self._fault is not None:
            raise self._fault
        address = self._target_address if self.route else self.curl.getinfo(pycurl.PRIMARY_IP) or self._address
        if self.is_repeated or self.is_unsent:
            return failure("reset", "the connection broke when the request arrived", is_transient=True, address=address)
        if self._cap:
            return failure(self._cap, self._cap_detail(), address=address)
        if self._is_chopped or (code == 0 and self._status):
            return self._response(address)
        if self.route and not self._status and (trouble := proxy_trouble(self.curl, code, message)) is not None:
            return failure(trouble[0], trouble[1], is_transient=trouble[2], address=address)
        if self._refused and not self.has_socket:
            return failure(ADDRESS_REFUSED, f"{self._refused}: {address}", address=address)
        if code == _TIMED_OUT:
            # Before the head there was no answer; after it, the body arrived too slowly.
            reason = "too slow" if self._status else "timeout"
            return failure(reason, message, is_transient=True, address=address)
        if code == 0:  # libcurl takes an incomplete head for an answer without a body
            return failure("reset", "the answer ended within its head", is_transient=True, address=address)
        if code in _FAULTS:
            raise RuntimeError(f"libcurl error {code} for {self.url}: {message}")
        reason, is_transient = _REASONS.get(code, "protocol"), code in _TRANSIENT
        if "Too large response headers" in message:
            reason, is_transient = "too many headers", False
        return failure(reason, message or f"libcurl error {code}", is_transient=is_transient, address=address)

    def _response(self, address: str) -> Response:
        return Response(
            url=self.url,
            status=self._status,
            headers=self._headers,
            body=b"".join(self._body),
            head=b"".join(self._head),
            request=self._sent(),
            address=address,
            started=self.started,
            ended=self._now(),
            is_chopped=self._is_chopped,
        )

    def _sent(self) -> bytes:
        """The request in HTTP/1 notation, like the head; HTTP/2 has no lines on the wire."""
        if self._head[0].startswith(b"HTTP/2"):
            return self.request.replace(b" HTTP/1.1\r\n", b" HTTP/2\r\n", 1)
        return self.request

    def _cap_detail(self) -> str:
        if self._cap == "too large":
            return f"over {self._max_bytes} bytes"
        return f"{self._header_lines} lines, {self._header_bytes} bytes"


def _parse_status(head: Sequence[bytes]) -> int:
    """The status code; 0 if there is none, which libcurl should not let through."""
    code = head[0].split(None, 2)[1:2] if head else []
    return int(code[0][:3]) if code and code[0][:3].isdigit() else 0


def _parse_headers(lines: Sequence[bytes]) -> list[tuple[str, str]]:
    headers: list[tuple[str, str]] = []
    for line in lines:
        text = line.decode("latin-1")
        if text[0] in " \t" and headers:
            name, value = headers[-1]
            headers[-1] = (name, f"{value} {text.strip()}")
            continue
        name, separator, value = text.partition(":")
        if separator:
            headers.append((name.strip().lower(), value.strip()))
    return headers
