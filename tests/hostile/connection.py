"""One client's connection to the server of a generated web: as much of HTTP/1.1 as a crawler needs.

GET and HEAD, keep-alive, pipelining. Plain responses are written at once; a fault runs in a task and owns the
connection until it is done.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Coroutine
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from hostile.faults import FAULTS, index
from lycosa.lab.generated.web import HTML, TEXT, Rendered

if TYPE_CHECKING:
    from hostile.server import WorldServer

LARGEST_HEAD = 1 << 16
LARGEST_BACKLOG = 1 << 20
"""Maximum bytes of waiting pipelined requests; a client that sends more is disconnected."""


class Request(NamedTuple):
    """A request that has been answered, or whose client has disconnected."""

    arrived: float
    """Seconds, by a clock that nobody sets, when its head was complete."""
    ended: float
    """Likewise, just before the last bytes of the response were passed to the kernel: the client cannot have had them
    earlier, however busy the machine is. If nothing was sent, when the request arrived."""
    address: str
    host: str
    path: str
    """Including the query."""
    status: int
    """0: no response was sent."""


class Encoded(NamedTuple):
    """A response as bytes."""

    status: int
    head: bytes
    body: bytes


def _head(status: int, headers: tuple[tuple[str, str], ...]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", "Server: lycosa-world", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def encode(rendered: Rendered) -> Encoded:
    headers = (*rendered.headers, ("Content-Length", str(len(rendered.body))))
    return Encoded(rendered.status, _head(rendered.status, headers), rendered.body)


class Connection(asyncio.Protocol):
    """One client connection. Answers requests one after the other, even if they arrive together."""

    _transport: asyncio.Transport

    def __init__(self, server: WorldServer, address: str) -> None:
        self._server = server
        self._address = address
        self._waiting = bytearray()
        self._is_busy = False
        self._is_blocked = False
        self._unblocked: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._arrived = self._ended = 0.0
        self._host = self._target = ""
        self._status = 0
        self._keeps_alive = True
        self._is_head = False
        self.arguments: tuple[str, ...] = ()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        # with a limit of 0, `send` returns when all bytes have been passed to the kernel
        transport.set_write_buffer_limits(high=0)
        self._server.join(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.leave(self)
        if self._task:
            self._task.cancel()
        if self._is_busy:
            self._note()

    def pause_writing(self) -> None:
        self._is_blocked = True

    def resume_writing(self) -> None:
        self._is_blocked = False
        if self._unblocked and not self._unblocked.done():
            self._unblocked.set_result(None)

    def abort(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        if self._is_busy and len(self._waiting) > LARGEST_BACKLOG:
            self._transport.abort()
        self._work()

    def _work(self) -> None:
        while not self._is_busy and not self._transport.is_closing():
            end = self._waiting.find(b"\r\n\r\n")
            if end > LARGEST_HEAD or (end < 0 and len(self._waiting) > LARGEST_HEAD):
                self._begin("", "")
                self._refuse(431)
                return
            if end < 0:
                return
            head = self._waiting[:end].decode("latin-1")
            del self._waiting[: end + 4]
            self._handle(head)

    def _begin(self, host: str, target: str) -> None:
        self._is_busy = True
        self._arrived = self._ended = time.monotonic()
        self._host, self._target, self._status = host, target, 0
        self._is_head = False

    def _handle(self, head: str) -> None:
        first, *lines = head.split("\r\n")
        words = first.split(" ")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
        self._begin(host.lower(), words[1] if len(words) == 3 else "")
        if len(words) != 3 or not words[1].startswith("/") or "host" not in headers:
            return self._refuse(400)
        if words[0] not in ("GET", "HEAD") or "content-length" in headers or "transfer-encoding" in headers:
            return self._refuse(405)
        self._is_head = words[0] == "HEAD"
        connection = headers.get("connection", "").lower()
        self._keeps_alive = connection != "close" if words[2] == "HTTP/1.1" else connection == "keep-alive"
        fault = self._server.fault_for(self._host, self._target)
        if fault is not None:
            self._start(self._misbehave(fault))
            return None
        return self._respond(self._server.answer(self._host, self._target))

    def _refuse(self, status: int) -> None:
        self._keeps_alive = False
        self._respond(encode(Rendered(status, TEXT, f"{HTTPStatus(status).phrase}\n".encode())))

    def _respond(self, answer: Encoded) -> None:
        self._status = answer.status
        self._ended = time.monotonic()
        self._transport.write(answer.head if self._is_head else answer.head + answer.body)
        if self._is_blocked:
            self._start(self._finish_later())
        else:
            self._finish()

    def _start(self, work: Coroutine[object, object, None]) -> None:
        self._task = asyncio.get_running_loop().create_task(work)

    async def _finish_later(self) -> None:
        await self._drain()
        self._finish()
        self._work()

    def _finish(self) -> None:
        self._note()
        if not self._keeps_alive:
            self._transport.close()

    def _note(self) -> None:
        self._is_busy = False
        self._server.note(Request(self._arrived, self._ended, self._address, self._host, self._target, self._status))

    async def _drain(self) -> None:
        if self._is_blocked:
            self._unblocked = asyncio.get_running_loop().create_future()
            await self._unblocked

    # ── as the Exchange of a fault ────────────────────────────────────────────────────────────────────────

    async def _misbehave(self, fault: str) -> None:
        name, *arguments = fault.split("/")
        self.arguments = tuple(argument for argument in arguments if argument)
        try:
            if not name:
                rendered: Rendered | None = index()
            elif name not in FAULTS:
                rendered = Rendered(404, TEXT, b"no such fault\n")
            else:
                rendered = await FAULTS[name](self)
        except ConnectionError:
            return
        except (ValueError, OverflowError) as error:  # an argument that is not a number
            rendered = Rendered(400, TEXT, f"{fault}: {error}\n".encode())
        if self._transport.is_closing():
            return
        if rendered is None:
            self._keeps_alive = False
            self._finish()
        else:
            self._respond(encode(rendered))
            self._work()

    def page(self) -> Rendered:
        rendered = self._server.rendered(self._host, self._target)
        if rendered.status == 404:
            return Rendered(200, HTML, b'<!DOCTYPE html><title>A page</title><p><a href="/fault/">Faults</a></p>\n')
        return rendered

    def count(self) -> int:
        return self._server.count(self._host, self._target)

    async def send_head(self, status: int, *headers: tuple[str, str]) -> None:
        self._status = status
        await self.send(_head(status, headers))

    async def send(self, data: bytes) -> None:
        if self._transport.is_closing():
            raise ConnectionResetError("the client has disconnected")
        self._ended = time.monotonic()
        self._transport.write(data)
        await self._drain()

    def reset(self) -> None:
        linger = struct.pack("ii", 1, 0)
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._transport.abort()
