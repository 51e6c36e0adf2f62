"""The fetcher against a loopback server that misbehaves on request."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lycosa.errors import ConfigError
from lycosa.fetch.dns import Resolver
from lycosa.fetch.guard import Guard
from lycosa.fetch.http import Http
from lycosa.fetch.transfer import HttpSettings, TransferFailure
from lycosa.model import Kind, Response

LOOPBACK = ("127.0.0.0/8",)
AGENT = "Lycosa-test/1 (+https://example.org/)"
Write = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Answers each path with the bytes or the coroutine given for it; records the requests."""

    def __init__(self, answers: dict[str, bytes | Write]) -> None:
        self.answers = answers
        self.requests: list[bytes] = []
        self.connections = 0
        self.asked = asyncio.Event()
        self.closed = asyncio.Event()
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                self.requests.append(request)
                self.asked.set()
                answer = self.answers[request.split()[1].decode()]
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                else:
                    await answer(writer)
                if writer.is_closing():
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # asyncio would log a cancelled server task as an error
        finally:
            writer.close()
            self.closed.set()

    def url(self, path: str = "/", host: str = "site.test") -> str:
        return f"http://{host}:{self.port}{path}"


@asynccontextmanager
async def running(answers: dict[str, bytes | Write], context: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server(answers)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context, backlog=500)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for task in asyncio.all_tasks():
            if task.get_coro().__qualname__ == "Server.serve":  # type: ignore[union-attr]
                task.cancel()
        await asyncio.sleep(0)


@asynccontextmanager
async def fetching(
    *,
    allow: Sequence[str] = LOOPBACK,
    guard: Guard | None = None,
    resolver: Resolver | None = None,
    **settings: object,
) -> AsyncIterator[Http]:
    resolver = resolver or Resolver(overrides={"*.test": "127.0.0.1"})
    http = Http(
        settings=HttpSettings(user_agent=AGENT, **settings),  # type: ignore[arg-type]
        guard=guard or Guard(allow),
        resolver=resolver,
    )
    try:
        yield http
    finally:
        await http.close()
        await resolver.close()


