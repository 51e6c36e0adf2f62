"""The user's include and exclude patterns: globs that are matched in linear time.

`*` matches any run of characters, even an empty one; every other character matches itself (including `?`, which is
common in URLs). A pattern must match a part of the URL completely, and its form determines which part:

    https://example.org/docs/*      the whole URL
    example.org/docs/*              the URL without its scheme
    /tag/*                          path and query, on any host
    example.org   *.example.org     the host; the second form matches the subdomains of example.org but not itself

Regular expressions are deliberately not supported: Python's can take exponential time, and URLs come from the web.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from string import ascii_letters, digits, hexdigits
from urllib.parse import quote

from ada_url import idna_to_ascii

from lycosa.errors import ConfigError

FILE_LIKE = frozenset({"aspx", "css", "doc", "gif", "htm", "html", "jpg", "js", "pdf", "php", "png", "txt", "xml"})
"""Extensions by which a pattern such as `*.pdf` is recognised as one for files, written like one for hosts."""

DEFAULT_PORTS = {"http": ":80", "https": ":443"}

_UNRESERVED = frozenset(f"{ascii_letters}{digits}-._~")  # RFC 3986, 2.3: escaped or not, they mean the same
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_SPELLING: dict[str | None, str] = {None: "%25"}
for _code in map("".join, product(hexdigits, repeat=2)):
    _character = chr(int(_code, 16))
    _SPELLING[_code] = _character if _character in _UNRESERVED else f"%{_code.upper()}"

_NOT_IN_HOST = re.compile(r"[^a-z0-9._*:\[\]-]")
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))


def respell_percent(text: str) -> str:
    """Unify percent-escapes: in upper case, none where none is needed, a stray `%` as `%25`. Idempotent."""
    return _ESCAPE.sub(lambda escape: _SPELLING[escape[1]], text)


def escape_invisible(text: str) -> str:
    """Percent-escape everything but visible ASCII characters, the only ones in URLs."""
    return quote(text, safe=_VISIBLE, errors="replace")


class Glob:
    """A pattern, given as its pieces between `*`. Matching finds one piece after the other without backtracking."""

    __slots__ = ("_has_star", "_head", "_middle", "_tail")

    def __init__(self, *pieces: str) -> None:
        self._has_star = len(pieces) > 1
        self._head = pieces[0]
        self._middle = [piece for piece in pieces[1:-1] if piece]
        self._tail = pieces[-1]

    def matches(self, text: str) -> bool:
        if not self._has_star:
            return text == self._head
        if not (text.startswith(self._head) and text.endswith(self._tail)):
            return False
        position, end = len(self._head), len(text) - len(self._tail)
        for piece in self._middle:
            position = text.find(piece, position, end)
            if position < 0:
                return False
            position += len(piece)
        return position <= end


class UrlPatterns:
    """The compiled patterns of one setting. Plain host names are looked up, so thousands of them cost nothing."""

    def __init__(self, patterns: Sequence[str], *, setting: str) -> None:
        if isinstance(patterns, str):
            raise ConfigError(f"{setting}: {patterns!r} is not a list; write [{patterns!r}]")
        self._hosts: dict[str, str] = {}
        self._globs: list[tuple[str, Glob, str]] = []
        for number, pattern in enumerate(patterns):
            part, text = _compile(pattern, where=f"{setting}[{number}]")
            if part in {"host", "authority"} and "*" not in text:
                self._hosts[text] = pattern
            else:
                self._globs.append((part, Glob(*text.split("*")), pattern))

    def first_match(self, url: str) -> str:
        """The first pattern that matches this canonical URL, as the user wrote it; empty if none does."""
        start = url.find("://") + 3
        slash = url.find("/", start)
        authority = url[start:slash]
        host = authority.partition(":")[0]
        exact = self._hosts.get(authority) or self._hosts.get(host)
        if exact:
            return exact
        parts = {"url": url, "bare": url[start:], "path": url[slash:], "host": host, "authority": authority}
        return next((pattern for part, glob, pattern in self._globs if glob.matches(parts[part])), "")


def scope_patterns(sites: Sequence[str], under: Sequence[str], include: Sequence[str]) -> list[str]:
    """Those given; patterns for whole sites with their subdomains; for all that is under a URL, whatever its scheme."""
    for setting, values in (("urls.sites", sites), ("urls.under", under), ("urls.include", include)):
        if isinstance(values, str):
            raise ConfigError(f"{setting}: {values!r} is not a list; write [{values!r}]")
    patterns = list(include)
    for site in sites:
        host = _split_scheme(site.strip())[2].removesuffix("/")
        if not host or "/" in host or "*" in host:
            raise ConfigError(
                f"urls.sites has {site!r}: write the name of a site, such as 'example.org', which includes its "
                "subdomains; urls.under (--under) takes a part of a site"
            )
        patterns += [host, f"*.{host}"]
    for place in under:
        rest = _split_scheme(place.strip())[2]
        host, slash, path = rest.partition("/")
        if not host or "*" in host or (path.startswith("*") and len(path) == 1):
            raise ConfigError(
                f"urls.under has {place!r}: write the beginning of URLs, such as 'https://example.org/docs/'"
            )
        if rest.endswith("/") or not slash:
            patterns.append(f"{rest.removesuffix('/')}/*")
        else:
            patterns += [rest, f"{rest}/*", f"{rest}?*"]
    return patterns


def _compile(pattern: str, *, where: str) -> tuple[str, str]:
    """The part of a URL that the pattern must match, and its text in the spelling of canonical URLs."""

    def malformed(what: str) -> ConfigError:
        return ConfigError(f"{where}: pattern {pattern!r} {what}")

    if not pattern:
        raise malformed("is empty; write, for instance, 'https://example.org/docs/*'")
    if pattern.startswith("re:"):
        raise malformed("is a regular expression; only '*' is supported, as in 'example.org/docs/*'")
    if any(character.isspace() for character in pattern):
        raise malformed("contains a space; write %20 instead")
    if "#" in pattern:
        raise malformed("contains '#', but URLs are compared without their fragment; leave it out")
    scheme, separator, rest = _split_scheme(pattern)
    if separator and not any(Glob(*scheme.split("*")).matches(known) for known in DEFAULT_PORTS):
        raise malformed(f"matches nothing: scheme {scheme!r} is not http or https")
    authority, slash, path = rest.partition("/")
    if separator and not slash:
        raise malformed(f"has no path; write '{pattern}/*' for the whole site")
    host = _spell_host(authority).removesuffix(DEFAULT_PORTS.get(scheme, "\n"))
    strange = _NOT_IN_HOST.search(host)
    if strange:
        raise malformed(f"contains {strange[0]!r} in its host; a pattern for paths starts with '/'")
    if not slash:
        if host.startswith("*.") and host.removeprefix("*.") in FILE_LIKE:
            raise malformed(f"matches hosts; write '/{pattern}' to match files")
        return ("authority" if ":" in host else "host"), host
    path = respell_percent(escape_invisible(path))
    if separator:
        return "url", f"{scheme}://{host}/{path}"
    return ("bare" if host else "path"), f"{host}/{path}"


def _split_scheme(pattern: str) -> tuple[str, str, str]:
    """Scheme, `://` and rest. A `://` after a slash is part of the path, as in `/go?to=https://*`."""
    scheme, separator, rest = pattern.partition("://")
    return (scheme.lower(), separator, rest) if separator and "/" not in scheme else ("", "", pattern)


def _spell_host(host: str) -> str:
    """Convert to lower case, and non-ASCII labels to their xn-- form, as ada-url does."""
    labels = host.lower().split(".")
    return ".".join(label if label.isascii() else idna_to_ascii(label.encode()).decode() or label for label in labels)
