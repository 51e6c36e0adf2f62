"""What a site asks of crawlers: robots.txt according to RFC 9309.

Nothing here fetches. `interpret` turns the answer to a request for /robots.txt into a `RobotsFile`, a plain value that
can be stored; `Robots` parses one on first use and gives verdicts.

How answers are interpreted (RFC 9309, 2.3.1), in part more strictly than required:

    2xx                         the rules apply for 24 hours (Cache-Control is ignored)
    4xx except 429              there are no rules: everything may be fetched, for 24 hours
    429, 5xx, 3xx, no answer    nothing may be fetched for now; retried after 5 minutes, then 10, 20, … 6 hours,
                                or as late as Retry-After says, up to a day.
                                Rules fetched earlier continue to apply, for at most 30 days

A redirect that leads nowhere within five hops counts as no answer: the RFC would allow us to treat it as a 404.

Content-Signal and Content-Usage say what the pages of a group may be used for (`lycosa.usage`), some only for a path.
Of several rules that speak of a use, the one with the longest path decides, as with Allow and Disallow. What must not
be collected for our purpose is not fetched.

Our group is found by product token (2.2.1), and protego, given the rules of that group alone, decides what they allow
(2.2.2). Since it does not say which rule decided, that is looked up here among the Allow or the Disallow rules.
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
from lycosa.fetch.urls import origin
from lycosa.lib.bounds import require_above_zero
from lycosa.usage import AI_INPUT, AI_TRAIN, PURPOSES, SEARCH, Saying, Usage, forbids, read_statement, say

MAX_PATTERN = 2000
"""Maximum length of a rule. A longer Disallow is cut, which makes it cover more; a longer Allow is dropped."""
MAX_SHOWN = 200
MAX_SITEMAPS = 100
MAX_SITEMAP_URL = 2000
MAX_USAGE_PATHS = 500
"""Maximum number of paths about whose use something is said. What else is forbidden is forbidden for the whole site."""

_SPELLINGS = {
    "User-agent": ("user-agent", "useragent", "user agent"),
    "Allow": ("allow",),
    "Disallow": ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"),
    "Crawl-delay": ("crawl-delay", "crawl delay", "crawldelay"),
    "Sitemap": ("sitemap", "site-map"),
    "Content-Signal": ("content-signal",),
    "Content-Usage": ("content-usage",),
}
DIRECTIVES = {spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings}
"""Including the misspellings that Google's parser accepts."""

_TOKEN = re.compile(r"[A-Za-z_-]+")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", re.ASCII)
_MOST_SECONDS = 1e9
"""Longer delays are all the same: nobody waits for 30 years."""
_KEPT_ESCAPE = re.compile(r"%(25|2[Ff])")


class RobotsState(StrEnum):
    RULES = "rules"
    ALLOW_ALL = "allow-all"
    DISALLOW_ALL = "disallow-all"


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsSettings:
    """What robots.txt and pages ask of crawlers: how it is read, and how long it applies."""

    product_token: str = "lycosa"  # noqa: S105 — a public name, not a secret
    """Name by which robots.txt files address us."""
    purpose: str = SEARCH
    """What you want the pages for: search (to find and read them), ai-input (to give them to an AI model) or ai-train
    (to train one). Pages whose owners say no to this use are not fetched, or not kept (docs/access.md)."""
    max_bytes: int = 500 * 1024
    """Number of bytes that are read; the default is the minimum that the RFC requires."""
    max_wildcard_rules: int = 5000
    """Maximum number of rules with a `*`, which cost time for every URL; a site with more is not crawled. Other rules
    cost next to nothing."""
    lifetime: float = 86_400.0
    """Seconds until robots.txt is fetched again."""
    first_retry: float = 300.0
    """Seconds until it is fetched again after a failure; doubled with each further failure."""
    max_retry: float = 21_600.0
    """Maximum number of seconds to which this wait grows."""
    max_stale: float = 30 * 86_400.0
    """Age in seconds up to which earlier rules apply while robots.txt is unreachable."""

    def __post_init__(self) -> None:
        if not _TOKEN.fullmatch(self.product_token):
            raise ConfigError(
                f"robots.product_token is {self.product_token!r}: it must consist of letters, '-' and '_'"
            )
        if self.purpose not in PURPOSES:
            raise ConfigError(f"robots.purpose is {self.purpose!r}: it must be {SEARCH}, {AI_INPUT} or {AI_TRAIN}")
        require_above_zero(self, "robots", "max_bytes", "max_wildcard_rules", "lifetime")
        require_above_zero(self, "robots", "first_retry", "max_retry", "max_stale")


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsFile:
    """What is known about the robots.txt of one origin, in plain values that can be stored."""

    origin: str
    state: RobotsState
    fetched_at: float
    """When the current rules were fetched: before the last request, if old rules continue to apply."""
    expires_at: float
    """When it must be fetched again."""
    status: int = 0
    """HTTP status of the last answer; 0 if there was none."""
    failure: str = ""
    """Why there was no usable answer."""
    body: str = ""
    failures: int = 0


