"""Which engines are asked, and how often."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lycosa.errors import ConfigError
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.nearest import did_you_mean

KINDS: Mapping[str, str] = {
    "searxng": "https://searx.example.org",
    "opensearch": "https://example.org/opensearch.xml",
    "brave": "",
    "mojeek": "",
    "json": "https://example.org/api?q={query}&n={count}",
    "cdx": "https://index.commoncrawl.org/CC-MAIN-2025-05-index",
    "sitemaps": "",
    "workspace": "",
}
"""Kinds of engine, each with a URL as it may be given; empty: it needs none."""
NEEDS_KEY = ("brave", "mojeek")
HOW_TO = (
    "give --engine searxng=https://searx.example.org, or write into lycosa.toml, or into a file for --config or "
    'LYCOSA_CONFIG: metasearch.engines = [{kind = "searxng", url = "https://searx.example.org"}, {kind = "brave", '
    'key_env = "BRAVE_KEY"}]; docs/metasearch.md lists all kinds'
)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """One engine."""

    kind: str
    """searxng, opensearch, brave, mojeek, json, cdx, sitemaps or workspace."""
    name: str = ""
    """What it is called in reports; empty: its kind."""
    url: str = ""
    """Where it is: SearXNG's base URL, the OpenSearch description, the address of a JSON API with {query}, {count} and
    {key}, or a CDX index. brave and mojeek know theirs."""
    key_env: str = ""
    """Name of the environment variable that holds the key. The key itself is never written down."""
    key_header: str = ""
    """json: the header that carries the key, such as X-Api-Key."""
    results: str = ""
    """json: where in the answer the list of results is: web.results."""
    url_field: str = "url"
    """json: the name of the URL in each result."""
    title_field: str = "title"
    """json: the name of the title in each result."""
    directory: str = ""
    """workspace: the directory of another crawl, whose pages are searched."""
    delay: float = 2.0
    """Minimum number of seconds between two requests to it."""
    daily: int = 0
    """Maximum number of requests to it a day (UTC); 0 means no limit."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(
                f"metasearch.engines: there is no kind {self.kind!r}: {did_you_mean(self.kind, KINDS)}"
                f"known are {', '.join(KINDS)}"
            )
        require_at_least(self, f"metasearch engine {self.label}", delay=0, daily=0)
        if not self.url and KINDS[self.kind]:
            raise ConfigError(f'metasearch engine {self.label}: it needs a url, such as "{KINDS[self.kind]}"')
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ConfigError(f"metasearch engine {self.label}: its url must begin with https:// or http://")
        if self.url and "@" in self.url.split("/")[2]:
            raise ConfigError(f"metasearch engine {self.label}: its url must have no user name or password")
        if self.kind == "json" and ("{query}" not in self.url or not self.results):
            raise ConfigError(
                f"metasearch engine {self.label}: its url must have {{query}} where the words go, and results must "
                "say where the list is in the answer: web.results"
            )
        if self.key_env and not _VARIABLE.fullmatch(self.key_env):  # which may be the key itself: it is not shown
            raise ConfigError(
                f"metasearch engine {self.label}: key_env must be the name of an environment variable, such as "
                "BRAVE_KEY, not the key itself"
            )
        if self.kind in NEEDS_KEY and not self.key_env:
            raise ConfigError(
                f"metasearch engine {self.label}: key_env must name the environment variable that holds its key, such "
                f"as {self.kind.upper()}_KEY"
            )
        if self.kind == "workspace" and not self.directory:
            raise ConfigError(f"metasearch engine {self.label}: directory must name the directory of another crawl")

    @property
    def label(self) -> str:
        return self.name or self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaSearchSettings:
    """Search engines that are asked for pages: at the start, every so many pages, and when the crawl has run dry."""

    is_on: bool = False
    """Ask search engines (`lycosa crawl --metasearch`). A crawl for words then needs no seeds."""
    engines: tuple[EngineSettings, ...] = ()
    """The engines, each a table [[metasearch.engines]] with kind, url, key_env, …: docs/metasearch.md lists them."""
    every: int = 100
    """Number of pages after which engines are asked again; 0: only at the start and when nothing else is left."""
    results: int = 10
    """Maximum number of pages that a round of searching adds to the frontier: the best of all engines together."""
    queries: int = 2
    """Maximum number of queries in a round; the first round has one, the topic's words."""
    depth: int = 20
    """Number of results asked of each engine."""
    dry_pages: int = 50
    """Ask at once when this many pages in a row were not relevant; 0: never for that reason."""
    timeout: float = 10.0
    """Seconds that an engine may take to answer."""
    allow: tuple[str, ...] = ()
    """Networks in which engines may be contacted although they are private or loopback: 127.0.0.1/32 for a SearXNG on
    this machine. Pages may not be fetched from there: see network.allow."""

    def __post_init__(self) -> None:
        require_at_least(self, "metasearch", every=0, results=1, queries=1, depth=1, dry_pages=0)
        require_above_zero(self, "metasearch", "timeout")
        names = [engine.label for engine in self.engines]
        twice = next((name for name in names if names.count(name) > 1), "")
        if twice:
            raise ConfigError(f"metasearch.engines: two are called {twice!r}; give one of them another name")

    def require_engines(self) -> None:
        if not self.engines:
            raise ConfigError(f"no search engine is configured: {HOW_TO}")


def engine_option(text: str) -> dict[str, str]:
    """`searxng=https://searx.example.org` or `sitemaps`, as on the command line."""
    kind, _, where = text.partition("=")
    place = "directory" if kind == "workspace" else "key_env" if kind in NEEDS_KEY else "url"
    return {"kind": kind, place: where} if where else {"kind": kind}
