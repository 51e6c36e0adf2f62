"""Search engines on loopback: each speaks a real interface over its own part of a few pages; or misbehaves.

with engines(Documents(pages)) as server:
    server.url("searxng")          # http://127.0.0.1:43121/searxng
    server.asked                   # (path, query, headers), in order
"""

from __future__ import annotations

import gzip
import json
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from lycosa.lab.replay.search import is_known
from lycosa.lib.text import stems

PORT = re.compile(r"(?<=[^/]):[0-9]+(?=/)")


class Answer(NamedTuple):
    status: int
    kind: str
    body: bytes
    headers: Mapping[str, str] = {}


class Documents:
    """BM25 over titles and texts, by URL; an engine knows the part of them that its name draws."""

    def __init__(self, pages: Mapping[str, tuple[str, str]], coverage: float = 1.0) -> None:
        self._pages = pages
        self._coverage = coverage
        self._counts = {url: Counter(stems(f"{title} {title} {text}")) for url, (title, text) in pages.items()}

    def known(self, engine: str) -> list[str]:
        """Whatever the port of the pages' server: the same part in each run."""
        return [url for url in self._pages if is_known(PORT.sub("", url, count=1), engine, 0, self._coverage)]

    def search(self, engine: str, query: str, count: int) -> list[tuple[str, str]]:
        """(url, title), the best first."""
        urls = self.known(engine)
        frequency = Counter(stem for url in urls for stem in self._counts[url])
        mean = sum(sum(self._counts[url].values()) for url in urls) / max(1, len(urls))
        scores = {}
        for url in urls:
            counts, length = self._counts[url], sum(self._counts[url].values())
            score = 0.0
            for stem in set(stems(query)):
                idf = math.log1p((len(urls) - frequency[stem] + 0.5) / (frequency[stem] + 0.5))
                score += idf * counts[stem] * 2.2 / (counts[stem] + 1.2 * (0.25 + 0.75 * length / mean))
            if score:
                scores[url] = score
        best = sorted(scores, key=lambda url: (-scores[url], url))[:count]
        return [(url, self._pages[url][0]) for url in best]


@dataclass
class EngineServer:
    documents: Documents
    port: int = 0
    asked: list[tuple[str, dict[str, list[str]], dict[str, str]]] = field(default_factory=list)
    special: dict[str, Callable[[], Answer]] = field(default_factory=dict)
    """Answers by path, before all others."""

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def paths(self) -> list[str]:
        return [path for path, _, _ in self.asked]

    def queries(self) -> list[str]:
        return [query["q"][0] for _, query, _ in self.asked if "q" in query]

    def answer(self, target: str, headers: dict[str, str]) -> Answer:
        parts = urlsplit(target)
        query = parse_qs(parts.query)
        self.asked.append((parts.path, query, headers))
        if parts.path in self.special:
            return self.special[parts.path]()
        name, _, rest = parts.path.strip("/").partition("/")
        speak = getattr(self, f"_{name.partition('-')[0]}", None)
        return speak(name, rest, query, headers) if speak else Answer(404, "text/plain", b"")

    def _found(self, name: str, query: dict[str, list[str]], count: int = 20) -> list[tuple[str, str]]:
        return self.documents.search(name, query.get("q", [""])[0], count)

    def _searxng(self, name: str, rest: str, query: dict[str, list[str]], headers: dict[str, str]) -> Answer:
        if rest != "search" or query.get("format") != ["json"]:
            return Answer(403, "text/html", b"<html>forbidden</html>")
        found = [{"url": url, "title": title, "engine": "x"} for url, title in self._found(name, query)]
        return _json({"query": query["q"][0], "results": found, "unresponsive_engines": []})

    def _brave(self, name: str, rest: str, query: dict[str, list[str]], headers: dict[str, str]) -> Answer:
        if headers.get("x-subscription-token") != "brave-secret-key":
            return _json({"type": "ErrorResponse"}, 401)
        found = [{"url": url, "title": title} for url, title in self._found(name, query)]
        return _json({"type": "search", **({"web": {"results": found}} if found else {})})

    def _mojeek(self, name: str, rest: str, query: dict[str, list[str]], headers: dict[str, str]) -> Answer:
        if query.get("api_key") != ["mojeek-secret-key"]:
            return _json({"response": {"status": "Unauthorised"}}, 403)
        found = [{"url": url, "title": title, "desc": "…"} for url, title in self._found(name, query)]
        return _json({"response": {"status": "OK", "results": found}})

    def _opensearch(self, name: str, rest: str, query: dict[str, list[str]], headers: dict[str, str]) -> Answer:
        form = {"rss": "application/rss+xml", "atom": "application/atom+xml", "json": "application/x-suggestions+json"}
        if rest.endswith("description.xml"):
            which = rest.partition("/")[0]
            template = escape(self.url(f"{name}/{which}?q={{searchTerms}}&n={{count?}}&c={{custom:thing?}}"))
            kind = form.get(which, "text/html")
            body = (
                '<?xml version="1.0"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
                f'<ShortName>x</ShortName><Url type="text/html" template="http://x.test/?q={{searchTerms}}"/>'
                f'<Url type="{kind}" template="{template}"/></OpenSearchDescription>'
            )
            return Answer(200, "application/opensearchdescription+xml", body.encode())
        found = [(escape(url), escape(title)) for url, title in self._found(name, query)]
        if rest == "rss":
            items = "".join(f"<item><title>{title}</title><link>{url}</link></item>" for url, title in found)
            body = f'<?xml version="1.0"?><rss version="2.0"><channel><title>x</title>{items}</channel></rss>'
        elif rest == "atom":
            items = "".join(f'<entry><title>{title}</title><link href="{url}"/></entry>' for url, title in found)
            body = f'<feed xmlns="http://www.w3.org/2005/Atom">{items}</feed>'
        else:
            raw = self._found(name, query)
            return _json([query["q"][0], [title for _, title in raw], ["" for _ in raw], [url for url, _ in raw]])
        return Answer(200, form[rest], body.encode())

    def _cdx(self, name: str, rest: str, query: dict[str, list[str]], headers: dict[str, str]) -> Answer:
        host = query["url"][0].partition("/")[0]
        found = [url for url in self.documents.known(name) if urlsplit(url).netloc == host]
        if not found:
            return _json({"message": "No Captures found"}, 404)
        return Answer(200, "text/x-ndjson", "\n".join(json.dumps({"url": url}) for url in found).encode())