class Verdict(NamedTuple):
    allowed: bool
    rule: str
    """The reason: `Disallow: /private (User-agent: *)`, `no rule`, `robots.txt unreachable: http 503, …`."""


def interpret(
    origin: str,
    status: int | None,
    body: bytes,
    *,
    now: float,
    failure: str = "",
    retry_after: float = 0.0,
    previous: RobotsFile | None = None,
    policy: RobotsSettings,
) -> RobotsFile:
    """Interpret the answer to a request for `origin`/robots.txt. A `failure` takes precedence over the status.

    `retry_after`: seconds for which the server asked us to stay away; after a failure, up to `lifetime`.
    """
    code = status or 0
    has_rules = 200 <= code < 300
    if not failure and (has_rules or (400 <= code < 500 and code != 429)):
        return RobotsFile(
            origin=origin,
            state=RobotsState.RULES if has_rules else RobotsState.ALLOW_ALL,
            fetched_at=now,
            expires_at=now + policy.lifetime,
            status=code,
            body=_decode(body, policy.max_bytes) if has_rules else "",
        )
    failures = previous.failures + 1 if previous else 1
    wait = min(policy.max_retry, policy.first_retry * 2.0 ** min(failures - 1, 30))
    wait = max(wait, min(retry_after, policy.lifetime))
    old = previous
    if old is not None and (old.state != RobotsState.RULES or now - old.fetched_at > policy.max_stale):
        old = None
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
    if len(body) >= max_bytes:  # cut off by us or on the way; half an Allow would allow more
        cut = max(body.rfind(b"\n", 0, max_bytes), body.rfind(b"\r", 0, max_bytes))
        body = body[: cut + 1]
    encoding = "utf-16" if body.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    # SQLite text must not contain NUL
    return body.decode(encoding, "replace").replace("\x00", "")


