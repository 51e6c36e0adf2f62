"""One spelling for one document, and rules that turn away what is not worth a fetch.

ada-url parses and joins as browsers do (the WHATWG standard: lower-case host, no default port, no dot segments,
everything ASCII). On top of that a canonical URL has

    no fragment, no empty query, no trailing dot in its host, no `;jsessionid=…` in its path,
    percent-escapes in upper case and only where needed (`%7e` is `~`; `%2528` stays),
    no known tracking parameters, and its other parameters sorted by name (a setting).

The canonical form of a canonical URL is itself. Every result is a pair `(url, reason)`:

    (url, "")        to be fetched
    (url, reason)    a URL that a rule turned away
    ("", reason)     nothing to fetch or to remember: no URL, another scheme, a password in it, or too long

Reasons are the constants below, so that they can be counted; `Urls.reason_detail` says on demand what decided.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter
from urllib.parse import unquote

from ada_url import URL, idna_to_unicode

from lycosa.errors import ConfigError, SeedError
from lycosa.fetch.url_patterns import UrlPatterns, respell_percent
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
"""Parameters that say who clicked where, or which session it is; the document is the same without them."""

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
"""Files that are no hypertext: images, sound, film, archives, programs, office documents, fonts, data."""

MEMO_SIZE = 32_768
MEMO_HREF = 200
"""Longer hrefs are not remembered; with the size this bounds what the memo takes."""

_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_WORDS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRules:
    """Which URLs are fetched, and which differences between URLs do not matter."""

    schemes: frozenset[str] = frozenset({"http", "https"})
    """Others are never fetched."""
    max_length: int = 2000
    """Characters of a canonical URL."""
    max_depth: int = 20
    """Path segments."""
    max_repeats: int = 3
    """A path is taken for a spider trap when one segment stands in it more often than this, or a run of several
    segments (`/a/b/a/b/a/b`) so often back to back."""
    max_query_parameters: int = 12
    """URLs with more of them are turned away."""
    excluded_extensions: frozenset[str] = EXCLUDED_EXTENSIONS
    """Endings of a path that promise no page: images, archives, …"""
    include: tuple[str, ...] = ()
    """Patterns (`url_patterns`); where there are any, a URL has to match one of them."""
    exclude: tuple[str, ...] = ()
    """Patterns; a URL that matches one is turned away, included or not."""
    sort_query: bool = True
    """Query parameters in another order make the same URL."""
    tracking_parameters: frozenset[str] = TRACKING_PARAMETERS
    """Names of parameters to be removed, in lower case; `utm_*` means all that begin so."""

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
                    f"urls.tracking_parameters has {name!r}: write it in lower case, a '*' only at its end"
                )


class Urls:
    """The rules, compiled. Holds a bounded memo: sites repeat the same links on page after page."""

    def __init__(self, rules: UrlRules) -> None:
        self.rules = rules
        self._prefixes = tuple(f"{scheme}://" for scheme in rules.schemes)
        self._max_raw = 4 * rules.max_length
        self._shallow = min(rules.max_depth, rules.max_repeats)
        self._tracking = frozenset(name for name in rules.tracking_parameters if not name.endswith("*"))
        self._tracking_prefixes = tuple(
            name.removesuffix("*") for name in rules.tracking_parameters if name.endswith("*")
        )
        self._include = UrlPatterns(rules.include, setting="urls.include") if rules.include else None
        self._exclude = UrlPatterns(rules.exclude, setting="urls.exclude") if rules.exclude else None
        self._memo: dict[tuple[str, str], Resolved] = {}

    def canonical(self, url: str) -> Resolved:
        return self._join(url, None)

    def resolver(self, base: str) -> Callable[[str], Resolved]:
        """For the links of one page: hrefs in, canonical URLs out, as seen from `base`.

        What an href means depends on the base's origin if it begins with a slash, on nothing if it is absolute,
        else on the base's directory; that much of the base is the key under which results are remembered.
        """
        try:
            base = URL(base).href if len(base) <= self._max_raw else ""
        except ValueError:
            base = ""  # absolute hrefs still have a meaning
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
            if first <= " " or first == "?":  # means nothing without the whole base
                return self._join(href, base)
            cut = href.find("#")
            if cut > 0 and href[cut - 1] > " ":  # a space before it would be stripped as the last character
                href = href[:cut]
            is_absolute = href.startswith(("https://", "http://"))
            key = ("" if is_absolute else root if first in "/\\" else directory, href)
            known = memo.get(key)
            if known is None:
                known = self._join(href, base)
                if len(href) <= MEMO_HREF and len(key[0]) <= MEMO_HREF:
                    if len(memo) >= MEMO_SIZE:
                        memo.clear()
                    memo[key] = known
            return known

        return resolve

    def _join(self, href: str, base: str | None) -> Resolved:
        if len(href) > self._max_raw:  # not worth parsing; what a scheme in front of it says still counts
            is_other = href[:32].partition(":")[0].strip().lower() in {"data", "javascript", "mailto", "blob"}
            return "", SCHEME if is_other else LENGTH
        try:
            return self._tidy(URL(href, base).href if base else URL(href).href)
        except ValueError:
            return "", NOT_A_URL

    def _tidy(self, url: str) -> Resolved:
        """From the WHATWG spelling to the canonical one, and through the rules."""
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
            kept.sort(key=itemgetter(0))  # by name alone: the order of equal names may mean something
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
        """What about this URL decided that it is turned away, in words; empty if it is not."""
        canonical, reason = self.canonical(url)
        rules = self.rules
        path, _, query = canonical[len(origin(canonical)) :].partition("?")
        if reason == DEPTH:
            return f"{len(_segments(path))} path segments; at most {rules.max_depth}"
        if reason == REPEATING:
            return f"{repeated_segments(path, rules.max_repeats)!r} comes again and again in the path"
        if reason == EXTENSION:
            return f"files ending in .{path.rpartition('.')[2].lower()} are left out"
        if reason == QUERY:
            return f"{query.count('&') + 1} query parameters; at most {rules.max_query_parameters}"
        if reason == EXCLUDED and self._exclude:
            return f"matches {self._exclude.first_match(canonical)!r}"
        if reason == NOT_INCLUDED:
            return f"matches none of: {', '.join(rules.include[:5])}{', …' if len(rules.include) > 5 else ''}"
        return {
            LENGTH: f"longer than {rules.max_length:,} characters",
            SCHEME: f"only {' and '.join(sorted(rules.schemes))} are fetched",
            CREDENTIALS: "has a user name or password in it",
            NOT_A_URL: "cannot be read as a URL",
        }.get(reason, "")


def _respell(url: str, authority: str) -> str:
    """Percent-escapes, session ids and the dot behind a host.

    What changed is parsed again, as a dot segment or an IPv4 address may come to light only now
    (`/a/..;jsessionid=1`, `127.1..`). Raises ValueError where nothing is left of the host.
    """
    start = url.index(authority, 7)
    path, mark, query = respell_percent(url[start + len(authority) :]).partition("?")
    host, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):  # no port; the colon belongs to an IPv6 address
        host, colon, port = authority, "", ""
    host = host.rstrip(".")
    if not host:
        raise ValueError("no host")
    spelt = f"{url[:start]}{host}{colon}{port}{_SESSION.sub('', path)}{mark}{query}"
    return spelt if spelt == url else URL(spelt).href


def _segments(path: str) -> list[str]:
    return path.removesuffix("/").split("/")[1:]


def repeated_segments(path: str, limit: int) -> str | None:
    """The segment that stands in the path more than `limit` times, or the run of several segments that stands
    there `limit` times back to back. Links relative to a wrong base grow such paths."""
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
    """`https://example.org`: scheme, host and port of a canonical URL; empty if it has none."""
    start = url.find("://") + 3
    if start < 3:
        return ""
    slash = url.find("/", start)
    return url if slash < 0 else url[:slash]


def host_key(url: str) -> str:
    """`example.org`, `127.0.0.2:8080`: host of a canonical URL, with its port where that is not the default."""
    return origin(url).partition("://")[2]


def url_hash(url: str) -> int:
    """64 bits that stand for a URL: the same in every process, signed, as SQLite's integers are.

    Among 10 million URLs two share a hash with a probability of 3 in a million.
    """
    return int.from_bytes(blake2b(url.encode(), digest_size=8).digest(), "big", signed=True)


def url_words(url: str) -> list[str]:
    """The words in host and path of a canonical URL, in lower case, for judging it by its looks."""
    host = host_key(url).partition(":")[0]
    if "xn--" in host:
        host = idna_to_unicode(host)
    path = url[len(origin(url)) :].partition("?")[0]
    return _WORDS.findall(f"{host} {unquote(path)}".lower())


def parse_seed(text: str) -> str:
    """A URL as people write it, made whole: `example.org/x` is `https://example.org/x`."""
    seed = text.strip()
    if not seed:
        raise SeedError("seed is empty; write a URL such as https://example.org/")
    if any(character.isspace() for character in seed):
        raise SeedError(f"seed {seed!r}: there is a space in it; write one URL, with %20 for a space")
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
    if parsed.username or parsed.password:  # which has no place in a message
        right = f"{parsed.protocol}//{parsed.host}{parsed.pathname}"
        raise SeedError(f"seed for {parsed.host}: has a user name or password in it; write {right}")
    return parsed.href
