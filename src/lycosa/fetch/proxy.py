"""Which proxy a request goes through, and what it means when a proxy fails.

The guard holds with a proxy as without. A proxy that looked up names itself could be led to any address by whoever owns
the name, so by default names are looked up here, the guard judges the addresses, and the proxy is told the address to
connect to (CONNECT 203.0.113.7:443, or SOCKS5 with an address): it has nothing to look up. Plain http goes through such
a tunnel, too.

Where names can only be looked up by the proxy (`proxy_resolves`, or socks5h://), the guard sees addresses that are
written in URLs, and refuses names that are local by their form; the rest is the proxy's own business.

The proxy's own address is not for the guard to judge: somebody has named it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote
from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]

import ada_url
import pycurl

from lycosa.errors import ConfigError, ProxyError

ENVIRONMENT = "environment"
PROXY_FAILED = "proxy"
"""Reason of a failure of the proxy itself."""
PROXY_REFUSED = "proxy refused"
"""Reason of a failure if the proxy works, and does not or cannot connect to the host."""
MOST_FAILURES = 5
"""Failures of the proxy in a row after which there is no point in going on."""
_PORTS = {"http": 3128, "https": 443, "socks5": 1080, "socks5h": 1080}
_LOCAL_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet")
_UNRESOLVED, _UNCONNECTED, _PROXY = 5, 7, 97
"""Error codes of libcurl."""
_LOGIN_NEEDED = 407
_SOCKS_LOGIN = ("authentication", "rejected", "auth")


@dataclass(frozen=True, slots=True)
class Proxy:
    url: str
    """`http://proxy.example.org:3128`, without credentials."""
    resolves: bool
    """Names are left to it."""
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def has_tunnel(self) -> bool:
        """Whether plain http goes through a tunnel, too: not where the proxy is to look up names."""
        return not self.resolves


class Proxies:
    """The proxy for each host, as a setting or the environment says. A setting must not hold a password."""

    def __init__(self, setting: str, *, resolves: bool = False, user: str = "", password: str = "") -> None:
        self._login = (user, password)
        self._resolves = resolves
        self._by_scheme: dict[str, Proxy] = {}
        self._exceptions: Mapping[str, str] = {}
        self._failures = 0
        self._has_worked = False
        if setting == ENVIRONMENT:
            self._exceptions = found = getproxies_environment()
            for scheme in ("http", "https"):
                if text := found.get(scheme) or found.get("all", ""):
                    self._by_scheme[scheme] = self._parsed(text, f"{scheme}_proxy")
        elif setting:
            proxy = self._parsed(setting, "access.proxy")
            if proxy.user and not user:
                raise ConfigError(
                    "access.proxy: a password does not belong in the settings, which are stored with the crawl; put it "
                    "into the file that access.logins names: [proxy] user = …, password = …"
                )
            self._by_scheme = {"http": proxy, "https": proxy}

    def of(self, scheme: str, host: str) -> Proxy | None:
        """The proxy for a request; None if it goes to the host itself."""
        proxy = self._by_scheme.get(scheme)
        if proxy is None or (self._exceptions and proxy_bypass_environment(host, dict(self._exceptions))):
            return None
        return proxy

    def _parsed(self, text: str, where: str) -> Proxy:
        try:
            url = ada_url.URL(text if "://" in text else f"http://{text}")
        except ValueError:
            url = None
        scheme = url.protocol.rstrip(":") if url else ""
        if url is None or scheme not in _PORTS or not url.hostname:
            shown = "its value" if "@" in text else repr(text)
            raise ConfigError(
                f"{where}: {shown} is no proxy: write http://proxy.example.org:3128, https://…, socks5://… or "
                "socks5h://… (which leaves names to the proxy), or environment"
            )
        user, password = self._login if self._login[0] else (unquote(url.username), unquote(url.password))
        kind = "socks5h" if scheme == "socks5" and self._resolves else scheme
        place = f"{kind}://{url.hostname}:{url.port or _PORTS[scheme]}"
        return Proxy(place, self._resolves or scheme == "socks5h", user, password)

    def note_success(self) -> None:
        self._failures, self._has_worked = 0, True

    def note_failure(self, detail: str, *, is_hopeless: bool) -> None:
        """ProxyError if a person has to do something: going on would fail page after page."""
        self._failures += 1
        if is_hopeless or not self._has_worked or self._failures >= MOST_FAILURES:
            raise ProxyError(
                f"the proxy cannot be used: {detail}; check access.proxy, and the [proxy] log-in in the file that "
                "access.logins names; the same command goes on"
            )


def is_local_name(host: str) -> bool:
    """Whether a name is one of a local network by its form: what a proxy must not be asked for."""
    return host == "localhost" or ("." not in host.rstrip(".") and ":" not in host) or host.endswith(_LOCAL_NAMES)


def proxy_trouble(curl: Any, code: int, message: str) -> tuple[str, str, bool] | None:
    """Reason, detail, and whether another try may succeed, if the proxy is why a request through it has failed."""
    status = curl.getinfo(pycurl.HTTP_CONNECTCODE)
    if status == _LOGIN_NEEDED:
        return PROXY_FAILED, "it asks for a log-in (407)", False
    if status >= 300:
        return PROXY_REFUSED, f"it answers {status}", status >= 500
    if code in (_UNRESOLVED, _UNCONNECTED):
        return PROXY_FAILED, message, True
    if code == _PROXY:
        if any(word in message.lower() for word in _SOCKS_LOGIN):
            return PROXY_FAILED, "it does not accept the log-in", False
        return PROXY_REFUSED, message, True
    return None
