"""Parsers of what others have written. A target takes bytes; any exception it lets through is a finding."""

from __future__ import annotations

import gzip
import hashlib
import struct
import tempfile
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lycosa.config import build
from lycosa.crawl.answers_file import read_answers
from lycosa.crawl.reader_answers import BadAnswerError, pack, unpack
from lycosa.crawl.reading import Reading, read_response
from lycosa.crawl.traps import Traps, TrapSettings
from lycosa.errors import LycosaError
from lycosa.fetch.cookie_file import CookieFile
from lycosa.fetch.decode import DecodeLimits, decode
from lycosa.fetch.headers import redirect_location, retry_after
from lycosa.fetch.logins import read_logins
from lycosa.fetch.registrable import registrable_domain
from lycosa.fetch.robots import Robots, RobotsSettings, interpret
from lycosa.fetch.transfer import _parse_headers, _parse_status
from lycosa.fetch.urls import UrlRules, Urls, checked_seed, host_key, url_hash
from lycosa.fetch.warc_reader import Damage, iterate
from lycosa.judges.formula import parse as parse_formula
from lycosa.judges.keywords import KeywordJudge
from lycosa.judges.taxonomy_file import from_toml
from lycosa.lib.snapshot import Damaged
from lycosa.lib.snapshot import read as read_snapshot
from lycosa.model import Kind, Response
from lycosa.seeds.bookmarks import read_bookmarks
from lycosa.seeds.files import read_seeds

Target = Callable[[bytes], object]
URLS = Urls(UrlRules())
READING = Reading(urls=URLS, judge=KeywordJudge("recreational cycling"))
FILE = Path(tempfile.gettempdir()) / f"lycosa-fuzz-{hashlib.sha256(__file__.encode()).hexdigest()[:8]}"
POLICY = RobotsSettings()
ANSWER = read_response(
    Response("http://a.test/", 200, [("content-type", "text/html")], b"<title>A</title><p>cycling <a href=/b>b</a>"),
    READING,
)


def _file(data: bytes) -> Path:
    FILE.write_bytes(data)
    return FILE