def _json(value: object, status: int = 200) -> Answer:
    return Answer(status, "application/json", json.dumps(value).encode())


@cache
def _bomb() -> bytes:
    return gzip.compress(b'{"results": "' + b"a" * 15_000_000 + b'"}')


def misbehaviour() -> dict[str, Callable[[], Answer]]:
    """Whatever an engine may do, by path; asked as a SearXNG at that path."""

    def slow() -> Answer:
        time.sleep(6)
        return _json({"results": []})

    bomb = _bomb()
    return {
        "/garbage/search": lambda: Answer(200, "application/json", b"\x00\xff<<<not json"),
        "/nested/search": lambda: Answer(200, "application/json", b"[" * 200_000),
        "/number/search": lambda: Answer(200, "application/json", b'{"results": 5}'),
        "/empty/search": lambda: Answer(200, "application/json", b""),
        "/nothing/search": lambda: _json({"results": []}),
        "/captcha/search": lambda: Answer(200, "text/html", b"<html>Please solve this CAPTCHA</html>"),
        "/forbidden/search": lambda: Answer(403, "text/html", b"<html>no</html>"),
        "/moved/search": lambda: Answer(302, "text/html", b"", {"location": "https://consent.example/x?q=1"}),
        "/tocaptcha/search": lambda: Answer(302, "text/html", b"", {"location": "/sorry/captcha?continue=x"}),
        "/quota/search": lambda: Answer(429, "text/plain", b"", {"retry-after": "7200"}),
        "/down/search": lambda: Answer(503, "text/plain", b""),
        "/large/search": lambda: Answer(200, "application/json", b'{"results": "' + b"a" * 10_000_000 + b'"}'),
        "/bomb/search": lambda: Answer(200, "application/json", bomb, {"content-encoding": "gzip"}),
        "/slow/search": slow,
        "/hostile/search": lambda: _json(
            {
                "results": [
                    {"url": "javascript:alert(1)", "title": "x"},
                    {"url": "http://user:pw@h.test/", "title": "x"},
                    {"url": "file:///etc/passwd"},
                    {"url": "http://h.test/" + "a" * 9000},
                    {"url": 7},
                    "x",
                    None,
                    {},
                    {"url": "http://169.254.169.254/latest", "title": "\x1b[31mred\u202e"},
                ]
            }
        ),
    }


@contextmanager
def engines(documents: Documents) -> Iterator[EngineServer]:
    server = EngineServer(documents)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, kind, body, more = server.answer(self.path, headers)
            try:
                self.send_response(status)
                for name, value in {"content-type": kind, "content-length": str(len(body)), **more}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
            except OSError:  # the client has had enough
                pass

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.port = listening.server_port
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
