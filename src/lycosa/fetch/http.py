"""Thousands of GET requests at once: libcurl's multi interface driven by asyncio.

libcurl reports which sockets it waits for and when it wants to be woken (`_on_socket`, `_on_timer`); the event loop
does the waiting and tells libcurl what became ready (`_act`). A request is a future that is resolved when libcurl
reports its handle as finished. Nothing polls.

The answer of the web is a value: a `Response`, or a `TransferFailure` with a reason that can be counted. The body keeps
its content encoding (`fetch.decode` removes it), and redirects are not followed. Proxies, log-ins and cookies are used
as `fetch.access` says; what is archived of a request leaves secrets out. Limits on time, rate, bytes and headers are
enforced here; the guard checks each address when its socket is about to be opened, or before a proxy is told of it. A
connection that is reused was checked when it was opened.

One call of `get` sends one request. libcurl would send it again by itself if a kept connection breaks just then
(`Transfer._before_request` forbids it), and it would take bytes that a server sent before it was asked for the answer:
a connection on which something waits is not used again.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pycurl

from lycosa.errors import ConfigError
from lycosa.fetch.access import NOTHING, Access, AccessSettings, without_secrets
from lycosa.fetch.dns import Resolver
from lycosa.fetch.guard import MALFORMED, Guard
from lycosa.fetch.kept_connections import KeptConnections
from lycosa.fetch.proxy import PROXY_FAILED, PROXY_REFUSED, Proxy, is_local_name
from lycosa.fetch.request import HttpCall, Origin, parse_origin, resolve_entry, set_login, set_route
from lycosa.fetch.transfer import ADDRESS_REFUSED, HeadersCheck, HttpSettings, Transfer, TransferFailure, failure
from lycosa.model import Response

_PROXY_LOGIN = 407
_MAX_IDLE_HANDLES = 1000
_MAX_ORIGINS = 20_000
_MAX_UNRELIABLE = 10_000
"""Number of origins that are remembered for breaking kept connections."""

_CA_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # macOS, BSD
)


def default_ca_file() -> str:
    """The system's trusted certificates: pycurl's wheels include none, and only look in one system's location."""
    found = ssl.get_default_verify_paths().cafile  # respects SSL_CERT_FILE; None if the file does not exist
    return found or next((path for path in _CA_FILES if Path(path).is_file()), "")


