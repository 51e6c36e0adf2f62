"""What a site asks of crawlers: robots.txt after RFC 9309.

Nothing here fetches. `interpret` turns the answer to a request for /robots.txt into a `RobotsFile`, a plain value
that can be stored; `Robots` reads one, when it is first asked, and gives verdicts.

What an answer means (RFC 9309, 2.3.1), and where we are stricter than we would have to be:

    2xx                         its rules hold for 24 hours (Cache-Control is not looked at)
    4xx but 429                 there are no rules: everything may be fetched, for 24 hours
    429, 5xx, 3xx, no answer    nothing may be fetched for now; asked again after 5 minutes, then 10, 20, … 6 hours.
                                Rules that were known before go on to hold, for at most 30 days

A redirect that leads nowhere within five hops counts as no answer: the RFC would let us take it for a 404.

The group for us is found by product token (2.2.1), and protego, given the rules of this group alone, says what they
allow (2.2.2). As it does not say by which rule, that is looked up here among the rules of the deciding kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

from protego import Protego

from lycosa.errors import ConfigError
from lycosa.fetch.url_patterns import Glob, escape_invisible

MAX_PATTERN = 2000
"""Characters of a rule. A longer Disallow is cut, so that it covers more; a longer Allow is dropped."""
MAX_SHOWN = 200
"""Characters of a rule in a verdict."""
MAX_SITEMAPS = 100
MAX_SITEMAP_URL = 2000

DIRECTIVES = {
    "user-agent": "User-agent",
    "useragent": "User-agent",
    "user agent": "User-agent",
    "allow": "Allow",
    "disallow": "Disallow",
    "dissallow": "Disallow",
    "dissalow": "Disallow",
    "disalow": "Disallow",
    "diasllow": "Disallow",
    "disallaw": "Disallow",
    "crawl-delay": "Crawl-delay",
    "crawl delay": "Crawl-delay",
    "crawldelay": "Crawl-delay",
    "sitemap": "Sitemap",
    "site-map": "Sitemap",
}
"""Also the misspellings that Google's parser takes for what they mean."""

_TOKEN = re.compile(r"[A-Za-z_-]+")
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}", re.ASCII)
_KEPT_ESCAPE = re.compile(r"%(25|2[Ff])")