class Robots:
    """The rules of a robots.txt. It is parsed on first use, so holding many is cheap."""

    def __init__(self, file: RobotsFile, policy: RobotsSettings) -> None:
        self.file = file
        self._policy = policy

    def verdict(self, url: str) -> Verdict:
        """Whether this canonical URL of the file's origin may be fetched, and why."""
        file = self.file
        path = url[len(origin(url)) :] or "/"
        if path.partition("?")[0] == "/robots.txt":
            return Verdict(True, "robots.txt itself")
        if file.state == RobotsState.ALLOW_ALL:
            return Verdict(True, f"no robots.txt (http {file.status})")
        if file.state == RobotsState.DISALLOW_ALL:
            again = datetime.fromtimestamp(file.expires_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            why = file.failure or (f"http {file.status}" if file.status else "no answer")
            return Verdict(False, f"robots.txt unreachable: {why}, retried at {again}")
        if self._wildcard_rules > self._policy.max_wildcard_rules:
            return Verdict(False, f"robots.txt has {self._wildcard_rules:,} rules with wildcards, too many to match")
        # The host is irrelevant and is left out: urlsplit may reject it.
        allowed = bool(self._protego.can_fetch(f"https://host{path}", "*"))
        if allowed and (forbidden := forbids(self._usage_of(path), self._policy.purpose)):
            return Verdict(False, forbidden)
        return Verdict(allowed, self._rule_for(path, "Allow" if allowed else "Disallow"))

    @property
    def crawl_delay(self) -> float | None:
        """Seconds the site asks us to leave between two requests; None if it does not say."""
        return self._group.crawl_delay

    def usage(self, url: str) -> Usage:
        """What is said about the use of this canonical URL of the file's origin."""
        return self._usage_of(url[len(origin(url)) :] or "/") if self.file.state == RobotsState.RULES else {}

    def _usage_of(self, path: str) -> Usage:
        if not self._group.usage:
            return {}
        text = _decode_escapes(path)
        found: Usage = {}
        for glob, use, saying in self._sayings:
            if use not in found and glob.matches(text):
                found[use] = saying
        return found

    @cached_property
    def _sayings(self) -> list[tuple[Glob, str, Saying]]:
        """In the order in which they decide: the longest path first, and of equally long ones the stricter."""
        listed = [(path, use, saying) for path, usage in self._group.usage.items() for use, saying in usage.items()]
        listed.sort(key=lambda each: (-len(each[0]), each[2].is_allowed))
        return [(_glob(path), use, saying) for path, use, saying in listed]

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
        """Rules by kind, longest first: the order in which they decide."""
        globs: dict[str, list[tuple[Glob, str]]] = {"Allow": [], "Disallow": []}
        for kind, pattern in sorted(self._group.rules, key=lambda rule: -len(rule[1])):
            globs[kind].append((_glob(pattern), pattern))
            if kind == "Allow" and pattern.endswith("/index.html"):  # as in protego: allows the directory, too
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
    """What the file says to one crawler, merged from all groups that name it."""

    agent: str = ""
    """User agent as spelt in the file; empty if there is no such group."""
    rules: dict[tuple[str, str], None] = field(default_factory=dict)
    """Kind and pattern of each rule, without repetitions, in order."""
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()
    usage: dict[str, Usage] = field(default_factory=dict)
    """By path; the empty one stands for all."""


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
        elif name in ("Content-Signal", "Content-Usage"):
            for group in addressed:  # they end no list of user agents: older parsers pass over them
                _add_usage(group, name, value)
        elif name:
            is_naming = False
            for group in addressed:
                _add(group, name, value)
    chosen = own if own.agent else everybody
    chosen.sitemaps = tuple(sitemaps)
    return chosen


def _directive(line: str) -> tuple[str, str]:
    """Name and value of a line; an empty name if the directive is unknown. The colon may be missing."""
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
            group.crawl_delay = max(group.crawl_delay or 0.0, _seconds(value))
        return
    pattern = escape_invisible(value)  # protego takes some non-ASCII characters for line ends
    if len(pattern) > MAX_PATTERN:
        if name == "Allow":
            return
        pattern = pattern[: pattern.rfind("/", 0, MAX_PATTERN) + 1] or "/"
    if pattern:
        group.rules[name, pattern] = None


def _add_usage(group: _Group, name: str, value: str) -> None:
    """`[path] search=yes, ai-train=no`. Where there are too many paths, or one is too long, only a no counts."""
    path = ""
    if value.startswith(("/", "*")):
        path, _, value = value.replace("\t", " ").partition(" ")
        path = escape_invisible(path)
    has_room = len(path) <= MAX_PATTERN and (path in group.usage or len(group.usage) < MAX_USAGE_PATHS)
    for use, is_allowed in read_statement(value).items():
        if has_room or not is_allowed:
            where = path if has_room else ""
            shown = f"robots.txt {name} {path[:MAX_SHOWN]}".rstrip()
            say(group.usage.setdefault(where, {}), use, is_allowed, f"{shown}, User-agent: {group.agent}")


def _seconds(number: str) -> float:
    """The value of a decimal number, which may have any number of digits."""
    whole, _, fraction = number.partition(".")
    whole = whole.lstrip("0")
    return _MOST_SECONDS if len(whole) > 9 else float(f"{whole or 0}.{fraction[:9] or 0}")


def _glob(pattern: str) -> Glob:
    """The pattern as a glob over decoded paths. Without a `$` at its end it matches any path that starts with it."""
    anchored = pattern.removesuffix("$") if pattern.endswith("$") else f"{pattern}*"
    # split first: a * decoded from %2A is an ordinary character
    return Glob(*map(_decode_escapes, anchored.split("*")))


def _decode_escapes(text: str) -> str:
    """Decode percent-escapes, so that all spellings are equal; but not %2F and %25, which differ from / and %."""
    return unquote(_KEPT_ESCAPE.sub(lambda escape: f"%25{escape[1].upper()}", text))
