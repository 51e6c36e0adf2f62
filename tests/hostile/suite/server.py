"""Serves behaviours, each under a host and an address of its own, and logs what it is asked for.

Addresses are 127.1.0.1, 127.1.0.2, …; a second server, the victim, is at 127.0.0.1 and ::1, where no crawler should
go because of what a page says.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from hostile.server import _listen as listen
from hostile.suite.behaviour import (
    ALLOW,
    MISSING,
    VICTIM,
    Answer,
    Ask,
    Behaviour,
    Logged,
    Raw,
    Served,
    Stream,
    response,
)

HEAD_SECONDS = 60.0
LARGEST_HEAD = 1 << 20


class SuiteServer:
    """Made by `serving`."""

    def __init__(self, behaviours: Iterable[Behaviour]) -> None:
        self.behaviours = {behaviour.name: behaviour for behaviour in behaviours}
        self._by_host = {host: each for each in self.behaviours.values() for host in each.hosts}
        self.addresses = {
            name: f"127.1.{number // 250}.{number % 250 + 1}" for number, name in enumerate(self.behaviours)
        }
        self.resolve = {host: self.addresses[each.name] for host, each in self._by_host.items()} | {VICTIM: "127.0.0.1"}
        self.port = self.victim_port = 0
        self.log: dict[str, list[Logged]] = defaultdict(list)
        """Requests by behaviour."""
        self.victim: list[str] = []
        self._at_work: set[asyncio.Task[object]] = set()
        self._counts: Counter[tuple[str, str]] = Counter()

    def seeds(self) -> list[str]:
        return [f"http://{each.host}:{self.port}{seed}" for each in self.behaviours.values() for seed in each.seeds]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        task = asyncio.current_task()
        assert task is not None
        self._at_work.add(task)
        try:
            while request := await _request(reader):
                if not await self._exchange(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass
        finally:
            self._at_work.discard(task)
            with suppress(ConnectionError):
                writer.close()

    async def settle(self) -> None:
        """When the crawler has ended: whatever it is still told ends, and is in the log."""
        for task in self._at_work:
            task.cancel()
        await asyncio.gather(*self._at_work, return_exceptions=True)

    async def _exchange(
        self,
        request: tuple[str, list[tuple[str, str]]],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        target, headers = request
        arrived = time.monotonic()
        authority = next((value for name, value in headers if name == "host"), "")
        host = authority.rpartition(":")[0].lower() or authority.lower()
        behaviour = self._by_host.get(host.rstrip("."))
        sent, ended, keeps_alive = 0, arrived, False
        try:
            answer = self._answer(behaviour, host, target)
            if isinstance(answer, Raw):
                ended = time.monotonic()
                sent, keeps_alive = len(answer.data), answer.keeps_alive
                writer.write(answer.data)
                await writer.drain()
            else:
                async for piece in _while_there(answer, reader):
                    ended = time.monotonic()
                    writer.write(piece)
                    await writer.drain()
                    sent += len(piece)
        finally:
            if behaviour is not None:
                address = writer.get_extra_info("sockname")[0]
                left = time.monotonic()
                self.log[behaviour.name].append(
                    Logged(arrived, ended, left, host, address, target, tuple(headers), sent)
                )
        return keeps_alive

    def _answer(self, behaviour: Behaviour | None, host: str, target: str) -> Answer:
        if behaviour is None:
            return response("<p>misdirected</p>", status="421 Misdirected Request")
        number = self._counts[host, target]
        self._counts[host, target] += 1
        ask = Ask(host, target, self.port, self.victim_port, number)
        served: Served | None
        if ask.path == "/robots.txt":
            served = ALLOW if behaviour.robots is None else behaviour.robots
        else:
            served = behaviour.pages.get(ask.path, behaviour.pages.get("*", MISSING))
        if isinstance(served, str):
            return response(ask.fill(served))
        return served if isinstance(served, Raw) else served(ask)

    async def handle_victim(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            if request := await _request(reader):
                self.victim.append(request[0])
                writer.write(response("<p>the secret of the victim</p>", keeps_alive=False).data)
                await writer.drain()
        with suppress(ConnectionError):
            writer.close()


async def _while_there(answer: Stream, reader: asyncio.StreamReader) -> Stream:
    """The pieces of an answer, until the client goes away."""
    gone = asyncio.ensure_future(reader.read(1))
    try:
        while True:
            piece = asyncio.ensure_future(anext(answer, b""))
            await asyncio.wait((piece, gone), return_when=asyncio.FIRST_COMPLETED)
            if not piece.done():
                piece.cancel()
                return
            if not piece.result():
                return
            yield piece.result()
    finally:
        gone.cancel()


async def _request(reader: asyncio.StreamReader) -> tuple[str, list[tuple[str, str]]] | None:
    """Target and headers of the next request; None if there is none."""
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3:
        return None
    pairs = (line.partition(":") for line in lines if line)
    return words[1], [(name.strip().lower(), value.strip()) for name, _, value in pairs]


@asynccontextmanager
async def serving(behaviours: Iterable[Behaviour]) -> AsyncIterator[SuiteServer]:
    server = SuiteServer(behaviours)
    sockets = listen(tuple(server.addresses.values()), 0)
    server.port = sockets[0].getsockname()[1]
    victims = listen(("127.0.0.1",), 0)
    server.victim_port = victims[0].getsockname()[1]
    with suppress(OSError):  # a machine may be without IPv6
        sixth = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        sixth.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sixth.bind(("::1", server.victim_port))
        victims.append(sixth)
    async with AsyncExitStack() as stack:
        for listener in sockets:
            stack.push_async_callback(
                _close, await asyncio.start_server(server.handle, sock=listener, limit=LARGEST_HEAD)
            )
        for listener in victims:
            stack.push_async_callback(_close, await asyncio.start_server(server.handle_victim, sock=listener))
        yield server


async def _close(server: asyncio.Server) -> None:
    """Let nobody in; connections under way end with the event loop."""
    server.close()
