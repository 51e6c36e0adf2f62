from __future__ import annotations

import asyncio
import gc
import gzip
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hostile.faults import FAULTS
from hostile.server import WorldServer, main, running, serve
from lycosa.errors import ConfigError, InputError
from lycosa.lab.generated.web import GeneratedWeb, WebPlan

TESTS = Path(__file__).parents[1]
HOSTS_WITH_FAULTS = {
    "slow-host.test": "slow/0.01",
    "closed.test": "robots-500",
    "late.test": "robots-slow/0.01",
    "moved.test": "robots-redirect/2",
    "/broken/": "500",
}


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return GeneratedWeb(WebPlan(pages=300))


@pytest.fixture(scope="module")
def server(web) -> Iterator[WorldServer]:
    with running(web, faults=HOSTS_WITH_FAULTS) as server:
        yield server


class Answer:
    def __init__(self, response: http.client.HTTPResponse, body: bytes) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = body


def get(server: WorldServer, path: str, *, host: str = "", method: str = "GET") -> Answer:
    host = host or server.web.hosts[0]
    connection = http.client.HTTPConnection(server.overrides().get(host, "127.0.0.1"), server.port, timeout=10)
    try:
        connection.request(method, path, headers={"Host": f"{host}:{server.port}"})
        response = connection.getresponse()
        return Answer(response, response.read())
    finally:
        connection.close()


def raw(server: WorldServer, data: bytes, *, until_close: bool = True) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(data)
        received = bytearray()
        while until_close and (part := client.recv(65_536)):
            received += part
        return bytes(received)


