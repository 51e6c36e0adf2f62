from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest

from lycosa.lab.generated.server import Served, served
from lycosa.lab.generated.web import GeneratedWeb


@pytest.fixture(scope="module")
def server(small_web: GeneratedWeb) -> Iterator[Served]:
    with served(small_web.plan, addresses=4) as server:
        yield server


@pytest.fixture
def get(server: Served):
    connections: dict[str, http.client.HTTPConnection] = {}

    def get(path: str, *, host: str, method: str = "GET") -> tuple[http.client.HTTPResponse, bytes]:
        if host not in connections:
            address = server.overrides.get(host, "127.0.0.1")
            connections[host] = http.client.HTTPConnection(address, server.port, timeout=10)
        connections[host].request(method, path, headers={"Host": f"{host}:{server.port}"})
        response = connections[host].getresponse()
        return response, response.read()

    yield get
    for connection in connections.values():
        connection.close()


@pytest.mark.parametrize("page", [0, 1, 100, 119])
def test_a_page_is_what_the_web_renders(server, get, small_web, page):
    url = small_web.url(page, port=server.port)
    for _ in range(2):  # the second over the same connection
        response, body = get("/" + url.split("/", 3)[3], host=small_web.hosts[small_web.host_of(page)])
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
        assert body == small_web.render(url).body


def test_redirects_robots_missing_pages_and_strangers(get, small_web):
    host = small_web.hosts[0]
    moved, _ = get("/go/3", host=host)
    assert moved.status == 301
    assert small_web.page_of(moved.headers["Location"]) == 3
    assert get("/robots.txt", host=host)[1].startswith(b"User-agent: *\n")
    assert get("/nothing", host=host)[0].status == 404
    assert get("/", host="stranger.test")[0].status == 421


def test_head_has_the_length_and_no_body(server, get, small_web):
    response, body = get("/", host=small_web.hosts[0], method="HEAD")
    assert body == b""
    assert int(response.headers["Content-Length"]) == len(small_web.render(small_web.url(0, port=server.port)).body)


def test_hosts_are_spread_over_addresses(server, small_web):
    assert set(server.overrides) == set(small_web.hosts)
    assert set(server.overrides.values()) == {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}
