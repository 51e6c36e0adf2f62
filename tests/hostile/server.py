"""A generated web over HTTP/1.1 on loopback, with a log of its own and faults on request.

    with running(web, faults=True) as server:          # in a thread, for tests
        server.url(0), server.overrides()              # http://harbour-news.test:43121/, {host: address}
        server.requests()                              # what came, when, and what was answered

    async with serve(web) as server: ...               # in the running event loop
    python -m hostile.server --pages 2000              # as a process, in tests/: prints a line of JSON when ready

Hosts are spread over several addresses (127.0.0.1, 127.0.0.2, …) at one port; the Host header decides whose page
is meant. The log tells from outside whether a crawler was polite.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TextIO

from hostile.connection import Connection, Encoded, Request, encode
from hostile.faults import FaultTable
from lycosa.errors import InputError, LycosaError
from lycosa.lab.generated.web import HTML, TEXT, GeneratedWeb, Rendered, WebPlan

PORT_TRIES = 100
BACKLOG = 1024


class WorldServer:
    """A running server: made by `serve` and `running`."""

    def __init__(
        self,
        *,
        web: GeneratedWeb,
        addresses: tuple[str, ...],
        port: int,
        faults: FaultTable | None,
        log: TextIO | None,
        cache_bytes: int,
    ) -> None:
        self.web = web
        self.addresses = addresses
        self.port = port
        self._faults = faults
        self._log = log
        self._requests: list[Request] = []
        self._counts: Counter[tuple[str, str]] = Counter()
        self._cache: dict[tuple[str, str], Encoded] = {}
        self._cache_room = cache_bytes
        self._connections: set[Connection] = set()
        self._has_none = asyncio.Event()
        self._listeners: list[socket.socket] = []
        self._entering: set[asyncio.Task[tuple[asyncio.Transport, Connection]]] = set()

    def url(self, page: int) -> str:
        return self.web.url(page, port=self.port)

    def overrides(self) -> dict[str, str]:
        """The address of every host: what name resolution would say."""
        hosts = dict.fromkeys([*self.web.hosts, *(self._faults.hosts if self._faults else ())])
        return {host: self.addresses[number % len(self.addresses)] for number, host in enumerate(hosts)}

    def warm(self) -> None:
        """Write all pages now, as far as the cache has room: for measuring crawlers rather than this server."""
        for page in range(len(self.web)):
            host, slash, target = self.web.url(page).removeprefix("http://").partition("/")
            self.answer(host, slash + target)

    def requests(self) -> list[Request]:
        """All requests so far, in the order in which their answers ended."""
        return list(self._requests)

    # ── for its connections ───────────────────────────────────────────────────────────────────────────────

    def fault_for(self, host: str, target: str) -> str | None:
        return self._faults.find(host, target.partition("?")[0]) if self._faults else None

    def answer(self, host: str, target: str) -> Encoded:
        """The answer without faults, kept as long as there is room."""
        kept = self._cache.get((host, target))
        if kept is not None:
            return kept
        encoded = encode(self.rendered(host, target))
        self._cache_room -= len(encoded.head) + len(encoded.body)
        self._cache[host, target] = encoded
        while self._cache_room < 0:
            oldest = self._cache.pop(next(iter(self._cache)))
            self._cache_room += len(oldest.head) + len(oldest.body)
        return encoded

    def rendered(self, host: str, target: str) -> Rendered:
        rendered = self.web.answer(host, target, port=self.port)
        if rendered.status == 421 and self._faults and host in self._faults.hosts:
            if target == "/robots.txt":
                return Rendered(200, TEXT, b"User-agent: *\nAllow: /\n")
            return Rendered(200, HTML, f"<!DOCTYPE html><title>{host}</title><p>A page.</p>\n".encode())
        return rendered

    def count(self, host: str, target: str) -> int:
        self._counts[host, target] += 1
        return self._counts[host, target] - 1

    def note(self, request: Request) -> None:
        self._requests.append(request)
        if self._log:
            self._log.write(json.dumps(request._asdict()) + "\n")
            self._log.flush()

    def join(self, connection: Connection) -> None:
        self._connections.add(connection)

    def leave(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if not self._connections:
            self._has_none.set()

    # ── its life ──────────────────────────────────────────────────────────────────────────────────────────

    def listen(self, listeners: list[socket.socket]) -> None:
        """Let clients in at the sockets, one for each address, from now on."""
        # not loop.create_server: closing that loses clients it has accepted but not yet connected
        self._listeners = listeners
        for address, listener in zip(self.addresses, listeners, strict=True):
            listener.setblocking(False)
            asyncio.get_running_loop().add_reader(listener, self._accept, address, listener)

    def _accept(self, address: str, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(BACKLOG):
            try:
                client, _peer = listener.accept()
            except OSError:  # nobody there, or gone again
                return
            client.setblocking(False)
            entering = loop.create_task(loop.connect_accepted_socket(partial(Connection, self, address), client))
            self._entering.add(entering)
            entering.add_done_callback(self._entering.discard)

    async def close(self) -> None:
        """Let nobody in any more and break all connections, and with them the faults at work."""
        for listener in self._listeners:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()
        await asyncio.gather(*self._entering, return_exceptions=True)
        self._has_none.clear()
        for connection in self._connections:
            connection.abort()
        if self._connections:
            await self._has_none.wait()


# ── ways to run it ────────────────────────────────────────────────────────────────────────────────────────


def _listen(addresses: tuple[str, ...], port: int) -> list[socket.socket]:
    """Sockets at one port of all addresses; with port 0, at one that is free on all of them."""
    for _ in range(PORT_TRIES):
        sockets: list[socket.socket] = []
        chosen = port
        try:
            for address in addresses:
                listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                sockets.append(listener)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((address, chosen))
                listener.listen(BACKLOG)  # binding alone does not keep others from the port
                chosen = listener.getsockname()[1]
        except OSError as error:
            for listener in sockets:
                listener.close()
            if port:
                raise InputError(f"cannot listen on {address}:{port}: {error.strerror}") from error
            continue
        return sockets
    raise InputError(f"found no port that is free on all of {', '.join(addresses)}")


@asynccontextmanager
async def serve(
    web: GeneratedWeb,
    *,
    addresses: int = 4,
    port: int = 0,
    faults: bool | Mapping[str, str] = False,
    log: Path | None = None,
    cache_bytes: int = 64 << 20,
) -> AsyncIterator[WorldServer]:
    """Serve in the running event loop.

    `addresses`: how many of 127.0.0.1, 127.0.0.2, … to use. `faults`: True answers /fault/…; a mapping does so
    too and lays faults over hosts and paths (`FaultTable`). `log`: a file to which each request is appended
    as a line of JSON. `cache_bytes`: room for answers kept in memory.
    """
    table = FaultTable(faults if isinstance(faults, Mapping) else {}) if faults is not False else None
    names = tuple(f"127.0.0.{number + 1}" for number in range(addresses))
    with ExitStack() as stack:
        file = stack.enter_context(log.open("a", encoding="utf-8")) if log else None
        sockets = _listen(names, port)
        server = WorldServer(
            web=web,
            addresses=names,
            port=sockets[0].getsockname()[1],
            faults=table,
            log=file,
            cache_bytes=cache_bytes,
        )
        server.listen(sockets)
        try:
            yield server
        finally:
            await server.close()


@contextmanager
def running(
    web: GeneratedWeb,
    *,
    addresses: int = 4,
    port: int = 0,
    faults: bool | Mapping[str, str] = False,
    log: Path | None = None,
) -> Iterator[WorldServer]:
    """Serve from a thread with an event loop of its own, as long as the block lasts."""
    started = threading.Event()
    box: list[WorldServer] = []
    failure: list[BaseException] = []
    stop: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def main() -> None:
        async with serve(web, addresses=addresses, port=port, faults=faults, log=log) as server:
            stop.append((asyncio.get_running_loop(), asyncio.Event()))
            box.append(server)
            started.set()
            await stop[0][1].wait()

    def work() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:  # raised again in the thread that waits
            failure.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=work, name="world-server", daemon=True)
    thread.start()
    started.wait()
    try:
        if box:
            yield box[0]
    finally:
        if stop:
            loop, event = stop[0]
            with suppress(RuntimeError):  # the loop has ended by itself
                loop.call_soon_threadsafe(event.set)
        thread.join()
    if failure:
        raise failure[0]


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="hostile.server", description="Serves a generated web.")
    plan = parser.add_argument_group("the web (see lycosa.lab.generated.plan)")
    for field in fields(WebPlan):
        kind = type(field.default)
        plan.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default, metavar="N")
    parser.add_argument("--addresses", type=int, default=4, help="how many of 127.0.0.1, 127.0.0.2, …")
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--faults", action="store_true", help="answer /fault/…")
    parser.add_argument("--fault", action="append", default=[], metavar="PLACE=FAULT", help="lay a fault over a host")
    parser.add_argument("--log", type=Path, help="append each request to this file as JSON")
    parser.add_argument("--cache-megabytes", type=int, default=64, metavar="N", help="room for written pages")
    parser.add_argument("--warm", action="store_true", help="write all pages before saying ready")
    parser.add_argument("--ready-file", type=Path, help="write the line of JSON here too")
    return parser.parse_args(words)


async def _run(arguments: argparse.Namespace) -> None:
    web = GeneratedWeb(WebPlan(**{field.name: getattr(arguments, field.name) for field in fields(WebPlan)}))
    laid_over = dict(pair.rpartition("=")[::2] for pair in arguments.fault)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serve(
        web,
        addresses=arguments.addresses,
        port=arguments.port,
        faults=laid_over or arguments.faults,
        log=arguments.log,
        cache_bytes=arguments.cache_megabytes << 20,
    ) as server:
        if arguments.warm:
            server.warm()
        line = json.dumps({"port": server.port, "pid": os.getpid(), "overrides": server.overrides()})
        if arguments.ready_file:
            _write_whole(arguments.ready_file, line + "\n")
        print(line, flush=True)
        await stop.wait()


def _write_whole(path: Path, text: str) -> None:
    """So that whoever waits for the file never sees half of it."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def main(words: list[str] | None = None) -> int:
    try:
        asyncio.run(_run(_arguments(words)))
    except LycosaError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