def request(host: str, path: str, *more: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: {host}", *more, "", ""]).encode()


class TestPages:
    @pytest.mark.parametrize("page", [0, 1, 100, 299])
    def test_a_page_is_what_the_web_renders(self, server, web, page):
        url = server.url(page)
        host = web.hosts[web.host_of(page)]
        path = "/" + url.split("/", 3)[3]
        for _ in range(2):  # the second comes from the cache
            answer = get(server, path, host=host)
            rendered = web.render(url)
            assert answer.status == 200
            assert answer.body == rendered.body
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        if page == 0:
            assert f":{server.port}/".encode() in answer.body

    def test_redirects_robots_missing_pages_and_strangers(self, server, web):
        moved = get(server, "/go/3")
        assert moved.status == 301
        assert web.page_of(moved.headers["Location"]) == 3
        assert get(server, "/robots.txt").body.startswith(b"User-agent: *\n")
        assert get(server, "/nothing").status == 404
        assert get(server, "/", host="stranger.test").status == 421

    def test_head_has_the_length_and_no_body(self, server, web):
        answer = get(server, "/", method="HEAD")
        assert answer.body == b""
        assert int(answer.headers["Content-Length"]) == len(web.render(server.url(0)).body)

    def test_hosts_are_spread_over_addresses(self, server, web):
        overrides = server.overrides()
        assert set(overrides) == {*web.hosts, *(place for place in HOSTS_WITH_FAULTS if not place.startswith("/"))}
        assert set(overrides.values()) == {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}

    def test_the_cache_keeps_to_its_room(self, web):
        server = WorldServer(web=web, addresses=("127.0.0.1",), port=1, faults=None, log=None, cache_bytes=20_000)
        for page in range(60):
            host = web.hosts[web.host_of(page)]
            server.answer(host, "/" + web.url(page).split("/", 3)[3])
        kept = sum(len(each.head) + len(each.body) for each in server._cache.values())
        assert 5_000 < kept <= 20_000

    def test_warming_writes_all_pages(self, web):
        server = WorldServer(web=web, addresses=("127.0.0.1",), port=1, faults=None, log=None, cache_bytes=64 << 20)
        server.warm()
        assert len(server._cache) == len(web)
        assert all(each.status == 200 for each in server._cache.values())


class TestProtocol:
    def test_pipelined_requests_are_answered_in_order(self, server, web):
        host = web.hosts[0]
        together = request(host, "/fault/slow/0.05") + request(host, "/") + request(host, "/no", "Connection: close")
        received = raw(server, together)
        assert re.findall(rb"HTTP/1.1 (\d+) ", received) == [b"200", b"200", b"404"]
        assert received.index(b"Faults") < received.index(web.render(server.url(0)).body[:200])

    def test_a_request_may_come_in_pieces(self, server, web):
        whole = request(web.hosts[0], "/", "Connection: close")
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for place in range(0, len(whole), 7):
                client.sendall(whole[place : place + 7])
            received = b""
            while part := client.recv(65_536):
                received += part
        assert received.startswith(b"HTTP/1.1 200 ")
        assert received.endswith(b"</html>\n")

    def test_http_1_0_closes(self, server, web):
        received = raw(server, f"GET / HTTP/1.0\r\nHost: {web.hosts[0]}\r\n\r\n".encode())
        assert received.endswith(b"</html>\n")

    @pytest.mark.parametrize(
        ("data", "status"),
        [
            (b"nonsense\r\n\r\n", b"400"),
            (b"GET / HTTP/1.1\r\n\r\n", b"400"),
            (b"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", b"400"),
            (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", b"405"),
            (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000, b"431"),
        ],
    )
    def test_bad_requests_are_refused(self, server, data, status):
        assert raw(server, data).split()[1] == status


class TestLog:
    def test_every_request_is_noted_in_memory_and_on_disk(self, web, tmp_path):
        log = tmp_path / "requests.jsonl"
        before = time.monotonic()
        with running(web, addresses=2, faults=True, log=log) as server:
            get(server, "/?a=1")
            get(server, "/fault/slow/0.05", host=web.hosts[1])
            raw(server, request(web.hosts[0], "/fault/silent"), until_close=False)
            port = server.port
        noted = {each.path: each for each in server.requests()}
        assert port == server.port
        assert noted["/?a=1"].status == 404
        slow = noted["/fault/slow/0.05"]
        assert (slow.host, slow.address, slow.status) == (web.hosts[1], "127.0.0.2", 200)
        assert before <= slow.arrived <= slow.ended - 0.05
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert lines == [each._asdict() for each in server.requests()]

    def test_a_request_that_never_ended_is_noted_when_the_server_stops(self, web):
        with running(web, faults=True) as server:
            client = socket.create_connection(("127.0.0.1", server.port))
            client.sendall(request(web.hosts[0], "/") + request(web.hosts[0], "/fault/stall"))
            received = b""
            while received.count(b"HTTP/1.1 200") < 2:
                received += client.recv(65_536)
        client.close()
        assert [(each.path, each.status) for each in server.requests()] == [("/", 200), ("/fault/stall", 200)]

    def test_stopping_lets_go_of_clients_that_are_just_coming_in(self, web):
        """A socket left behind would be reported as unclosed when it is collected, which fails the test."""
        clients = []
        for _ in range(10):
            with running(web, addresses=1, faults=True) as server:
                for _ in range(5):
                    clients.append(socket.create_connection(("127.0.0.1", server.port), timeout=10))
                    clients[-1].sendall(request(web.hosts[0], "/fault/silent"))
        for client in clients:
            with client, suppress(ConnectionResetError):
                assert client.recv(1) == b""
        gc.collect()


class TestFaults:
    def test_the_index_links_to_all(self, server):
        body = get(server, "/fault/").body.decode()
        assert all(f'href="/fault/{name}/"' in body for name in FAULTS)
        assert all(fault.__doc__ for fault in FAULTS.values())

    def test_without_faults_there_are_none(self, web):
        with running(web, addresses=1) as server:
            assert get(server, "/fault/").status == 404
            assert get(server, "/calendar/2024-01-01").status == 404

    def test_unknown_faults_and_arguments_are_told(self, server, web):
        assert get(server, "/fault/earthquake").status == 404
        assert get(server, "/fault/slow/soon").status == 400
        with pytest.raises(ConfigError, match=r"earthquake.*a\.test"), running(web, faults={"a.test": "earthquake"}):
            pass

    @pytest.mark.parametrize("path", ["/fault/drip/0.0001", "/fault/slow/0.001"])
    def test_slow_answers_come_whole(self, server, path):
        answer = get(server, path)
        assert answer.body.endswith(b"</p>\n")
        assert len(answer.body) == int(answer.headers["Content-Length"])

    def test_stall_and_silence_outlast_the_client(self, server, web):
        received = {"stall": b"", "silent": b""}
        for name, wanted in (("stall", 1), ("silent", 0)):
            with socket.create_connection(("127.0.0.1", server.port), timeout=0.2) as client:
                client.sendall(request(web.hosts[0], f"/fault/{name}"))
                while received[name].count(b"<!DOCTYPE") < wanted:
                    received[name] += client.recv(4096)
                with pytest.raises(TimeoutError):
                    client.recv(4096)
        assert received["stall"].startswith(b"HTTP/1.1 200")

    def test_reset_breaks_the_connection(self, server):
        with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
            get(server, "/fault/reset")

    def test_500_always_or_the_first_times(self, server):
        assert [get(server, "/fault/500").status for _ in range(3)] == [500, 500, 500]
        assert [get(server, "/fault/500/2").status for _ in range(3)] == [500, 500, 200]

    @pytest.mark.parametrize("status", [429, 503])
    def test_retry_after(self, server, status):
        answers = [get(server, f"/fault/{status}/7/1") for _ in range(2)]
        assert [answer.status for answer in answers] == [status, 200]
        assert answers[0].headers["Retry-After"] == "7"

    def test_redirects(self, server):
        first = get(server, "/fault/redirect-loop")
        second = get(server, first.headers["Location"])
        third = get(server, second.headers["Location"])
        assert (first.status, third.headers["Location"]) == (302, first.headers["Location"])
        path, hops = "/fault/redirect-chain/4", 0
        while (answer := get(server, path)).status == 302:
            path, hops = answer.headers["Location"], hops + 1
        assert (answer.status, hops) == (200, 4)
        assert get(server, "/fault/redirect-private").headers["Location"].startswith("http://169.254.169.254/")
        assert get(server, "/fault/redirect-private/10.0.0.1").headers["Location"].startswith("http://10.0.0.1/")
        assert get(server, "/fault/redirect-file").headers["Location"].startswith("file:")

    def test_huge_and_endless(self, server, web):
        assert len(get(server, "/fault/huge/3").body) == 3 << 20
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
            client.sendall(request(web.hosts[0], "/fault/endless"))
            size = 0
            while size < 4 << 20:
                size += len(client.recv(1 << 20))

    def test_gzip_bomb_is_small_and_unpacks_to_its_size(self, server):
        answer = get(server, "/fault/gzip-bomb/5")
        assert answer.headers["Content-Encoding"] == "gzip"
        assert len(answer.body) < 20_000
        assert len(gzip.decompress(answer.body)) == 5 << 20
        assert zlib.decompressobj(31).decompress(answer.body, 100) == b" " * 100

    def test_wrong_length_ends_early(self, server):
        with pytest.raises(http.client.IncompleteRead) as caught:
            get(server, "/fault/wrong-length")
        assert caught.value.expected == 1000

    def test_giant_headers(self, server):
        received = raw(server, request(server.web.hosts[0], "/fault/giant-headers/64", "Connection: close"))
        assert received.index(b"\r\n\r\n") > 64_000

    def test_garbage(self, server):
        with pytest.raises(http.client.BadStatusLine):
            get(server, "/fault/garbage")
        with pytest.raises(UnicodeDecodeError):
            get(server, "/fault/garbage-body").body.decode()

    def test_bodies(self, server):
        charset = get(server, "/fault/wrong-charset")
        assert "utf-8" in charset.headers["Content-Type"]
        assert "Велосипед" in charset.body.decode("cp1251")
        assert get(server, "/fault/binary").headers["Content-Type"] == "application/pdf"
        assert get(server, "/fault/empty").body == b""
        assert get(server, "/fault/nesting/500").body.count(b"<div>") == 500
        assert get(server, "/fault/links/").body.count(b"<a ") == 10_000
        assert b"never closed" in get(server, "/fault/broken-html").body

    def test_the_calendar_goes_on_for_ever(self, server):
        seen, path = set(), "/fault/calendar/"
        for _ in range(20):
            body = get(server, path).body.decode()
            path = body.split('href="')[1].split('"')[0]
            assert path.startswith("/calendar/")
            assert path not in seen
            seen.add(path)
        assert b"/calendar/2024-01-01" in get(server, "/calendar/9999-12-31").body

    def test_faults_laid_over_hosts_and_paths(self, server, web):
        assert get(server, "/anything", host="slow-host.test").status == 200
        assert get(server, "/robots.txt", host="slow-host.test").body == b"User-agent: *\nAllow: /\n"
        assert get(server, "/robots.txt", host="closed.test").status == 500
        assert get(server, "/page", host="closed.test").status == 200
        assert get(server, "/robots.txt", host="late.test").status == 200
        assert get(server, "/broken/x", host=web.hosts[3]).status == 500
        path, hops = "/robots.txt", 0
        while (answer := get(server, path, host="moved.test")).status == 302:
            path, hops = answer.headers["Location"], hops + 1
        assert hops == 2
        assert b"Disallow: /closed/" in answer.body


class TestRunning:
    async def _in_a_loop(self, web) -> bytes:
        async with serve(web, addresses=1) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(request(web.hosts[0], "/", "Connection: close"))
            received = await reader.read()
            writer.close()
            await writer.wait_closed()
            return received

    def test_in_an_event_loop(self, web):
        assert asyncio.run(self._in_a_loop(web)).startswith(b"HTTP/1.1 200 OK\r\n")

    def test_a_taken_port_is_told(self, web):
        with (
            running(web, addresses=1) as server,
            pytest.raises(InputError, match=str(server.port)),
            running(web, port=server.port),
        ):
            pass

    def test_two_servers_get_along(self, web):
        with running(web) as one, running(web) as other:
            assert one.port != other.port
            assert get(one, "/").status == get(other, "/").status == 200

    def test_as_a_process(self, tmp_path):
        ready, log = tmp_path / "ready.json", tmp_path / "log.jsonl"
        command = [sys.executable, "-m", "hostile.server", "--seed", "3", "--pages", "100", "--hosts", "5"]
        command += ["--ready-file", str(ready), "--log", str(log), "--fault", "bad.test=500", "--crawl-delay", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=TESTS)
        try:
            assert process.stdout
            told = json.loads(process.stdout.readline())
            assert told == json.loads(ready.read_text())
            web = GeneratedWeb(WebPlan(seed=3, pages=100, hosts=5, crawl_delay=0))
            assert set(told["overrides"]) == {*web.hosts, "bad.test"}
            connection = http.client.HTTPConnection(told["overrides"][web.hosts[0]], told["port"], timeout=10)
            connection.request("GET", "/", headers={"Host": web.hosts[0]})
            assert connection.getresponse().read() == web.render(f"http://{web.hosts[0]}:{told['port']}/").body
            connection.close()
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=10) == 0
        finally:
            process.kill()
            process.wait()
            assert process.stdout
            process.stdout.close()
        assert [json.loads(line)["path"] for line in log.read_text().splitlines()] == ["/"]

    def test_a_bad_plan_ends_with_a_message(self, capsys):
        assert main(["--pages", "3"]) == 2
        assert "pages = 3" in capsys.readouterr().err
