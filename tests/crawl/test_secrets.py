"""A crawl with every kind of secret: each reaches its own host, and nothing of it is kept or shown anywhere."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
import tomli_w

from loopback import Answer, html, lycosa, serving
from proxies import LoopbackProxy, proxying
from web.browser import why_no_browser

PASSWORD, TOKEN, KEY, COOKIE, OF_PROXY = "pass-7741-word", "tok-9182-en", "key-3365-x", "cook-5512-ie", "prox-8841-y"
SECRETS = (PASSWORD, TOKEN, KEY, COOKIE, OF_PROXY)
ENCODED = [base64.b64encode(f"ann:{secret}".encode()).decode() for secret in (PASSWORD, OF_PROXY)]


@contextmanager
def proxy_in_a_thread(**options):
    loop, started, over = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    found: list[LoopbackProxy] = []

    async def serve() -> None:
        async with proxying("http", **options) as proxy:
            found.append(proxy)
            started.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    started.wait(10)
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
        loop.close()


class Sites:
    """basic.test and bearer.test want a log-in, jar.test a cookie; each sends back what it got, and redirects away."""

    def __init__(self) -> None:
        self.seen: dict[str, set[str]] = {}
        self.port = ""

    def answer(self, request) -> Answer:
        host = request.headers["Host"].partition(":")[0]
        carried = {name: request.headers.get(name, "") for name in ("Authorization", "Cookie", "X-Key")}
        self.seen.setdefault(host, set()).update(filter(None, carried.values()))
        if request.path == "/robots.txt":
            return Answer()
        if host != "away.test" and not any(carried.values()):
            return Answer(401, "text/html", "who are you?")
        if request.path == "/away":
            return Answer(301, f"http://away.test:{self.port}/from-{host}")
        links = "".join(
            f'<a href="http://{name}.test:{self.port}/{path}">cycling</a>'
            for name in ("basic", "bearer", "jar", "wrong")
            for path in ("", "away")
        )
        sets = {"Set-Cookie": f"sid={COOKIE}"} if any(carried.values()) else {}
        return html(f"<p>recreational cycling at {host}{request.path}</p>{links}", **sets)


@pytest.fixture
def sites():
    web = Sites()
    with serving(web.answer) as (place, _):
        web.port = place.partition(":")[2]
        yield web


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


def everything_in(directory: Path) -> bytes:
    """All bytes of all files, compressed ones also as they are inside."""
    parts = []
    for path in directory.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            parts += [str(path).encode(), data, gzip.decompress(data) if path.suffix == ".gz" else b""]
    return b"\n".join(parts)


def test_secrets_reach_their_hosts_and_nothing_else(sites, tmp_path):
    logins = written(
        tmp_path / "logins.toml",
        f'["http://basic.test:{sites.port}"]\nuser = "ann"\npassword = "{PASSWORD}"\nheaders = {{ X-Key = "{KEY}" }}\n'
        f'["http://bearer.test:{sites.port}"]\ntoken = "{TOKEN}"\n'
        f'["http://wrong.test:{sites.port}"]\ncertificate = "{__file__}"\n'
        f'[proxy]\nuser = "ann"\npassword = "{OF_PROXY}"\n',
    )
    cookies = written(tmp_path / "cookies.txt", f"jar.test\tFALSE\t/\tFALSE\t0\tsid\t{COOKIE}\n")
    settings = tmp_path / "settings.toml"
    with proxy_in_a_thread(login=f"ann:{OF_PROXY}") as proxy:
        config = {
            "network": {"allow": ["127.0.0.0/8"], "resolve": {"*.test": "127.0.0.1"}},
            "politeness": {"delay": 0.0, "fetch_time_factor": 0.0},
            "readers": {"count": 1},
            "cache": str(tmp_path / "crawl" / "cache"),
        }
        settings.write_text(tomli_w.dumps(config))
        crawl = tmp_path / "crawl"
        run = lycosa(
            *("--debug", "crawl", "recreational cycling", "-s", f"http://basic.test:{sites.port}/", "-o", crawl),
            *("-c", settings, "--logins", logins, "--cookies", cookies, "--json", "--show", "all"),
            *("--proxy", f"http://127.0.0.1:{proxy.port}", "--strategy", "best-first"),
        )
        assert run.returncode == 0, run.stderr
        tunnels = len(proxy.asked)
    assert tunnels
    assert sites.seen == {
        "basic.test": {f"Basic {ENCODED[0]}", KEY},
        "bearer.test": {f"Bearer {TOKEN}"},
        "jar.test": {f"sid={COOKIE}"},
        "wrong.test": set(),
        "away.test": set(),
    }
    shown = [run.stdout, run.stderr]
    for words in (
        ["explain", crawl, f"http://basic.test:{sites.port}/", "--json"],
        ["explain", crawl, f"http://wrong.test:{sites.port}/"],
        ["status", crawl],
        ["sql", crawl, "select * from runs"],
        ["export", crawl, "--to", crawl / "pages.jsonl"],
    ):
        result = lycosa(*words)
        assert result.returncode == 0, result.stderr
        shown += [result.stdout, result.stderr]
    kept = everything_in(crawl)
    assert b"GET /" in kept  # request records are there
    assert f"jar.test:{sites.port}/".encode() in kept
    shared = everything_in(crawl / "cache")
    assert b"Host: away.test" in shared
    assert b"Host: jar.test" not in shared  # what came with a secret is not for others
    for secret in (*SECRETS, *ENCODED):
        assert secret.encode() not in kept, secret
        assert secret not in "".join(shown), secret


def test_a_site_that_asks_for_a_log_in_is_an_outcome_with_advice(sites, tmp_path):
    settings = tmp_path / "settings.toml"
    config = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": {"*.test": "127.0.0.1"}},
        "politeness": {"delay": 0.0},
    }
    settings.write_text(tomli_w.dumps(config))
    logins = written(tmp_path / "logins.toml", f'["http://elsewhere.test:{sites.port}"]\ntoken = "{TOKEN}"\n')
    seed = f"http://basic.test:{sites.port}/"
    run = lycosa(
        "crawl",
        "cycling",
        "-s",
        seed,
        "-o",
        tmp_path / "c",
        "-c",
        settings,
        "--logins",
        logins,
        "--strategy",
        "best-first",
    )
    assert run.returncode == 2
    assert "http 401 the site asks for a log-in" in run.stderr
    facts = dict(json.loads(lycosa("explain", tmp_path / "c", seed, "--json").stdout))
    assert any("http 401" in text and "access.logins" in text for text in facts.values())


def test_a_proxy_that_is_not_there_ends_the_crawl_with_a_reason(tmp_path):
    run = lycosa("crawl", "cycling", "-s", "http://192.0.32.8/", "-o", tmp_path / "c", "--proxy", "http://127.0.0.1:9")
    assert run.returncode == 2
    assert "the proxy cannot be used" in run.stderr
    assert "the same command goes on" in run.stderr


def test_a_file_that_others_can_read_is_refused_before_anything_is_made(tmp_path):
    logins = tmp_path / "logins.toml"
    logins.write_text(f'["site.test"]\ntoken = "{TOKEN}"')
    logins.chmod(0o644)
    run = lycosa("crawl", "cycling", "-s", "http://site.test/", "-o", tmp_path / "c", "--logins", logins)
    assert run.returncode == 2
    assert "chmod 600" in run.stderr
    assert not (tmp_path / "c" / "crawl.db").exists()


@pytest.mark.skipif(bool(why_no_browser()), reason=why_no_browser() or "there is a browser")
def test_what_scripts_ask_for_carries_the_log_in_of_its_own_host_alone(tmp_path):
    """A page that needs a browser, behind a log-in: its script fetches data from its own host and from another."""
    seen: dict[str, set[str]] = {}
    cors = {"Access-Control-Allow-Origin": "*"}

    def answer(request) -> Answer:
        host, _, port = request.headers["Host"].partition(":")
        given = request.headers.get("Authorization", "")
        seen.setdefault(f"{host}{request.path}", set()).add(given)
        if request.path == "/robots.txt":
            return Answer()
        if request.path == "/data":
            return Answer(200, "text/plain", f"recreational cycling at {host} " * 20, cors)
        if not given:
            return Answer(401, "text/html", "who are you?")
        script = f"""for (const host of ['basic.test', 'away.test'])
            fetch(`http://${{host}}:{port}/data`).then(got => got.text()).then(text => document.body.append(text));
            document.cookie = 'sid={COOKIE}'; localStorage.setItem('sid', '{COOKIE}');"""
        return html(
            f"<title>App</title><body><div id='root'></div><script>{script}</script>", **{"Set-Cookie": f"sid={COOKIE}"}
        )

    with serving(answer) as (place, _):
        port = place.partition(":")[2]
        logins = written(
            tmp_path / "logins.toml", f'["http://basic.test:{port}"]\nuser = "ann"\npassword = "{PASSWORD}"\n'
        )
        crawl = tmp_path / "crawl"
        settings = tmp_path / "settings.toml"
        config = {
            "network": {"allow": ["127.0.0.0/8"], "resolve": {"*.test": "127.0.0.1"}},
            "politeness": {"delay": 0.0, "fetch_time_factor": 0.0},
            "readers": {"count": 1},
        }
        settings.write_text(tomli_w.dumps(config))
        run = lycosa(
            *("--debug", "crawl", "recreational cycling", "-s", f"http://basic.test:{port}/", "-o", crawl),
            *("-c", settings, "--logins", logins, "--browser", "--strategy", "best-first", "--json", "--show", "all"),
        )
        assert run.returncode == 0, run.stderr
    assert seen["basic.test/data"] == {f"Basic {ENCODED[0]}"}
    assert seen["away.test/data"] == {""}
    kept = everything_in(crawl)
    assert b"recreational cycling at away.test" in kept  # the document as it was when its scripts had run
    for secret in (PASSWORD, ENCODED[0]):
        assert secret.encode() not in kept
        assert secret not in run.stdout + run.stderr
    assert f"Set-Cookie: sid={COOKIE}".lower().encode() not in kept.lower()