class RobotsState(StrEnum):
    RULES = "rules"
    ALLOW_ALL = "allow-all"
    DISALLOW_ALL = "disallow-all"


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsSettings:
    """How robots.txt is read, and how long what it says is believed."""

    product_token: str = "lycosa"  # noqa: S105 — a name that is sent to everybody, no secret
    """The name by which robots.txt files address us."""
    max_bytes: int = 500 * 1024
    """What comes after is not read; the RFC asks for at least so much."""
    max_wildcard_rules: int = 5000
    """A site with more rules that have a `*` in them is left alone: each costs time with every URL. (Plain ones
    cost next to nothing.)"""
    lifetime: float = 86_400.0
    """Seconds until it is asked for again."""
    first_retry: float = 300.0
    """Seconds until it is asked for again after a failure; doubled with each further one."""
    max_retry: float = 21_600.0
    """The longest of these waits."""
    max_stale: float = 30 * 86_400.0
    """Rules older than this are no longer used when robots.txt cannot be reached."""

    def __post_init__(self) -> None:
        if not _TOKEN.fullmatch(self.product_token):
            raise ConfigError(
                f"robots.product_token is {self.product_token!r}: it must consist of letters, '-' and '_'"
            )
        for name in ("max_bytes", "max_wildcard_rules", "lifetime", "first_retry", "max_retry", "max_stale"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"robots.{name} is {getattr(self, name)}: it must be more than 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsFile:
    """What is known of one origin's robots.txt. All plain values: it is stored as it stands."""

    origin: str
    state: RobotsState
    fetched_at: float
    """When we got what holds now: older than the last request where old rules go on to hold."""
    expires_at: float
    """From then on it is to be asked for again."""
    status: int = 0
    """The HTTP status of the last answer; 0: there was none."""
    failure: str = ""
    """Why there was no answer, or none to use."""
    body: str = ""
    failures: int = 0
    """How often in a row it could not be had."""


class Verdict(NamedTuple):
    allowed: bool
    rule: str
    """What decided: `Disallow: /private (User-agent: *)`, `no rule`, `robots.txt unreachable: http 503, …`."""
    retry_at: float = 0.0
    """When robots.txt will be asked for again, if that is why the answer is no; else 0."""


def interpret(
    *,
    origin: str,
    status: int | None,
    body: bytes,
    now: float,
    failure: str = "",
    previous: RobotsFile | None = None,
    policy: RobotsSettings,
) -> RobotsFile:
    """What the answer to a request for `origin`/robots.txt means. A `failure` outweighs the status."""
    code = status or 0
    if not failure and 200 <= code < 300:
        return RobotsFile(
            origin=origin,
            state=RobotsState.RULES,
            fetched_at=now,
            expires_at=now + policy.lifetime,
            status=code,
            body=_decode(body, policy.max_bytes),
        )
    if not failure and 400 <= code < 500 and code != 429:
        return RobotsFile(
            origin=origin,
            state=RobotsState.ALLOW_ALL,
            fetched_at=now,
            expires_at=now + policy.lifetime,
            status=code,
        )
    failures = previous.failures + 1 if previous else 1
    wait = min(policy.max_retry, policy.first_retry * 2.0 ** min(failures - 1, 30))
    is_usable = (
        previous is not None and previous.state == RobotsState.RULES and now - previous.fetched_at <= policy.max_stale
    )
    old = previous if is_usable else None
    return RobotsFile(
        origin=origin,
        state=RobotsState.RULES if old else RobotsState.DISALLOW_ALL,
        fetched_at=old.fetched_at if old else now,
        expires_at=now + wait,
        status=code,
        failure=failure,
        body=old.body if old else "",
        failures=failures,
    )


def _decode(body: bytes, max_bytes: int) -> str:
    if len(body) >= max_bytes:  # cut, by us or on the way; half an Allow would allow more
        cut = max(body.rfind(b"\n", 0, max_bytes), body.rfind(b"\r", 0, max_bytes))
        body = body[: cut + 1]
    encoding = "utf-16" if body.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    # NUL has no place in a database's text
    return body.decode(encoding, "replace").replace("\x00", "")


class Robots:
    """A robots.txt that can be asked. Reading waits for the first question, so holding many is cheap."""

    def __init__(self, file: RobotsFile, policy: RobotsSettings) -> None:
        self.file = file
        self._policy = policy

    def verdict(self, url: str) -> Verdict:
        """May this canonical URL, of the file's origin, be fetched?"""
        file = self.file
        path = url[_path_start(url) :] or "/"
        if path.partition("?")[0] == "/robots.txt":
            return Verdict(True, "robots.txt itself")
        if file.state == RobotsState.ALLOW_ALL:
            return Verdict(True, f"no robots.txt (http {file.status})")
        if file.state == RobotsState.DISALLOW_ALL:
            again = datetime.fromtimestamp(file.expires_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            why = file.failure or (f"http {file.status}" if file.status else "no answer")
            return Verdict(False, f"robots.txt unreachable: {why}, asked again at {again}", file.expires_at)
        if self._wildcard_rules > self._policy.max_wildcard_rules:
            return Verdict(False, f"robots.txt has {self._wildcard_rules:,} rules with wildcards, too many to match")
        # The host plays no part, and is left out: urlsplit may choke on one.
        allowed = bool(self._protego.can_fetch(f"https://host{path}", "*"))
        return Verdict(allowed, self._rule_for(path, "Allow" if allowed else "Disallow"))

    @property
    def crawl_delay(self) -> float | None:
        """Seconds the site asks us to leave between two requests; None if it does not ask."""
        return self._group.crawl_delay

    @property
    def sitemaps(self) -> tuple[str, ...]:
        return self._group.sitemaps

    @cached_property
    def _group(self) -> _Group:
        return _read(self.file.body, self._policy.product_token)

    @cached_property
    def _wildcard_rules(self) -> int:
        return sum("*" in pattern for _, pattern in self._group.rules)

    @cached_property
    def _protego(self) -> Protego:
        return Protego.parse("\n".join(["User-agent: *", *(f"{kind}: {path}" for kind, path in self._group.rules)]))

    @cached_property
    def _globs(self) -> dict[str, list[tuple[Glob, str]]]:
        """By kind, longest first: the order in which rules decide."""
        globs: dict[str, list[tuple[Glob, str]]] = {"Allow": [], "Disallow": []}
        for kind, pattern in sorted(self._group.rules, key=lambda rule: -len(rule[1])):
            globs[kind].append((_glob(pattern), pattern))
            if kind == "Allow" and pattern.endswith("/index.html"):  # protego: the directory is allowed, too
                globs[kind].append((_glob(pattern.removesuffix("index.html") + "$"), pattern))
        return globs

    def _rule_for(self, path: str, kind: str) -> str:
        text = _decode_escapes(path)
        for glob, pattern in self._globs[kind]:
            if glob.matches(text):
                return f"{kind}: {pattern[:MAX_SHOWN]} (User-agent: {self._group.agent})"
        return "no rule" if kind == "Allow" else f"a rule for User-agent: {self._group.agent}"


@dataclass(slots=True)
class _Group:
    """What the file says to one crawler, whatever number of groups it stands in."""

    agent: str = ""
    """As the file writes it; empty: there is no such group."""
    rules: dict[tuple[str, str], None] = field(default_factory=dict)
    """Kind and pattern, each once, in order."""
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()


def _read(text: str, product_token: str) -> _Group:
    own, everybody = _Group(), _Group()
    addressed: list[_Group] = []
    sitemaps: dict[str, None] = {}
    is_naming = False
    for line in text.replace("\r", "\n").split("\n"):
        name, value = _directive(line)
        if name == "User-agent":
            if not is_naming:
                addressed = []
            is_naming = True
            token = _TOKEN.match(value)
            if token and token[0].lower() == product_token.lower():
                own.agent = own.agent or value[:MAX_SHOWN]
                addressed.append(own)
            elif value.split(maxsplit=1)[:1] == ["*"]:
                everybody.agent = "*"
                addressed.append(everybody)
        elif name == "Sitemap":
            is_web = value[:8].lower().startswith(("http://", "https://"))
            if is_web and len(value) <= MAX_SITEMAP_URL and len(sitemaps) < MAX_SITEMAPS:
                sitemaps[value] = None
        elif name:
            is_naming = False
            for group in addressed:
                _add(group, name, value)
    chosen = own if own.agent else everybody
    chosen.sitemaps = tuple(sitemaps)
    return chosen


def _directive(line: str) -> tuple[str, str]:
    """Name and value of a line; an empty name if it is none we know. A missing colon is forgiven."""
    line = line.partition("#")[0].strip()
    name, _, value = line.partition(":")
    known = DIRECTIVES.get(name.strip().lower())
    if not known:
        name, _, value = line.partition(" ")
        known = DIRECTIVES.get(name.lower())
    return (known, value.strip()) if known else ("", "")


def _add(group: _Group, name: str, value: str) -> None:
    if name == "Crawl-delay":
        if _NUMBER.fullmatch(value):
            group.crawl_delay = max(group.crawl_delay or 0.0, float(value))
        return
    pattern = escape_invisible(value)  # protego takes some characters beyond ASCII for line ends
    if len(pattern) > MAX_PATTERN:
        if name == "Allow":
            return
        pattern = pattern[: pattern.rfind("/", 0, MAX_PATTERN) + 1] or "/"
    if pattern:
        group.rules[name, pattern] = None


def _path_start(url: str) -> int:
    start = url.find("://") + 3
    slash = url.find("/", start)
    return len(url) if slash < 0 else slash


def _glob(pattern: str) -> Glob:
    """The pattern as a glob over decoded paths. A rule without `$` at its end holds for all that begins so."""
    anchored = pattern.removesuffix("$") if pattern.endswith("$") else f"{pattern}*"
    # split first: a * that comes out of %2A is a plain character
    return Glob(*map(_decode_escapes, anchored.split("*")))


def _decode_escapes(text: str) -> str:
    """Without percent-escapes, so that all spellings are equal; %2F and %25 mean something else than / and %."""
    return unquote(_KEPT_ESCAPE.sub(lambda escape: f"%25{escape[1].upper()}", text))
