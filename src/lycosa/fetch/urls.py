"""One spelling for one document, and rules that reject what is not worth fetching.

ada-url parses and joins as browsers do (the WHATWG standard: lower-case host, no default port, no dot segments,
everything ASCII). In addition, a canonical URL has

    no fragment, no empty query, no trailing dot in its host, no `;jsessionid=…` in its path,
    percent-escapes in upper case and only where needed (`%7e` is `~`; `%2528` stays),
    no known tracking parameters, and its other parameters sorted by name (a setting).

The canonical form of a canonical URL is itself. Every result is a pair `(url, reason)`:

    (url, "")        may be fetched
    (url, reason)    a URL that a rule rejected
    ("", reason)     neither fetched nor remembered: not a URL, another scheme, contains a password, or too long

Reasons are the constants below, so that they can be counted; `Urls.reason_detail` explains one on demand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter

from ada_url import URL

from lycosa.errors import ConfigError, SeedError
from lycosa.fetch.plain_hrefs import joined, joined_all, split_absolute
from lycosa.fetch.url_patterns import UrlPatterns, respell_percent, scope_patterns
from lycosa.lib.bounds import require_at_least

SCHEME = "scheme"
NOT_A_URL = "not a URL"
CREDENTIALS = "credentials"
LENGTH = "length"
DEPTH = "depth"
REPEATING = "repeating segments"
EXTENSION = "file extension"
QUERY = "query parameters"
EXCLUDED = "excluded by pattern"
NOT_INCLUDED = "not included"

Resolved = tuple[str, str]

TRACKING_PARAMETERS = frozenset(
    """
    utm_* pk_* mtm_* piwik_* hsa_* gclid gclsrc dclid gbraid wbraid gad_source srsltid _ga _gl
    fbclid fb_action_ids fb_action_types fb_source fb_ref igshid igsh msclkid yclid ymclid _openstat
    twclid ttclid li_fat_id epik ref_src ref_url mc_cid mc_eid mkt_tok _hsenc _hsmi __hssc __hstc __hsfp
    hsctatracking vero_id oly_anon_id oly_enc_id wickedid rb_clickid s_cid at_medium at_campaign spm
    ml_subscriber ml_subscriber_hash guccounter guce_referrer guce_referrer_sig
    phpsessid jsessionid aspsessionid* cfid cftoken sessionid
    """.split()  # noqa: SIM905 — words in rows are easier to check than a list of quoted ones
)
"""Parameters that identify a click or a session; the document is the same without them."""

EXCLUDED_EXTENSIONS = frozenset(
    """
    avif bmp cur eps gif heic ico jfif jpe jpeg jpg png psd raw svg svgz tga tif tiff webp xcf
    aac aif aiff flac m3u m3u8 m4a mid midi mp3 oga ogg opus ra wav wma
    3gp asf avi flv m4v mkv mov mp4 mpeg mpg ogv qt rm swf ts vob webm wmv
    7z apk bz2 cab deb dmg gz img iso jar lz lzma msi pkg rar rpm tar tbz tbz2 tgz tlz txz war whl xpi xz z zip zst
    bin class dll dylib exe o pyc so
    djvu doc docm docx dot dotx epub mobi odg odp ods odt pdf pps ppsx ppt pptm pptx ps rtf xls xlsm xlsx
    eot otf ttf woff woff2
    atom css csv db geojson ics js json jsonld kml kmz map mjs parquet rss sql sqlite tsv wasm
    asc bib md5 sha1 sha256 sig torrent
    """.split()  # noqa: SIM905 — words in rows are easier to check than a list of quoted ones
)
"""File extensions that are not hypertext: images, audio, video, archives, programs, office documents, fonts, data."""

MEMO_SIZE = 32_768
MEMO_HREF = 200
"""Maximum length of a memoised href; together with the size it bounds the memory of the memo."""

_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRules:
    """Which URLs are fetched, and which differences between URLs are ignored."""

    schemes: frozenset[str] = frozenset({"http", "https"})
    """URL schemes that are fetched."""
    max_length: int = 2000
    """Maximum length of a canonical URL."""
    max_depth: int = 20
    """Maximum number of path segments."""
    max_repeats: int = 3
    """Limit on repetitions in a path: it is considered a spider trap if a segment occurs more often than this, or a
    sequence of segments (`/a/b/a/b/a/b`) this many times in a row."""
    max_query_parameters: int = 12
    """Maximum number of query parameters."""
    excluded_extensions: frozenset[str] = EXCLUDED_EXTENSIONS
    """File extensions that are not fetched, since they are not those of pages: images, archives, …"""
    sites: tuple[str, ...] = ()
    """Sites that are crawled, each with all its subdomains: `example.org`. If sites, under and include are all empty,
    any URL will do."""
    under: tuple[str, ...] = ()
    """Beginnings of URLs that are crawled: `https://docs.example.org/guide/`."""
    include: tuple[str, ...] = ()
    """Patterns (`url_patterns`) of URLs that are crawled, besides those of sites and under."""
    exclude: tuple[str, ...] = ()
    """Patterns of URLs that are rejected, even if they are included."""
    sort_query: bool = True
    """Sort query parameters, so that their order makes no difference."""
    tracking_parameters: frozenset[str] = TRACKING_PARAMETERS
    """Query parameters to remove, in lower case; `utm_*` means all that start with `utm_`."""

    def __post_init__(self) -> None:
        require_at_least(self, "urls", max_length=1, max_depth=1, max_repeats=2, max_query_parameters=1)
        if not self.schemes or not self.schemes <= {"http", "https"}:
            raise ConfigError(f"urls.schemes is {sorted(self.schemes)}: only http and https can be fetched")
        for extension in self.excluded_extensions:
            if extension != extension.lower().lstrip("."):
                right = extension.lower().lstrip(".")
                raise ConfigError(f"urls.excluded_extensions has {extension!r}: write {right!r}")
        for name in self.tracking_parameters:
            if name != name.lower() or "*" in name[:-1] or not name.strip("*"):
                raise ConfigError(
                    f"urls.tracking_parameters has {name!r}: write it in lower case, with a '*' only at its end"
                )


class Urls:
    """The compiled rules, with a bounded memo: sites repeat the same links on page after page."""

    def __init__(self, rules: UrlRules) -> None:
        self.rules = rules
        self._prefixes = tuple(f"{scheme}://" for scheme in rules.schemes)
        self._max_raw = 4 * rules.max_length
        self._shallow = min(rules.max_depth, rules.max_repeats)
        self._tracking = frozenset(name for name in rules.tracking_parameters if not name.endswith("*"))
        self._tracking_prefixes = tuple(
            name.removesuffix("*") for name in rules.tracking_parameters if name.endswith("*")
        )
        wanted = scope_patterns(rules.sites, rules.under, rules.include)
        self._include = UrlPatterns(wanted, setting="urls.include") if wanted else None
        self._exclude = UrlPatterns(rules.exclude, setting="urls.exclude") if rules.exclude else None
        self._memo: dict[tuple[str, str], Resolved] = {}
        self._in_scope: dict[str, bool] = {}
        self._canonical: dict[str, bool] = {}
        """Of directories and origins of bases, with a slash at their ends: whether they are in canonical spelling."""

    def canonical(self, url: str) -> Resolved:
        return self._join(url, None)

    def resolver(self, base: str) -> Callable[[str], Resolved]:
        """A function that turns the hrefs of a page into canonical URLs, relative to `base`.

        The meaning of an href depends on the origin of the base if it starts with a slash, on nothing if it is
        absolute, and otherwise on the directory of the base; that part of the base is the key of the memo.
        """
        try:
            base = URL(base).href if len(base) <= self._max_raw else ""
        except ValueError:
            base = ""  # absolute hrefs can still be resolved
        document = base.partition("#")[0].partition("?")[0]
        directory = document[: document.rfind("/") + 1]
        root = origin(base)
        memo = self._memo
        own: list[Resolved] = []

        def resolve(href: str) -> Resolved:
            first = href[:1]
            if first == "#":
                if not own:
                    own.append(self._join("", base))
                return own[0]
            if first <= " " or first == "?":  # depends on the whole base
                return self._join(href, base)
            cut = href.find("#")
            if cut > 0 and href[cut - 1] > " ":  # a space before it would become the last character, which is stripped
                href = href[:cut]
            is_absolute = href.startswith(("https://", "http://"))
            key = ("" if is_absolute else root if first in "/\\" else directory, href)
            known = memo.get(key)
            if known is None:
                known = self._join_plain(href, directory, root, is_absolute=is_absolute) or self._join(href, base)
                if len(href) <= MEMO_HREF and len(key[0]) <= MEMO_HREF:
                    if len(memo) >= MEMO_SIZE:
                        memo.clear()
                    memo[key] = known
            return known

        return resolve

    def glance(self, base: str, hrefs: list[str]) -> list[str | None] | None:
        """The URLs of hrefs that are accepted, and too plain for a parser to be needed; None for others, or for all."""
        if len(base) > self._max_raw:
            return None
        document = base.partition("#")[0].partition("?")[0]
        directory = document[: document.rfind("/") + 1]
        if not self._is_canonical(directory):
            return None
        urls = joined_all(
            hrefs,
            directory,
            origin(base),
            longest=self.rules.max_length,
            deepest=self._shallow,
            extensions=self.rules.excluded_extensions,
        )
        if urls is None or not (self._include or self._exclude):
            return urls
        return [url if url is None or self._is_in_scope(url) else None for url in urls]

    def _is_in_scope(self, url: str) -> bool:
        """Whether the patterns let a canonical URL pass."""
        known = self._in_scope.get(url)
        if known is None:
            known = not (self._exclude and self._exclude.first_match(url))
            known = known and not (self._include and not self._include.first_match(url))
            if len(self._in_scope) >= MEMO_SIZE:
                self._in_scope.clear()
            self._in_scope[url] = known
        return known

    def _join_plain(self, href: str, directory: str, root: str, *, is_absolute: bool) -> Resolved | None:
        """The same as `_join`, if nothing has to be parsed for it; otherwise None."""
        if is_absolute:
            root, path = split_absolute(href)
            url, directory = root + path, f"{root}/"
        else:
            url = joined(directory, root, href) or ""
        if not url or not self._is_canonical(directory):
            return None
        reason = self._reason(url, url[len(root) :], "")
        return ("" if reason == LENGTH else url), reason

    def _is_canonical(self, directory: str) -> bool:
        known = self._canonical.get(directory)
        if known is None:
            known = bool(directory) and self._join(directory, None)[0] == directory
            if len(directory) <= MEMO_HREF:
                if len(self._canonical) >= MEMO_SIZE:
                    self._canonical.clear()
                self._canonical[directory] = known
        return known

    def _join(self, href: str, base: str | None) -> Resolved:
        if len(href) > self._max_raw:  # too long to parse, but a scheme other than http still decides
            is_other = href[:32].partition(":")[0].strip().lower() in {"data", "javascript", "mailto", "blob"}
            return "", SCHEME if is_other else LENGTH
        try:
            return self._tidy(URL(href, base).href if base else URL(href).href)
        except ValueError:
            return "", NOT_A_URL

    def _tidy(self, url: str) -> Resolved:
        """Turn the WHATWG spelling into the canonical one, and apply the rules."""
        if not url.startswith(self._prefixes):
            return "", SCHEME
        cut = url.find("#")
        if cut >= 0:
            url = url[:cut]
        start = 8 if url[4] == "s" else 7
        slash = url.find("/", start)
        authority = url[start:slash]
        if "@" in authority:
            return "", CREDENTIALS
        if "%" in url or ";" in url or authority[-1] == "." or ".:" in authority:
            url = _respell(url, authority)
            slash = url.find("/", start)
        path = url[slash:]
        query = ""
        if "?" in path:
            path, _, query = path.partition("?")
            query = self._tidy_query(query)
            url = f"{url[:slash]}{path}?{query}" if query else url[:slash] + path
        reason = self._reason(url, path, query)
        return ("" if reason == LENGTH else url), reason

    def _tidy_query(self, query: str) -> str:
        kept = []
        for parameter in query.split("&"):
            name = parameter.partition("=")[0]
            lower = name.lower()
            if parameter and lower not in self._tracking and not lower.startswith(self._tracking_prefixes):
                kept.append((name, parameter))
        if self.rules.sort_query and len(kept) > 1:
            kept.sort(key=itemgetter(0))  # by name alone: the order of equal names may matter
        return "&".join([parameter for _, parameter in kept])

    def _reason(self, url: str, path: str, query: str) -> str:
        rules = self.rules
        if len(url) > rules.max_length:
            return LENGTH
        depth = path.count("/")
        if depth > self._shallow:
            if depth - path.endswith("/") > rules.max_depth:
                return DEPTH
            if repeated_segments(path, rules.max_repeats) is not None:
                return REPEATING
        dot = path.rfind(".")
        if dot > 0 and path[dot + 1 :].lower() in rules.excluded_extensions:
            return EXTENSION
        if query and query.count("&") >= rules.max_query_parameters:
            return QUERY
        if self._exclude and self._exclude.first_match(url):
            return EXCLUDED
        if self._include and not self._include.first_match(url):
            return NOT_INCLUDED
        return ""

    def reason_detail(self, url: str) -> str:
        """Explains to a person why this URL is rejected; empty if it is not."""
        canonical, reason = self.canonical(url)
        rules = self.rules
        path, _, query = canonical[len(origin(canonical)) :].partition("?")
        if reason == DEPTH:
            return f"{len(_segments(path))} path segments; at most {rules.max_depth}"
        if reason == REPEATING:
            return f"{repeated_segments(path, rules.max_repeats)!r} repeats in the path"
        if reason == EXTENSION:
            return f"files ending in .{path.rpartition('.')[2].lower()} are left out"
        if reason == QUERY:
            return f"{query.count('&') + 1} query parameters; at most {rules.max_query_parameters}"
        if reason == EXCLUDED and self._exclude:
            return f"matches {self._exclude.first_match(canonical)!r}"
        if reason == NOT_INCLUDED:
            wanted = (*(f"the site {site}" for site in rules.sites), *(f"under {place}" for place in rules.under))
            wanted += rules.include
            return f"matches none of: {', '.join(wanted[:5])}{', …' if len(wanted) > 5 else ''}"
        return {
            LENGTH: f"longer than {rules.max_length:,} characters",
            SCHEME: f"only {' and '.join(sorted(rules.schemes))} are fetched",
            CREDENTIALS: "contains a user name or password",
            NOT_A_URL: "not a valid URL",
        }.get(reason, "")


def _respell(url: str, authority: str) -> str:
    """Unify percent-escapes, and remove session ids and the trailing dot of the host.

    If that changes the URL it is parsed again, since it may reveal a dot segment or an IPv4 address
    (`/a/..;jsessionid=1`, `127.1..`). Raises ValueError if nothing is left of the host.
    """
    start = url.index(authority, 7)
    path, mark, query = respell_percent(url[start + len(authority) :]).partition("?")
    host, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):  # no port: the colon is part of an IPv6 address
        host, colon, port = authority, "", ""
    host = host.rstrip(".")
    if not host:
        raise ValueError("no host")
    spelt = f"{url[:start]}{host}{colon}{port}{_SESSION.sub('', path)}{mark}{query}"
    return spelt if spelt == url else URL(spelt).href


def _segments(path: str) -> list[str]:
    return path.removesuffix("/").split("/")[1:]


def repeated_segments(path: str, limit: int) -> str | None:
    """The segment that occurs in the path more than `limit` times, or the sequence of segments that occurs `limit`
    times in a row; None if there is neither. Links relative to a wrong base produce such paths."""
    segments = _segments(path)
    if len(segments) - len(set(segments)) < limit - 1:
        return None
    segment, count = Counter(segments).most_common(1)[0]
    if count > limit:
        return segment
    for length in range(2, len(segments) // limit + 1):
        same = 0
        for i in range(length, len(segments)):
            same = same + 1 if segments[i] == segments[i - length] else 0
            if same == length * (limit - 1):
                return "/".join(segments[i - length + 1 : i + 1])
    return None


def origin(url: str) -> str:
    """Scheme, host and port of a canonical URL, such as `https://example.org`; empty if it has none."""
    start = url.find("://") + 3
    if start < 3:
        return ""
    slash = url.find("/", start)
    return url if slash < 0 else url[:slash]


def host_key(url: str) -> str:
    """Host of a canonical URL, with its port unless that is the default: `example.org`, `127.0.0.2:8080`."""
    return origin(url).partition("://")[2]


def url_hash(url: str) -> int:
    """A signed 64-bit hash, the same in every process. Any two of 10 million URLs share one with probability 3·10⁻⁶."""
    return int.from_bytes(blake2b(url.encode(), digest_size=8).digest(), "big", signed=True)


def checked_seed(text: str) -> str:
    """A seed that is valid, with its scheme only if it was given: `example.org/x` stays as it is. Raises SeedError."""
    whole = parse_seed(text)
    has_scheme = text.strip().lower().startswith(("http:", "https:"))
    return whole if has_scheme else whole.removeprefix("https://")


def plain_http(seed: str) -> str:
    """What to try where https cannot be connected: the http URL of a seed without a scheme; empty if it has one."""
    return "" if "://" in seed else f"http://{parse_seed(seed).removeprefix('https://')}"


def parse_seed(text: str) -> str:
    """Complete a URL as people write it: `example.org/x` becomes `https://example.org/x`. Raises SeedError."""
    seed = text.strip()
    if not seed:
        raise SeedError("seed is empty; write a URL such as https://example.org/")
    if any(character.isspace() for character in seed):
        raise SeedError(f"seed {seed!r}: contains a space; write a single URL, with %20 for a space")
    scheme, colon, rest = seed.partition(":")
    has_port = rest[:1].isdigit()  # example.org:8080/x has no scheme
    if colon and not has_port and _SCHEME.fullmatch(scheme):
        if scheme.lower() not in {"http", "https"}:
            right = f"https://{rest.lstrip('/')}" if rest.startswith("/") else "one such as https://example.org/"
            raise SeedError(f"seed {seed!r}: scheme {scheme!r} is not http or https; write {right}")
        whole = seed
    else:
        whole = f"https://{seed.lstrip('/')}"
        name = whole[8:].partition("/")[0]
        if not ("." in name or has_port or name.startswith("[") or name.lower() == "localhost"):
            raise SeedError(f"seed {seed!r}: not the name of a site; write {whole}/ if there is such a host")
    try:
        parsed = URL(whole)
    except ValueError:
        raise SeedError(f"seed {seed!r}: not a URL; write one such as https://example.org/") from None
    if parsed.username or parsed.password:  # which must not appear in a message
        right = f"{parsed.protocol}//{parsed.host}{parsed.pathname}"
        raise SeedError(f"seed for {parsed.host}: contains a user name or password; write {right}")
    return parsed.href
