"""What a server can do with a kept connection: one call sends one request, and no byte answers a request not sent."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lycosa.fetch.dns import Resolver
from lycosa.fetch.guard import Guard
from lycosa.fetch.http import Http
from lycosa.fetch.transfer import HttpSettings, TransferFailure
from lycosa.model import Response

Handle = Callable[["Connection", bytes], Awaitable[None]]


def ok(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


class Connection:
    """One connection to the server; `number` counts the requests on it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.number = 0


class Server:
    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self.requests: list[str] = []
        self.connections: list[Connection] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        self.connections.append(connection)
        try:
            while not writer.is_closing():
                request = await reader.readuntil(b"\r\n\r\n")
                self.requests.append(request.split()[1].decode())
                connection.number += 1
                await self._handle(connection, request)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def url(self, path: str) -> str:
        return f"http://site.test:{self.port}{path}"


@asynccontextmanager
async def fetching(server: Server, **settings: object) -> AsyncIterator[Http]:
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    resolver = Resolver(overrides={"*.test": "127.0.0.1"})
    http = Http(
        settings=HttpSettings(user_agent="Lycosa-test", **settings),  # type: ignore[arg-type]
        guard=Guard(["127.0.0.0/8"]),
        resolver=resolver,
    )
    try:
        yield http
    finally:
        await http.close()
        await resolver.close()
        listener.close()
        for connection in server.connections:
            connection.writer.close()
        await asyncio.sleep(0)


def fetch(server: Server, *paths: str, between: Callable[[], Awaitable[None]] | None = None) -> list[bytes | str]:
    """Bodies, or reasons of failures."""

    async def go() -> list[bytes | str]:
        found: list[bytes | str] = []
        async with fetching(server) as http:
            for path in paths:
                if found and between:
                    await between()
                answer = await http.get(server.url(path))
                found.append(answer.body if isinstance(answer, Response) else answer.reason)
        return found

    return asyncio.run(go())


async def echo(connection: Connection, request: bytes) -> None:
    connection.writer.write(ok(request.split()[1]))


class TestAnswersNobodyAskedFor:
    def test_a_pushed_answer_is_not_that_of_the_next_url(self):
        server = Server(echo)

        async def push() -> None:
            server.connections[-1].writer.write(ok(b"smuggled"))
            await server.connections[-1].writer.drain()

        assert fetch(server, "/a", "/b", "/c", between=push) == [b"/a", b"/b", b"/c"]
        assert server.requests == ["/a", "/b", "/c"]

    def test_nor_is_what_follows_an_answer_at_once(self):
        async def twice(connection: Connection, request: bytes) -> None:
            connection.writer.write(ok(request.split()[1]) + ok(b"smuggled"))

        server = Server(twice)
        assert fetch(server, "/a", "/b", "/c") == [b"/a", b"/b", b"/c"]
        assert server.requests == ["/a", "/b", "/c"]

    def test_honest_servers_keep_their_connection(self):
        server = Server(echo)
        assert fetch(server, *[f"/{number}" for number in range(20)])[-1] == b"/19"
        assert len(server.connections) == 1


def test_of_several_addresses_the_one_whose_clock_is_kept_is_tried_first():
    async def go() -> list[str]:
        server = Server(echo)
        first = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        server.port = first.sockets[0].getsockname()[1]
        second = await asyncio.start_server(server.serve, "127.0.0.2", server.port)
        resolver = Resolver(overrides={"*.test": ["127.0.0.1", "127.0.0.2"]})
        http = Http(settings=HttpSettings(user_agent="x"), guard=Guard(["127.0.0.0/8"]), resolver=resolver)
        used = []
        for address in ("127.0.0.2", "127.0.0.9"):
            answer = await http.get(f"http://{address.replace('.', '-')}.test:{server.port}/", address=address)
            used.append(answer.address)
        await http.close()
        await resolver.close()
        for listener in (first, second):
            listener.close()
        for connection in server.connections:
            connection.writer.close()
        await asyncio.sleep(0)
        return used

    assert asyncio.run(go()) == ["127.0.0.2", "127.0.0.1"]


class TestOneRequestACall:
    @pytest.mark.parametrize("is_reset", [False, True])
    def test_a_kept_connection_that_breaks_when_the_request_arrives(self, is_reset):
        async def once(connection: Connection, request: bytes) -> None:
            if connection.number == 1:
                await echo(connection, request)
            elif is_reset:
                connection.writer.transport.abort()
            else:
                connection.writer.close()

        server = Server(once)
        # The failure is an outcome, and from then on each request has a connection of its own.
        assert fetch(server, "/a", "/b", "/b", "/c", "/d") == [b"/a", "reset", b"/b", b"/c", b"/d"]
        assert server.requests == ["/a", "/b", "/b", "/c", "/d"]

    def test_a_connection_that_was_closed_in_between_costs_no_failure(self):
        server = Server(echo)

        async def close() -> None:
            server.connections[-1].writer.close()
            await server.connections[-1].writer.wait_closed()

        assert fetch(server, "/a", "/b", "/c", between=close) == [b"/a", b"/b", b"/c"]
        assert server.requests == ["/a", "/b", "/c"]


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, SETTINGS, GOAWAY = 1, 4, 7


def frame(kind: int, payload: bytes, flags: int = 0) -> bytes:
    return len(payload).to_bytes(3) + bytes([kind, flags]) + bytes(4) + payload


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("the openssl command is needed to make a certificate")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=site.test"
    subprocess.run(
        [*command.split(), "-addext", "subjectAltName=DNS:site.test", "-keyout", key, "-out", cert],
        check=True,
        capture_output=True,
    )
    return key, cert


def test_http2_goaway_is_an_outcome_and_not_six_requests(certificate):
    key, cert = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    context.set_alpn_protocols(["h2"])
    requests = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        try:
            assert await reader.readexactly(len(PREFACE)) == PREFACE
            writer.write(frame(SETTINGS, b""))
            while True:
                head = await reader.readexactly(9)
                await reader.readexactly(int.from_bytes(head[:3]))
                if head[3] == HEADERS:
                    requests += 1
                    writer.write(frame(GOAWAY, bytes(8)))  # last stream 0: none of yours was processed
                    await writer.drain()
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def go() -> Response | TransferFailure:
        listener = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        port = listener.sockets[0].getsockname()[1]
        resolver = Resolver(overrides={"*.test": "127.0.0.1"})
        settings = HttpSettings(user_agent="Lycosa-test", ca_file=str(cert))
        http = Http(settings=settings, guard=Guard(["127.0.0.0/8"]), resolver=resolver)
        try:
            return await http.get(f"https://site.test:{port}/")
        finally:
            await http.close()
            await resolver.close()
            listener.close()
            await asyncio.sleep(0.01)

    failed = asyncio.run(go())
    assert isinstance(failed, TransferFailure)
    assert failed.is_transient
    assert requests == 1
