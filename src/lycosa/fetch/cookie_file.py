"""Cookies from a file in the format of Netscape, as browsers' extensions and curl write it.

A line is a cookie: domain, whether its subdomains get it, path, whether it needs https, when it expires (0: with the
session), name and value, with tabs between. A line that starts with # is a comment, except for `#HttpOnly_`, which
marks cookies that scripts do not see.

The file is read once, and nothing is written to it: what servers set during a crawl is not taken over.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from pathlib import Path
from urllib.request import Request

from lycosa.errors import ConfigError
from lycosa.fetch.private_file import read_private

SETTING = "access.cookies"
_HTTP_ONLY = "#HttpOnly_"
_FIELDS = 7


class CookieFile:
    """The cookies of a file that have not expired, each for its own domain, path and scheme."""

    def __init__(self, path: Path, *, now: float) -> None:
        cookies = list(_cookies(read_private(path, setting=SETTING), path))
        fresh = [cookie for cookie in cookies if cookie.expires is None or cookie.expires > now]
        if not cookies:
            raise ConfigError(f"{SETTING}: {path} has no cookie; export the cookies of your browser in Netscape format")
        if not fresh:
            last = time.strftime("%Y-%m-%d %H:%M", time.gmtime(max(cookie.expires or 0 for cookie in cookies)))
            raise ConfigError(
                f"{SETTING}: all cookies in {path} have expired, the last on {last} UTC; log in again and export anew"
            )
        self.expired = len(cookies) - len(fresh)
        """Number of cookies that are not sent any more."""
        self.count = len(cookies)
        # A cookie of one host is not for its subdomains, as in browsers; Python's default is what Netscape did.
        self._jar = CookieJar(DefaultCookiePolicy(strict_ns_domain=DefaultCookiePolicy.DomainStrictNonDomain))
        for cookie in fresh:
            self._jar.set_cookie(cookie)
        self._domains = {cookie.domain.removeprefix(".") for cookie in fresh}

    def __repr__(self) -> str:
        return f"<{self.count} cookies>"

    def line_for(self, url: str, host: str) -> str:
        """The Cookie header of a request; empty if no cookie is meant for it."""
        if not any(host == domain or host.endswith("." + domain) for domain in self._domains):
            return ""
        request = Request(url)  # noqa: S310 - nothing is opened; it is what the jar compares cookies with
        self._jar.add_cookie_header(request)
        value = request.get_header("Cookie", "")
        return f"Cookie: {value}" if value else ""


def _cookies(text: str, path: Path) -> Iterator[Cookie]:
    for number, line in enumerate(text.split("\n"), 1):
        written = line.removeprefix(_HTTP_ONLY)
        if not written.strip() or written.startswith("#"):
            continue
        fields = written.split("\t")
        if len(fields) != _FIELDS or not fields[4].strip().isdecimal():
            raise ConfigError(
                f"{SETTING}: line {number} of {path} is no cookie: there must be seven fields with tabs between, and "
                "the fifth is a time in seconds (Netscape format)"
            )
        domain, subdomains, folder, secure, expires, name, value = fields
        if not (name + value).isprintable() or not (name + value).isascii() or ";" in name + value:
            raise ConfigError(f"{SETTING}: line {number} of {path}: the cookie has characters that cannot be sent")
        host = domain.strip().lower().removeprefix(".")
        is_wide = subdomains.strip().upper() == "TRUE"
        seconds = int(expires.strip()[:15])
        yield Cookie(
            version=0,
            name=name,
            value=value,
            port=None,
            port_specified=False,
            domain=f".{host}" if is_wide else host,
            domain_specified=is_wide,
            domain_initial_dot=is_wide,
            path=folder or "/",
            path_specified=True,
            secure=secure.strip().upper() == "TRUE",
            expires=seconds or None,
            discard=not seconds,
            comment=None,
            comment_url=None,
            rest={},
        )
