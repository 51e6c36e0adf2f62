"""Requests through proxies: what the proxy is told, what the guard refuses, and what a broken proxy means."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from typing import Any

import pytest

from fetch.test_http import AGENT, ok, running
from lycosa.errors import ConfigError, ProxyError
from lycosa.fetch.access import Access, AccessSettings
from lycosa.fetch.dns import Resolver
from lycosa.fetch.guard import Guard
from lycosa.fetch.http import Http
from lycosa.fetch.proxy import MOST_FAILURES, Proxies
from lycosa.fetch.transfer import HttpSettings, TransferFailure
from lycosa.model import Response
from proxies import LoopbackProxy, proxying

ADDRESSES = {"site.test": "127.0.0.1", "private.test": "10.0.0.1"}
SECRET = "open sesame 7"


def through(
    kind: str,
    hosts: Sequence[str] = ("site.test",),
    *,
    allow: Sequence[str] = ("127.0.0.0/8",),
    scheme: str = "",
    settings: dict[str, Any] | None = None,
    logins: str = "",
    tmp_path: Any = None,
    **proxy_options: Any,
) -> tuple[list[Response | TransferFailure], LoopbackProxy, list[bytes]]:
    """Fetch the start page of hosts through a proxy on loopback; the answers, the proxy, and the server's requests."""

    async def go() -> tuple[list[Response | TransferFailure], LoopbackProxy, list[bytes]]:
        async with running({"/": ok(), "/robots.txt": ok()}) as server, proxying(kind, **proxy_options) as proxy:
            more: dict[str, Any] = dict(settings or {})
            if logins:
                path = tmp_path / "logins.toml"
                path.write_text(logins)
                path.chmod(0o600)
                more["logins"] = str(path)
            name = scheme or ("http" if kind == "http" else "socks5")
            access = Access(AccessSettings(proxy=f"{name}://127.0.0.1:{proxy.port}", **more))
            resolver = Resolver(overrides=ADDRESSES, look_up=access.names_left_to_proxy())
            http = Http(settings=HttpSettings(user_agent=AGENT), guard=Guard(allow), resolver=resolver, access=access)
            try:
                answers = [await http.get(server.url(host=host)) for host in hosts]
            finally:
                await http.close()
                await resolver.close()
            return answers, proxy, server.requests

    return asyncio.run(go())


@pytest.mark.parametrize("kind", ["http", "socks"])
def test_the_proxy_is_told_an_address_that_the_guard_has_judged(kind):
    (answer,), proxy, requests = through(kind)
    assert isinstance(answer, Response)
    assert (answer.status, answer.body, answer.address) == (200, b"hello", "127.0.0.1")
    assert [target.partition(":")[0] for target in proxy.asked] == ["127.0.0.1"]
    assert b"Host: site.test" in requests[0]
    assert "x-proxy" not in dict(answer.headers)


@pytest.mark.parametrize("kind", ["http", "socks"])
def test_the_guard_holds_with_a_proxy(kind):
    (answer,), proxy, requests = through(kind, ["private.test"])
    assert isinstance(answer, TransferFailure)
    assert (answer.reason, answer.detail) == ("address refused", "private: 10.0.0.1")
    assert proxy.asked == proxy.heads == requests == []


@pytest.mark.parametrize(("kind", "scheme"), [("http", "http"), ("socks", "socks5"), ("socks", "socks5h")])
def test_names_can_be_left_to_the_proxy(kind, scheme):
    settings = {"proxy_resolves": True} if scheme != "socks5h" else {}
    hosts = ["only-the-proxy-knows.example", "localhost", "printer.local", "10.0.0.1", "[::1]"]
    answers, proxy, requests = through(kind, hosts, scheme=scheme, settings=settings, allow=())
    assert isinstance(answers[0], Response)
    assert answers[0].address == ""
    assert len(proxy.asked) == len(requests) == 1
    assert "only-the-proxy-knows.example" in proxy.asked[0]
    assert [answer.reason for answer in answers[1:]] == ["address refused"] * 4  # type: ignore[union-attr]


def test_connections_through_a_proxy_are_kept():
    answers, proxy, requests = through("http", ["site.test"] * 3)
    assert [answer.status for answer in answers] == [200] * 3  # type: ignore[union-attr]
    assert (len(proxy.asked), len(requests)) == (1, 3)