def urls(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    url, _ = URLS.canonical(text)
    if url:
        again, _ = URLS.canonical(url)
        assert again == url, "canonical is not canonical"
        host_key(url), url_hash(url), registrable_domain(host_key(url))
    with suppress(LycosaError):
        checked_seed(text)


def robots(data: bytes) -> None:
    file = interpret("http://a.test", 200, data, now=0.0, policy=POLICY)
    rules = Robots(file, POLICY)
    for path in ("/", "/private/x?y=1", "/%2F%61"):
        assert isinstance(rules.verdict(f"http://a.test{path}").allowed, bool)
    assert (rules.crawl_delay or 0.0) >= 0.0
    assert "\x00" not in file.body


def page(data: bytes) -> None:
    kind, _, body = data.partition(b"\n")
    headers = [("content-type", kind[:200].decode("latin-1"))]
    read = read_response(Response("http://a.test/x", 200, headers, body), READING)
    back = unpack(memoryview(pack(read, whole_pages=True)))
    assert back.outcome == read.outcome
    if read.page is None:  # a list that is broken, or a document that is elsewhere
        assert read.outcome.kind is not Kind.FETCHED
        return
    assert all(host_key(link.url) for link in read.page.links)
    assert back.page == read.page


def reader_answers(data: bytes) -> None:
    """What a reader that was taken over may send; behind a head that is right, so that the rest is reached."""
    with suppress(BadAnswerError):
        unpack(memoryview(data))
    with suppress(BadAnswerError):
        unpack(memoryview(struct.pack("=I", len(data)) + data))


def encodings(data: bytes) -> None:
    name, _, body = data.partition(b"\n")
    limits = DecodeLimits(max_bytes=100_000, ratio_floor=10_000)
    assert len(decode(body, name[:100].decode("latin-1"), limits=limits).body) <= 100_000


def heads(data: bytes) -> None:
    lines = [line + b"\r\n" for line in data.split(b"\n")]
    _parse_status(lines)
    response = Response("http://a.test/x", 302, _parse_headers(lines[1:]), b"")
    URLS.canonical(redirect_location(response))
    assert retry_after(response.header("retry-after"), now=1e9) >= 0.0


def warc(data: bytes) -> None:
    with suppress(LycosaError):
        for response in iterate(_file(data), damage=Damage()):
            read_response(response, READING)


def bookmarks(data: bytes) -> None:
    with suppress(LycosaError):
        read_bookmarks(_file(data), parse=checked_seed)


def seeds(data: bytes) -> None:
    for read in (read_seeds, read_answers):
        with suppress(LycosaError):
            read(_file(data), parse=checked_seed)


def formula(data: bytes) -> None:
    try:
        parsed = parse_formula(data.decode("utf-8", "replace"))
    except LycosaError:
        return
    assert str(parse_formula(str(parsed))) == str(parsed)


def taxonomy(data: bytes) -> None:
    with suppress(LycosaError):
        from_toml(data.decode("utf-8", "replace"))


def settings(data: bytes) -> None:
    with suppress(LycosaError, tomllib.TOMLDecodeError, RecursionError):
        build(("fuzz", tomllib.loads(data.decode("utf-8", "replace"))))


def secrets(data: bytes) -> None:
    """Files of log-ins and of cookies: a mistake in them is an error that does not quote them."""
    path = _file(data)
    path.chmod(0o600)
    with suppress(LycosaError, RecursionError):
        read_logins(path)
    with suppress(LycosaError):
        CookieFile(path, now=0.0).line_for("http://a.test/x", "a.test")


def snapshot(data: bytes) -> None:
    with suppress(Damaged):
        read_snapshot(_file(data), hashlib.sha256(data).hexdigest())


def stored_state(data: bytes) -> None:
    """What a crawl keeps as bytes between runs, and anybody may have edited."""
    Traps.restored(data, TrapSettings())


TARGETS: dict[str, Target] = {
    each.__name__: each
    for each in (
        urls, robots, page, reader_answers, encodings, heads, warc, bookmarks, seeds, formula, taxonomy, settings,
        secrets, snapshot, stored_state,
    )
}  # fmt: skip

SEEDS: dict[str, tuple[bytes, ...]] = {
    "urls": (b"http://a.test/x?y=1#z", "http://bücher.test/ü/../%zz".encode(), b"//[::1]:80/\\x", b"http://0x7f.1/"),
    "robots": (b"User-agent: *\nDisallow: /private\nAllow: /*.html$\nCrawl-delay: 10\nSitemap: http://a.test/s.xml\n",),
    "page": (
        b"text/html; charset=utf-8\n<html lang=en><title>A</title><nav>m</nav><p>text <a href='/b' rel=nofollow>b</a>",
        b"text/plain\nplain\ttext",
        b"application/rss+xml\n<rss><channel><item><title>A &amp; b</title><link>http://a.test/1</link></item></rss>",
        b"text/xml\n<feed xmlns='x'><entry><link rel='alternate' href='/2'/><updated>2026</updated></entry></feed>",
        b"application/xml\n<urlset><url><loc>http://a.test/3</loc><news><title>t</title></news></url></urlset>",
        b'application/feed+json\n{"items": [{"url": "http://a.test/4", "title": "x", "date_modified": "2026"}]}',
        b"application/gzip\n" + gzip.compress(b"<sitemapindex><sitemap><loc>/a.gz</loc></sitemap></sitemapindex>"),
        b"text/html\n<html amp><meta http-equiv=refresh content='0;url=/b'><link rel='next' hreflang=de href=/c>",
        b"text/html\n<meta charset=shift_jis><base href=//b.test/><p>\x93\xfa\x96\x7b<a href=?x>y</a><table><tr><td>z",
    ),
    "encodings": (b"gzip\n" + gzip.compress(b"abc" * 50), b"br\n\x0b\x02\x80abc\x03", b"deflate, gzip\nabc"),
    "reader_answers": (pack(ANSWER, whole_pages=True), pack(ANSWER, whole_pages=False)[4:]),
    "heads": (b"HTTP/1.1 302 Found\nLocation: /caf\xc3\xa9\nRetry-After: 120\n folded: x\n",),
    "warc": (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
        b"Content-Type: application/http\r\nContent-Length: 44\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nx\r\n\r\n",
    ),
    "bookmarks": (
        b"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>F</H3><DL><DT><A HREF='http://a.test/'>A</A></DL></DL>",
        b"http://a.test/ title\n",
    ),
    "seeds": (b"# c\nhttp://a.test/\nexample.org yes\n",),
    "formula": (b"tourism AND (Ruegen OR Usedom) AND NOT camping", b'2*"a b" OR NOT (x/y)'),
    "taxonomy": (b'[[topics]]\nname = "a"\n[topics.words]\nx = 1.5\n', b'[a.b]\nwords = ["x"]\n'),
    "settings": (
        b'topic = "x"\n[politeness]\ndelay = 1.5\n[network]\nresolve = {"a" = "127.0.0.1"}\n',
        b"seed = 99999999999999999999\n",
    ),
    "secrets": (
        b'["a.test"]\nuser = "u"\npassword = "p"\nheaders = { X-Key = "k" }\n[proxy]\ntoken = "t"\n',
        b"# Netscape HTTP Cookie File\n#HttpOnly_a.test\tTRUE\t/\tFALSE\t0\tname\tvalue\n",
    ),
    "snapshot": (b"tree of arrays 1\n" + struct.pack("<Q", 30) + b'{"values": {}, "arrays": []}  ',),
    "stored_state": (b'{"places": {"a.test": [1, 0.5, 0.5, 1, 0]}, "traps": {"b.test": "trap: x"}}',),
}
"""Where the corpus begins."""