def ok(body: bytes = b"hello", *headers: bytes) -> bytes:
    lines = [b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def get(answer: bytes | Write, *, times: int = 1, **arguments: object) -> Response | TransferFailure:
    """Fetch from a server with one answer; return the last result."""
    keywords = {"stop_at_headers", "max_bytes", "chop"}

    async def run() -> Response | TransferFailure:
        options = {key: value for key, value in arguments.items() if key in keywords}
        settings = {key: value for key, value in arguments.items() if key not in keywords}
        async with running({"/": answer}) as server, fetching(**settings) as http:  # type: ignore[arg-type]
            for _ in range(times - 1):
                await http.get(server.url(), **options)  # type: ignore[arg-type]
            return await http.get(server.url(), **options)  # type: ignore[arg-type]

    return asyncio.run(run())


def response(answer: bytes | Write, **arguments: object) -> Response:
    result = get(answer, **arguments)
    assert isinstance(result, Response), result
    return result


def failed(answer: bytes | Write, **arguments: object) -> TransferFailure:
    result = get(answer, **arguments)
    assert isinstance(result, TransferFailure), result
    return result


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while True:
        writer.write(b"x" * 10_000)
        await writer.drain()


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


def then_close(data: bytes) -> Write:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.close()

    return write


def then_reset(data: bytes) -> Write:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.transport.abort()

    return write


class TestAnswers:
    def test_says_what_came_and_what_was_sent(self) -> None:
        async def run() -> tuple[Response | TransferFailure, Server]:
            answer = ok(b"hello", b"X-Odd:  two  words ", b"Set-Cookie: a=1", b"Set-Cookie: b=2")
            async with running({"/a?b=%20": answer}) as server, fetching() as http:
                return await http.get(server.url("/a?b=%20#part")), server

        answer, server = asyncio.run(run())
        assert isinstance(answer, Response)
        assert (answer.status, answer.body, answer.address) == (200, b"hello", "127.0.0.1")
        assert answer.url == server.url("/a?b=%20#part")
        assert list(answer.headers) == [
            ("content-type", "text/html"),
            ("content-length", "5"),
            ("x-odd", "two  words"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
        ]
        assert answer.head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
        assert answer.head.endswith(b"Set-Cookie: b=2\r\n")
        assert answer.request + b"\r\n" == server.requests[0]
        assert AGENT.encode() in answer.request
        assert b"Accept-Encoding: gzip, deflate, br, zstd\r\n" in answer.request
        assert 0 < answer.started <= answer.ended
        assert not answer.is_chopped

    def test_leaves_the_content_encoding_on(self) -> None:
        body = b"\x1f\x8bnot really"
        assert response(ok(body, b"Content-Encoding: gzip")).body == body

    def test_does_not_follow_redirects(self) -> None:
        answer = response(b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
        assert (answer.status, answer.header("location")) == (302, "/b")

    def test_error_statuses_are_answers(self) -> None:
        assert response(b"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno").status == 503

    def test_body_until_the_connection_ends(self) -> None:
        assert response(then_close(b"HTTP/1.0 200 OK\r\n\r\nall of it")).body == b"all of it"

    def test_chunks_with_trailers(self) -> None:
        answer = response(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
            b"5\r\nhello\r\n6\r\n there\r\n0\r\nX-Sum: 1\r\nContent-Length: 3\r\n\r\n"
        )
        assert answer.body == b"hello there"
        assert answer.headers == [("transfer-encoding", "chunked"), ("trailer", "X-Sum")]
        assert b"X-Sum: 1" not in answer.head

    def test_interim_answers_come_before_the_final_one(self) -> None:
        hints = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x.css>\r\n\r\n"
        answer = response(hints + ok())
        assert answer.status == 200
        assert answer.head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert answer.header("link") == ""

    def test_folded_header(self) -> None:
        answer = response(ok(b"", b"X-Long: one", b"\t two"))
        assert answer.header("x-long").split() == ["one", "two"]

    def test_header_bytes_that_are_no_utf8(self) -> None:
        assert response(ok(b"", b"X-Name: caf\xe9")).header("x-name") == "café"


class TestFailures:
    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (then_close(b""), "reset"),
            (then_reset(b""), "reset"),
            (then_reset(b"HTTP/1.1 200 OK\r\nContent-Le"), "reset"),
            (then_close(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"), "reset"),
            (then_reset(ok()[:-3]), "reset"),
            (then_close(ok()[:-3]), "reset"),
            (then_close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"), "reset"),
            (then_close(b"<html>HTTP/0.9 has no head</html>"), "protocol"),
            (then_close(b"\x00\x01\x02\x03" * 50), "protocol"),
            (then_close(b"HTTP/1.1 twohundred OK\r\n\r\n"), "protocol"),
            (then_close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "reset"),
            (then_close(b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n"), "protocol"),
            (then_close(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"), "protocol"),
            (then_close(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nabc"), "reset"),
        ],
    )
    def test_of_the_connection(self, answer: Write, reason: str) -> None:
        result = failed(answer)
        assert (result.kind, result.reason, result.address) == (Kind.UNREACHABLE, reason, "127.0.0.1")
        assert result.is_transient == (reason == "reset")
        assert result.detail

    def test_nobody_listens(self) -> None:
        async def run() -> Response | TransferFailure:
            async with running({}) as server:
                pass
            async with fetching() as http:
                return await http.get(server.url())

        result = asyncio.run(run())
        assert isinstance(result, TransferFailure)
        assert (result.kind, result.reason, result.is_transient) == (Kind.UNREACHABLE, "connect", True)
        assert result.address == "127.0.0.1"

    def test_name_is_not_known(self) -> None:
        def nobody(host: str, port: int) -> tuple[str, ...]:
            raise OSError("unheard of")

        async def run() -> Response | TransferFailure:
            async with fetching(resolver=Resolver(look_up=nobody)) as http:
                return await http.get("http://nowhere.example/")

        result = asyncio.run(run())
        assert isinstance(result, TransferFailure)
        assert (result.kind, result.reason, result.detail) == (Kind.UNREACHABLE, "dns", "unheard of")

    def test_no_answer_within_the_deadline(self) -> None:
        result = failed(silence, deadline=0.2)
        assert (result.kind, result.reason, result.is_transient) == (Kind.UNREACHABLE, "timeout", True)

    def test_drip_until_the_deadline(self) -> None:
        result = failed(drip, deadline=0.3)
        assert (result.kind, result.reason, result.is_transient) == (Kind.REFUSED, "too slow", True)

    def test_drip_below_the_minimum_rate(self) -> None:
        result = failed(drip, min_rate=10_000, min_rate_seconds=1)
        assert (result.kind, result.reason) == (Kind.REFUSED, "too slow")

    @pytest.mark.parametrize(
        ("url", "reason"),
        [
            ("ftp://site.test/", "scheme"),
            ("file:///etc/passwd", "scheme"),
            ("javascript:alert(1)", "scheme"),
            ("site.test/x", "scheme"),
            ("", "scheme"),
            ("http://", "bad url"),
            ("http:///path", "bad url"),
            ("http://site.test:99999/", "bad url"),
            ("http://site.test:0/", "bad url"),
            ("http://site.test/a b", "bad url"),
            ("http://site.test/a\r\nX-Injected: 1", "bad url"),
            ("http://site.test/\u00e4", "bad url"),
        ],
    )
    def test_urls_that_cannot_be_asked(self, url: str, reason: str) -> None:
        async def run() -> Response | TransferFailure:
            async with fetching() as http:
                return await http.get(url)

        result = asyncio.run(run())
        assert isinstance(result, TransferFailure)
        assert (result.kind, result.reason) == (Kind.REFUSED, reason)

    @pytest.mark.parametrize(
        "head",
        [
            b"\r\n\r\n",
            b"HTTP/1.1 \r\n\r\n",
            b"HTTP/1.1 2\r\n\r\n",
            b"HTTP/1.1 20x OK\r\n\r\n",
            b"HTTP/1.1 2000 OK\r\n\r\n",
            b"HTTP/1.1 000 OK\r\n\r\n",
            b"HTTP/1.1200 OK\r\n\r\n",
            b"HTTP/3 200 OK\r\n\r\n",
            b"HTTP/1.1 200\n\n",
            b"HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n folded at once\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: \xb2\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"HTTP/1.1 100 \r\n\r\nHTTP/1.1 100 \r\n\r\n",
            b"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello",
        ],
    )
    def test_a_head_that_makes_no_sense_gives_a_value(self, head: bytes) -> None:
        result = get(then_close(head))
        assert isinstance(result, TransferFailure) or result.status >= 200


class TestCaps:
    @pytest.mark.parametrize(
        "head",
        [
            b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 30 + b"Content-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nX-A: " + b"b" * 3000 + b"\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nX-A: b" + b"\r\n b" * 1000 + b"\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\n" * 30 + ok(),
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-T: 1\r\n" * 30 + b"\r\n",
        ],
        ids=["lines", "bytes", "folded", "1xx", "trailers"],
    )
    def test_headers(self, head: bytes) -> None:
        result = failed(head, max_header_lines=20, max_header_bytes=2000)
        assert (result.kind, result.reason) == (Kind.REFUSED, "too many headers")
        assert not result.is_transient

    @pytest.mark.parametrize("piece", [b"b" * 1000, b"b: c\r\n" * 1000], ids=["one line", "many"])
    def test_headers_without_end(self, piece: bytes) -> None:
        async def write(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nX-A: ")
            while True:
                writer.write(piece)
                await writer.drain()

        assert failed(write, max_header_lines=10**9, max_header_bytes=10**9).reason == "too many headers"

    def test_length_that_is_announced(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"
        result = failed(head, max_bytes=1000)
        assert (result.kind, result.reason, result.is_transient) == (Kind.REFUSED, "too large", False)

    def test_body_without_end(self) -> None:
        assert failed(endless, max_bytes=50_000).reason == "too large"

    def test_body_of_just_the_size(self) -> None:
        assert response(ok(b"x" * 1000), max_bytes=1000).body == b"x" * 1000

    def test_chop(self) -> None:
        answer = response(endless, chop=12_345)
        assert (len(answer.body), answer.is_chopped) == (12_345, True)

    def test_chop_wins_over_the_announced_length(self) -> None:
        async def write(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 100)
            await silence(writer)

        answer = response(write, chop=50)
        assert (answer.body, answer.is_chopped) == (b"x" * 50, True)

    def test_chop_of_a_short_body(self) -> None:
        answer = response(ok(b"x" * 50), chop=50)
        assert (len(answer.body), answer.is_chopped) == (50, False)

    def test_stop_at_headers(self) -> None:
        seen: list[tuple[int, Sequence[tuple[str, str]]]] = []

        def check(status: int, headers: Sequence[tuple[str, str]]) -> str:
            seen.append((status, headers))
            return "content type"

        answer = response(endless, stop_at_headers=check)
        assert (answer.status, answer.body, answer.is_chopped) == (200, b"", True)
        assert seen == [(200, [("content-type", "text/html")])]

    def test_headers_that_pass(self) -> None:
        assert response(ok(), stop_at_headers=lambda status, headers: "").body == b"hello"


class TestGuard:
    @pytest.mark.parametrize(
        ("host", "reason"),
        [
            ("127.0.0.1", "loopback"),
            ("2130706433", "loopback"),
            ("0x7f.1", "loopback"),
            ("0177.0.0.01", "loopback"),
            ("127.1", "loopback"),
            ("[::1]", "loopback"),
            ("[::ffff:127.0.0.1]", "loopback"),
            ("[64:ff9b::7f00:1]", "loopback"),
            ("0", "unspecified"),
            ("169.254.169.254", "metadata service"),
            ("site.test", "loopback"),
        ],
    )
    def test_refuses_the_address_connected_to(self, host: str, reason: str) -> None:
        async def run() -> tuple[Response | TransferFailure, int]:
            async with running({"/": ok()}) as server, fetching(allow=()) as http:
                return await http.get(server.url(host=host)), server.connections

        result, connections = asyncio.run(run())
        assert isinstance(result, TransferFailure)
        assert (result.kind, result.reason, result.is_transient) == (Kind.REFUSED, "address refused", False)
        assert result.detail.startswith(reason)
        assert result.address
        assert connections == 0

    def test_goes_on_to_an_address_it_may_use(self) -> None:
        resolver = Resolver(overrides={"site.test": ["127.0.0.2", "127.0.0.1"]})
        answer = response(ok(), allow=("127.0.0.1/32",), resolver=resolver)
        assert answer.address == "127.0.0.1"

    def test_a_new_answer_of_the_resolver_replaces_the_old_one(self) -> None:
        addresses = iter([("127.0.0.2",), ("127.0.0.1",)])
        resolver = Resolver(look_up=lambda host, port: next(addresses), ttl=0)
        answer = response(ok(), times=2, allow=("127.0.0.1/32",), resolver=resolver)
        assert answer.address == "127.0.0.1"


class TestReuse:
    def test_connection_is_kept(self) -> None:
        async def run() -> int:
            async with running({"/": ok()}) as server, fetching() as http:
                for _ in range(5):
                    assert isinstance(await http.get(server.url()), Response)
                return server.connections

        assert asyncio.run(run()) == 1

    def test_nothing_is_left_from_the_request_before(self) -> None:
        """Each bad request is followed by a plain one on the same handle."""

        async def run() -> None:
            answers: dict[str, bytes | Write] = {
                "/": ok(b"plain"),
                "/cookie": ok(b"", b"Set-Cookie: a=1", b"X-Mark: 1"),
                "/endless": endless,
                "/reset": then_reset(b""),
                "/auth": b'HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\r\n',
            }

            async def plain() -> None:
                answer = await http.get(server.url())
                assert isinstance(answer, Response)
                assert (answer.status, answer.body, answer.is_chopped) == (200, b"plain", False)
                assert [name for name, _ in answer.headers] == ["content-type", "content-length"]
                assert server.requests[-1] == answer.request + b"\r\n" == expected

            async with running(answers) as server, fetching() as http:
                await http.get(server.url())
                expected = server.requests[0]
                await http.get(server.url("/cookie"))
                await plain()
                assert isinstance(await http.get(server.url("/endless"), chop=10), Response)
                await plain()
                await http.get(server.url("/endless"), stop_at_headers=lambda status, headers: "no")
                await plain()
                assert isinstance(await http.get(server.url("/endless"), max_bytes=10), TransferFailure)
                await plain()
                assert isinstance(await http.get(server.url("/reset")), TransferFailure)
                await plain()
                credentials = server.url("/auth").replace("//", "//user:secret@")
                await http.get(credentials)
                assert b"uthorization" not in server.requests[-1]
                await plain()
                assert len(http._idle) == 1

        asyncio.run(run())

    def test_proxies_of_the_environment_are_not_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9/")
        assert response(ok()).body == b"hello"

    def test_many_at_once(self) -> None:
        async def run() -> None:
            answers: dict[str, bytes | Write] = {f"/{n}": ok(b"%d" % n) for n in range(300)}
            async with running(answers) as server, fetching() as http:
                results = await asyncio.gather(*(http.get(server.url(f"/{n}")) for n in range(300)))
                assert [int(result.body) for result in results if isinstance(result, Response)] == list(range(300))

        asyncio.run(run())


class TestFaults:
    def test_an_exception_of_the_headers_check_is_raised(self) -> None:
        def check(status: int, headers: object) -> str:
            raise ZeroDivisionError("in the check")

        with pytest.raises(ZeroDivisionError, match="in the check"):
            get(ok(), stop_at_headers=check)

    def test_an_exception_of_the_guard_is_raised(self) -> None:
        class Broken(Guard):
            def refuses(self, address: str) -> str:
                raise ZeroDivisionError("in the guard")

        with pytest.raises(ZeroDivisionError, match="in the guard"):
            get(ok(), guard=Broken())

    def test_an_exception_of_the_event_loop_is_raised(self) -> None:
        def add_writer(*arguments: object) -> None:
            raise OSError("no room for another descriptor")

        async def run() -> None:
            async with running({"/": ok()}) as server, fetching() as http:
                loop = asyncio.get_running_loop()
                loop.add_writer = add_writer  # type: ignore[method-assign]
                with pytest.raises(OSError, match="no room"):
                    await http.get(server.url())
                del loop.add_writer
                assert isinstance(await http.get(server.url()), Response)

        asyncio.run(run())

    def test_cancelling_ends_the_transfer(self) -> None:
        async def run() -> None:
            async with running({"/": ok(), "/endless": endless}) as server, fetching() as http:
                task = asyncio.create_task(http.get(server.url("/endless"), max_bytes=10**12))
                await server.asked.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await asyncio.wait_for(server.closed.wait(), 5)
                assert isinstance(await http.get(server.url()), Response)

        asyncio.run(run())

    def test_cancelling_together_with_the_end(self) -> None:
        """The answer has arrived, but the task that waits for it has not run yet."""

        async def run() -> None:
            async with running({"/": ok()}) as server, fetching() as http:
                for turns in range(40):
                    task = asyncio.create_task(http.get(server.url()))
                    for _ in range(turns):
                        await asyncio.sleep(0)
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                assert isinstance(await http.get(server.url()), Response)
                assert not http._active

        asyncio.run(run())

    def test_close_cancels_what_is_under_way(self) -> None:
        async def run() -> None:
            async with running({"/": silence}) as server, fetching() as http:
                task = asyncio.create_task(http.get(server.url()))
                await server.asked.wait()
                await http.close()
                with pytest.raises(asyncio.CancelledError):
                    await task
                with pytest.raises(RuntimeError, match="after close"):
                    await http.get(server.url())

        asyncio.run(run())


class TestSettings:
    @pytest.mark.parametrize("agent", ["", "two\r\nX-Lines: 1", "Spinne ä"])
    def test_user_agent_that_cannot_be_sent(self, agent: str) -> None:
        with pytest.raises(ConfigError, match="User-Agent"):
            Http(settings=HttpSettings(user_agent=agent), guard=Guard(), resolver=Resolver())

    def test_certificates_that_are_not_there(self) -> None:
        with pytest.raises(ConfigError, match=r"/no/such\.pem"):
            Http(
                settings=HttpSettings(user_agent=AGENT, ca_file="/no/such.pem"),
                guard=Guard(),
                resolver=Resolver(),
            )


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("the openssl command is needed to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    names = ["-subj", "/CN=site.test", "-addext", "subjectAltName=DNS:site.test"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), *names, *files], check=True, capture_output=True)
    return certificate, key


class TestTls:
    def fetch(self, certificate: tuple[Path, Path], host: str, **settings: object) -> Response | TransferFailure:
        async def run() -> Response | TransferFailure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            async with running({"/": ok()}, context) as server, fetching(**settings) as http:  # type: ignore[arg-type]
                return await http.get(f"https://{host}:{server.port}/")

        return asyncio.run(run())

    def test_a_certificate_nobody_vouches_for(self, certificate: tuple[Path, Path]) -> None:
        result = self.fetch(certificate, "site.test")
        assert isinstance(result, TransferFailure)
        assert (result.kind, result.reason, result.is_transient) == (Kind.UNREACHABLE, "tls", False)

    def test_a_certificate_we_were_told_to_trust(self, certificate: tuple[Path, Path]) -> None:
        result = self.fetch(certificate, "site.test", ca_file=str(certificate[0]))
        assert isinstance(result, Response)
        assert result.body == b"hello"

    def test_a_certificate_for_another_name(self, certificate: tuple[Path, Path]) -> None:
        result = self.fetch(certificate, "other.test", ca_file=str(certificate[0]))
        assert isinstance(result, TransferFailure)
        assert (result.reason, result.is_transient) == ("tls", False)

    def test_no_certificates_anywhere(self, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lycosa.fetch.http.default_ca_file", lambda: "")
        result = self.fetch(certificate, "site.test")
        assert isinstance(result, TransferFailure)
        assert result.reason == "tls"
        assert "ca_file" in result.detail

    def test_plain_http_where_tls_is_spoken(self) -> None:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            await then_close(b"HTTP/1.1 400 Bad Request\r\n\r\n")(writer)

        async def run() -> Response | TransferFailure:
            listener = await asyncio.start_server(talk, "127.0.0.1", 0)
            async with listener, fetching() as http:
                return await http.get(f"https://site.test:{listener.sockets[0].getsockname()[1]}/")

        result = asyncio.run(run())
        assert isinstance(result, TransferFailure)
        assert result.reason == "tls"