class TestLogin:
    LOGIN = f'[proxy]\nuser = "ann"\npassword = "{SECRET}"\n["http://site.test:1"]\ntoken = "t"'

    @pytest.mark.parametrize("kind", ["http", "socks"])
    def test_goes_to_the_proxy_alone(self, kind, tmp_path):
        (answer,), _, requests = through(kind, login=f"ann:{SECRET}", logins=self.LOGIN, tmp_path=tmp_path)
        assert isinstance(answer, Response)
        assert answer.status == 200
        for request in (*requests, answer.request):
            assert b"roxy" not in request
            assert base64.b64encode(f"ann:{SECRET}".encode()) not in request

    @pytest.mark.parametrize("kind", ["http", "socks"])
    @pytest.mark.parametrize("logins", ["", '[proxy]\nuser = "ann"\npassword = "wrong"'])
    def test_a_wrong_one_ends_the_crawl(self, kind, logins, tmp_path):
        with pytest.raises(ProxyError, match="log-in") as caught:
            through(kind, login=f"ann:{SECRET}", logins=logins, tmp_path=tmp_path)
        assert "wrong" not in str(caught.value)

    def test_a_plain_proxy_that_asks_for_one(self):
        with pytest.raises(ProxyError, match="407"):
            through("http", login="ann:x", settings={"proxy_resolves": True})


@pytest.mark.parametrize("kind", ["http", "socks"])
def test_a_proxy_that_does_not_connect_is_an_outcome_of_the_host(kind):
    (answer,), _, _ = through(kind, status=403)
    assert isinstance(answer, TransferFailure)
    assert answer.reason == "proxy refused"


def test_a_proxy_that_is_not_there_ends_the_crawl_at_once():
    async def go() -> None:
        access = Access(AccessSettings(proxy="http://127.0.0.1:9"))
        resolver = Resolver(overrides=ADDRESSES)
        http = Http(
            settings=HttpSettings(user_agent=AGENT), guard=Guard(["127.0.0.1"]), resolver=resolver, access=access
        )
        try:
            await http.get("http://site.test/")
        finally:
            await http.close()
            await resolver.close()

    with pytest.raises(ProxyError, match=r"the proxy cannot be used: .*127\.0\.0\.1"):
        asyncio.run(go())


def test_a_proxy_that_has_worked_may_fail_a_few_times():
    proxies = Proxies("http://proxy.test:3128")
    proxies.note_success()
    for _ in range(MOST_FAILURES - 1):
        proxies.note_failure("connection refused", is_hopeless=False)
    with pytest.raises(ProxyError):
        proxies.note_failure("connection refused", is_hopeless=False)


class TestEnvironment:
    @pytest.fixture(autouse=True)
    def clean(self, monkeypatch):
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.upper(), raising=False)

    def test_counts_only_if_it_is_asked_for(self, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", "http://proxy.test:8080")
        assert Proxies("").of("http", "site.test") is None
        found = Proxies("environment").of("http", "site.test")
        assert found is not None
        assert found.url == "http://proxy.test:8080"

    def test_exceptions_and_schemes(self, monkeypatch):
        monkeypatch.setenv("https_proxy", f"http://ann:{SECRET.replace(' ', '%20')}@proxy.test")
        monkeypatch.setenv("no_proxy", ".inside.test,other.test")
        proxies = Proxies("environment")
        assert proxies.of("http", "site.test") is None
        assert proxies.of("https", "a.inside.test") is None
        found = proxies.of("https", "site.test")
        assert found is not None
        assert (found.url, found.user, found.password) == ("http://proxy.test:3128", "ann", SECRET)
        assert SECRET not in repr(found)

    def test_libcurl_does_not_ask_it_behind_our_back(self, monkeypatch):
        monkeypatch.setenv("no_proxy", "*")
        (answer,), proxy, _ = through("http")
        assert isinstance(answer, Response)
        assert len(proxy.asked) == 1


@pytest.mark.parametrize("text", ["ftp://proxy.test", "http://", "socks4://proxy.test:1080", "http://a b"])
def test_what_is_no_proxy_is_refused(text):
    with pytest.raises(ConfigError, match=r"access\.proxy: .* is no proxy: write http://"):
        Proxies(text)


def test_a_password_in_the_settings_is_refused_and_not_repeated():
    with pytest.raises(ConfigError, match="does not belong in the settings") as caught:
        Proxies(f"http://ann:{SECRET.replace(' ', '')}@proxy.test")
    assert SECRET.replace(" ", "") not in str(caught.value)