class Http:
    """Fetches URLs. Bound to one event loop; must be closed with `close`."""

    def __init__(
        self,
        *,
        settings: HttpSettings,
        guard: Guard,
        resolver: Resolver,
        now: Callable[[], float] = time.time,
        access: Access | None = None,
    ) -> None:
        """`now`: the time of the crawl, for `started` and `ended` of responses."""
        self._settings = settings
        self._access = access or Access(AccessSettings())
        self._now = now
        self._guard = guard
        self._resolver = resolver
        self._ca_file = _checked_ca_file(settings.ca_file)
        self._request_headers = [*_request_headers(settings), *self._access.headers]
        self._request_tail = "".join(f"{line}\r\n" for line in self._request_headers)
        self._multi: Any = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, settings.max_idle_connections)
        # No multiplexing: hosts get one request at a time anyway, and a transfer that is cut off then takes no other
        # down with it.
        self._multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_NOTHING)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._origins: dict[str, Origin] = {}
        self._idle: list[Transfer] = []
        self._active: dict[Any, Transfer] = {}
        self._watched: dict[int, int] = {}
        self._kept = KeptConnections(most=settings.max_idle_connections)
        self._unreliable: set[str] = set()
        """Origins that broke a kept connection when a request arrived: each further request gets a new one."""
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._is_kick_due = False
        self._is_closed = False
        self._driver_fault: BaseException | None = None

    async def get(
        self,
        url: str,
        *,
        stop_at_headers: HeadersCheck | None = None,
        max_bytes: int | None = None,
        chop: int | None = None,
        headers: Sequence[str] = (),
        address: str = "",
    ) -> Response | TransferFailure:
        """Fetch this one URL: a redirect is an answer like any other. `headers`: lines to be sent besides the usual.
        `address`: of several that the name has, the one to try first.

        The transfer ends before the body if `stop_at_headers` returns a non-empty string, and after `chop` bytes of the
        body. In both cases `is_chopped` is set in the response. `max_bytes` overrides the setting.
        """
        if self._is_closed:
            raise RuntimeError("Http.get after close")
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        begun = self._loop.time()
        split = self._split(url)
        if isinstance(split, TransferFailure):
            return split
        origin, target = split
        resolution = self._resolver.known(origin.host) or await self._resolver.resolve(origin.host, origin.port)
        if not resolution.addresses:
            return failure("dns", resolution.failure, is_transient=resolution.is_transient)
        if self._loop.time() - begun >= self._settings.deadline:
            return failure("timeout", "name resolution used up the time", is_transient=True)

        addresses = resolution.addresses
        if address in addresses:
            addresses = (address, *(other for other in addresses if other != address))
        proxy = self._access.proxies.of(origin.scheme, origin.host)
        if proxy is not None:
            addresses = self._told_to(proxy, origin, addresses)
            if not addresses:
                why = self._guard.refuses(resolution.addresses[0])
                refused = f"{'local name' if why == MALFORMED else why}: {resolution.addresses[0]}"
                return failure(ADDRESS_REFUSED, refused, address=resolution.addresses[0])
        headers = (*headers, *self._access.signature(origin.authority, now=self._now()))
        more = "".join(f"{line}\r\n" for line in headers)
        call = HttpCall(
            url,
            origin,
            target,
            addresses,
            headers,
            self._access.for_request(origin.prefix, origin.host, origin.prefix + target),
            proxy,
            f"GET {target} HTTP/1.1\r\nHost: {origin.authority}\r\n{self._request_tail}{more}".encode(),
        )
        limits = (stop_at_headers, self._settings.max_bytes if max_bytes is None else max_bytes, chop)
        return self._told(call, await self._send(call, begun + self._settings.deadline, *limits))

    async def _send(
        self, call: HttpCall, until: float, stop_at_headers: HeadersCheck | None, max_bytes: int, chop: int | None
    ) -> Response | TransferFailure:
        """`until`: when it has to be over, by the loop's clock."""
        assert self._loop is not None
        is_fresh = call.origin.prefix in self._unreliable
        while True:
            transfer = self._idle.pop() if self._idle else self._new_transfer()
            transfer.begin(
                call.url,
                request=call.request,
                stop_at_headers=stop_at_headers,
                max_bytes=max_bytes,
                chop=chop,
                target_address=call.addresses[0] if call.proxy and not call.proxy.resolves else "",
            )
            try:
                self._prepare(transfer, call, is_fresh=is_fresh)
                left = max(0.001, until - self._loop.time())
                transfer.curl.setopt(pycurl.TIMEOUT_MS, max(1, int(left * 1000)))
                self._multi.add_handle(transfer.curl)
                self._active[transfer.curl] = transfer
                result = await transfer.future
                if transfer.is_repeated:
                    self._distrust(call.origin)
                if not transfer.is_unsent or is_fresh:
                    return result
            finally:
                self._release(transfer)
            # Nothing was sent: something waited on the kept connection, which libcurl has closed.
            is_fresh = True

    def _told_to(self, proxy: Proxy, origin: Origin, addresses: Sequence[str]) -> tuple[str, ...]:
        """What a proxy may be told to connect to, of these addresses; a name, where the look-up is left to it."""
        if proxy.resolves and self._guard.refuses(origin.host.strip("[]")) == MALFORMED:  # a name
            return () if is_local_name(origin.host) else (origin.host,)
        return tuple(address for address in addresses if not self._guard.refuses(address))

    def _told(self, call: HttpCall, result: Response | TransferFailure) -> Response | TransferFailure:
        """The result as it may be kept, once it is noted what it says about proxy and log-in."""
        proxies = self._access.proxies
        if isinstance(result, TransferFailure):
            if result.reason == PROXY_FAILED:
                proxies.note_failure(result.detail, is_hopeless=not result.is_transient)
            elif result.reason == PROXY_REFUSED:
                proxies.note_success()
            return result
        if call.proxy is not None:
            if result.status == _PROXY_LOGIN:
                proxies.note_failure("it asks for a log-in (407)", is_hopeless=True)
            proxies.note_success()
        if call.secrets is NOTHING:
            return result
        self._access.note_answer(call.origin.prefix, result.status)
        return without_secrets(result)

    def _prepare(self, transfer: Transfer, call: HttpCall, *, is_fresh: bool) -> None:
        """Set what differs from the handle's last request. `is_fresh`: on a connection of its own."""
        curl, origin = transfer.curl, call.origin
        curl.setopt(pycurl.URL, origin.prefix + call.target)
        if call.proxy is None:
            curl.setopt(pycurl.RESOLVE, [resolve_entry(origin, call.addresses)])
        lines = (*call.headers, *call.secrets.lines)
        if lines or transfer.has_own_headers:
            curl.setopt(pycurl.HTTPHEADER, [*self._request_headers, *lines])
            transfer.has_own_headers = bool(lines)
        if is_fresh or transfer.is_fresh:
            curl.setopt(pycurl.FRESH_CONNECT, int(is_fresh))
            curl.setopt(pycurl.FORBID_REUSE, int(is_fresh))
            transfer.is_fresh = is_fresh
        if call.proxy is not None or transfer.route:
            set_route(transfer, call)
        if call.secrets.login is not None:
            set_login(transfer, call.secrets.login)

    def _distrust(self, origin: Origin) -> None:
        if len(self._unreliable) >= _MAX_UNRELIABLE:
            self._unreliable.clear()
        self._unreliable.add(origin.prefix)

    async def close(self) -> None:
        """Cancel all transfers and close all connections."""
        self._is_closed = True
        for transfer in list(self._active.values()):
            transfer.future.cancel()
            self._detach(transfer)
        if self._timer is not None:
            self._timer.cancel()
        self._multi.close()
        for fd in list(self._watched):
            self._on_socket(pycurl.POLL_REMOVE, fd)
        for transfer in self._idle:
            transfer.curl.close()
        self._idle.clear()

    def _split(self, url: str) -> tuple[Origin, str] | TransferFailure:
        """The origin of a URL, and the rest as it appears in the request line."""
        scheme, separator, rest = url.partition("://")
        if not separator or scheme.lower() not in ("http", "https"):
            return failure("scheme", f"{scheme!r} is not http or https" if separator else "no scheme")
        if not url.isascii() or not url.isprintable() or " " in url:
            return failure("bad url", "has characters that must be percent-encoded")
        end = min((at for at in map(rest.find, "/?#\\") if at >= 0), default=len(rest))
        front = url[: len(scheme) + 3 + end]
        origin = self._origins.get(front)
        if origin is None:
            parsed = parse_origin(front)
            if parsed is None:
                return failure("bad url", "no valid host or port")
            if len(self._origins) >= _MAX_ORIGINS:
                self._origins.clear()
            origin = self._origins[front] = parsed
        if not self._ca_file and origin.prefix.startswith("https:"):
            return failure("tls", "no trusted certificates found on this system; set http.ca_file")
        target = rest[end:].partition("#")[0]
        return origin, target if target.startswith("/") else "/" + target

    def _new_transfer(self) -> Transfer:
        assert self._loop is not None
        settings = self._settings
        transfer = Transfer(settings=settings, guard=self._guard, kept=self._kept, loop=self._loop, now=self._now)
        for option, value in (
            (pycurl.NOSIGNAL, 1),
            (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS),
            (pycurl.HTTP09_ALLOWED, 0),
            (pycurl.HTTP_CONTENT_DECODING, 0),
            (pycurl.PATH_AS_IS, 1),
            (pycurl.PROXY, ""),
            (pycurl.NOPROXY, ""),  # `Proxies` decides; libcurl would ask the environment
            (pycurl.HEADEROPT, pycurl.HEADER_SEPARATE),  # our headers are for the host, not for a proxy
            (pycurl.NETRC, pycurl.NETRC_IGNORED),
            (pycurl.HTTPHEADER, self._request_headers),
            (pycurl.SSL_VERIFYPEER, 1),
            (pycurl.SSL_VERIFYHOST, 2),
            (pycurl.CONNECTTIMEOUT_MS, max(1, int(settings.connect_timeout * 1000))),
            (pycurl.LOW_SPEED_LIMIT, settings.min_rate),
            (pycurl.LOW_SPEED_TIME, settings.min_rate_seconds),
            # Each request supplies its own addresses, which only have to last until it has connected.
            (pycurl.DNS_CACHE_TIMEOUT, int(settings.deadline) + 60),
        ):
            transfer.curl.setopt(option, value)
        if self._ca_file:
            transfer.curl.setopt(pycurl.CAINFO, self._ca_file)
        return transfer

    def _release(self, transfer: Transfer) -> None:
        """Take back the handle, even of a transfer that was cancelled."""
        if transfer.curl in self._active:
            self._detach(transfer)
        transfer.end()
        if len(self._idle) < _MAX_IDLE_HANDLES and not self._is_closed and not transfer.has_login:
            self._idle.append(transfer)
        else:
            transfer.curl.close()

    def _detach(self, transfer: Transfer) -> None:
        del self._active[transfer.curl]
        self._multi.remove_handle(transfer.curl)

    # Callbacks in which libcurl gives orders to the event loop. They must not call libcurl.

    def _on_socket(self, what: int, fd: int, multi: object = None, data: object = None) -> None:  # noqa: ARG002 libcurl passes all
        try:
            loop = self._loop
            assert loop is not None
            before = self._watched.pop(fd, 0)
            after = 0 if what == pycurl.POLL_REMOVE else what
            if after:
                self._watched[fd] = after
            if after & ~before & pycurl.POLL_IN:
                loop.add_reader(fd, self._act, fd, pycurl.CSELECT_IN)
            elif before & ~after & pycurl.POLL_IN:
                loop.remove_reader(fd)
            if after & ~before & pycurl.POLL_OUT:
                loop.add_writer(fd, self._act, fd, pycurl.CSELECT_OUT)
            elif before & ~after & pycurl.POLL_OUT:
                loop.remove_writer(fd)
        except Exception as error:
            self._driver_fault = error

    def _on_timer(self, milliseconds: int) -> None:
        loop = self._loop
        assert loop is not None
        if milliseconds == 0:
            if not self._is_kick_due:
                self._is_kick_due = True
                loop.call_soon(self._kick)
        elif milliseconds > 0:
            self._due = loop.time() + milliseconds / 1000
            # libcurl moves its timer several times per request, mostly to a later time: the old timer is left to fire
            # and finds that it is early.
            if self._timer is None or self._timer.when() > self._due:
                self._arm()
        elif self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        assert self._loop is not None
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._due, self._ring)

    def _ring(self) -> None:
        assert self._loop is not None
        self._timer = None
        if self._loop.time() < self._due:
            self._arm()
        else:
            self._act(pycurl.SOCKET_TIMEOUT, 0)

    def _kick(self) -> None:
        self._is_kick_due = False
        self._act(pycurl.SOCKET_TIMEOUT, 0)

    # Callbacks in which the event loop notifies libcurl.

    def _act(self, fd: int, ready: int) -> None:
        if self._is_closed:
            return
        try:
            _, running = self._multi.socket_action(fd, ready)
            if running != len(self._active):
                self._collect()
        except pycurl.error as error:
            self._driver_fault = error
        if self._driver_fault is not None:
            fault, self._driver_fault = self._driver_fault, None
            for transfer in list(self._active.values()):
                self._detach(transfer)
                transfer.future.set_exception(fault)

    def _collect(self) -> None:
        """Resolve the futures of the transfers that libcurl has finished."""
        left = 1
        while left:
            left, good, bad = self._multi.info_read()
            for curl in good:
                self._settle(curl, 0, "")
            for curl, code, message in bad:
                self._settle(curl, code, message)

    def _settle(self, curl: Any, code: int, message: str) -> None:
        transfer = self._active[curl]
        if code == 0 and transfer.has_socket and not transfer.is_fresh:
            self._kept.note(curl)
        self._detach(transfer)
        if transfer.future.done():
            return  # cancelled, though its task has not run yet
        try:
            transfer.future.set_result(transfer.result(code, message))
        except Exception as error:
            transfer.future.set_exception(error)


def _request_headers(settings: HttpSettings) -> list[str]:
    lines = [
        f"User-Agent: {settings.user_agent}",
        f"Accept: {settings.accept}",
        f"Accept-Language: {settings.accept_language}",
        "Accept-Encoding: gzip, deflate, br, zstd",
    ]
    for line in lines:
        if not (line.isascii() and line.isprintable()) or line.endswith(": "):
            raise ConfigError(f"http: {line!r} cannot be sent; use plain ASCII text on one line, not empty")
    return lines


def _checked_ca_file(path: str) -> str:
    if path and not Path(path).is_file():
        raise ConfigError(f"http: ca_file {path!r} is not a file; name a PEM file of trusted certificates")
    return path or default_ca_file()
