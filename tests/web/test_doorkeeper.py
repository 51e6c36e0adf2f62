"""Nobody but the dashboard's own page, or a program of this machine, gets an answer."""

from __future__ import annotations

import pytest

from lycosa.errors import WorkspaceError
from lycosa.web.crawls import House
from lycosa.web.doorkeeper import POLICY, Door, is_loopback
from lycosa.web.server import FILES

from .conftest import PORT, client_of

OWN = f"127.0.0.1:{PORT}"
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("host", [OWN, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_own_names_are_answered(client, host):
    assert client.get("/api/crawls", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.test",
        f"evil.test:{PORT}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"127.0.0.2:{PORT}",
        f"localhost.evil.test:{PORT}",
        "",
    ],
)
def test_names_that_others_point_here_are_refused(client, host):
    for path in ("/", "/api/crawls", "/static/app.js", "/metrics", "/nowhere"):
        assert client.get(path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.test", "null", f"http://localhost:{PORT}", f"https://{OWN}.evil.test", "http://127.0.0.1"]
)
def test_pages_of_others_may_not_ask(client, origin):
    for method, path in (("POST", "/api/crawls/cycling/commands"), ("GET", "/api/crawls")):
        answer = client.request(
            method, path, headers={"origin": origin, **JSON}, content="{}" if method == "POST" else None
        )
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


def test_own_origin_may(client):
    sent = client.post("/api/crawls/understand", headers={"origin": f"http://{OWN}", **JSON}, content="{}")
    assert sent.status_code == 400
    assert "nothing is asked for" in sent.json()["error"]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_says_of_a_request_is_heeded(client, site):
    assert client.get("/api/crawls", headers={"sec-fetch-site": site}).status_code == 403
    assert client.get("/static/app.js", headers={"sec-fetch-site": site}).status_code == 403
    assert client.get("/", headers={"sec-fetch-site": site}).status_code == 200  # a link from elsewhere


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_form_of_another_site_can_change_nothing(client, kind):
    answer = client.post("/api/crawls/cycling/commands", headers={"content-type": kind}, content='{"kind": "stop"}')
    assert answer.status_code == 415


def test_large_bodies_are_refused_before_they_are_read(client):
    answer = client.post("/api/crawls/understand", headers={**JSON, "content-length": str(1 << 30)}, content="{}")
    assert answer.status_code == 413


def test_every_answer_forbids_scripts_of_others(client):
    paths = ["/", "/static/app.js", "/api/crawls", "/api/openapi.json", "/nowhere", "/api/crawls/none/figures"]
    for path in paths:
        headers = client.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers.get_list("content-security-policy") == [POLICY]
    refused = client.get("/", headers={"host": "evil.test"})
    assert refused.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY


def test_another_address_requires_a_token():
    with pytest.raises(ValueError, match="a token is required"):
        Door("0.0.0.0", PORT)
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert not is_loopback("192.168.1.2")
    assert not is_loopback("example.org")


def test_the_token_is_asked_for_everywhere(made):
    door = Door("0.0.0.0", PORT, "secret")
    with client_of(made, door=door) as client:
        for path in ("/", "/api/crawls", "/static/app.js", "/metrics", "/api/openapi.json"):
            assert client.get(path).status_code == 401
            assert client.get(path, headers={"authorization": "Bearer wrong"}).status_code == 401
            assert client.get(path, headers={"authorization": "Bearer secret"}).status_code == 200
        assert client.get("/api/crawls?token=secret").status_code == 400  # not in addresses that are kept
        first = client.get("/?token=secret")
        assert first.status_code == 200
        assert "HttpOnly" in first.headers["set-cookie"]
        assert "SameSite=Strict" in first.headers["set-cookie"]
        assert client.get("/api/crawls").status_code == 200  # by the cookie
        assert client.get("/api/crawls", headers={"host": f"evil.test:{PORT}"}).status_code == 421
        assert client.get("/api/crawls", headers={"host": f"192.168.1.7:{PORT}"}).status_code == 200


def test_only_files_of_the_page_are_served(client):
    assert len(FILES) > 10
    for name in ("..%2fserver.py", "%2e%2e/server.py", "../server.py", "server.py", "/etc/passwd", "index.html%00.js"):
        assert client.get(f"/static/{name}").status_code == 404
    assert client.get("/static/app.js").headers["content-type"].startswith("text/javascript")


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(WorkspaceError, match="there is no such directory"):
        House([tmp_path / "nowhere"])


def test_crawls_are_found_by_name_never_by_path(client):
    for name in ("..", "..%2f..", "%2fetc", "cycling%2f..%2fcycling", "."):
        assert client.get(f"/api/crawls/{name}/figures").status_code == 404
