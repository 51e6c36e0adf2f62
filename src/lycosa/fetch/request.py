"""One request as libcurl is told of it: to which origin, through which proxy, with whose certificates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import ada_url
import pycurl

from lycosa.fetch.access import Credentials
from lycosa.fetch.logins import Login
from lycosa.fetch.proxy import Proxy
from lycosa.fetch.transfer import Transfer


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of a URL, parsed once: libcurl and the resolver must agree on the host."""

    prefix: str
    """`https://example.org:8443`, without credentials."""
    host: str
    port: int
    authority: str
    """Value of the Host header."""

    @property
    def scheme(self) -> str:
        return self.prefix.partition(":")[0]

    @property
    def authority_host(self) -> str:
        """The host as it stands in a URL: an IPv6 address has brackets."""
        return self.host if ":" not in self.host or self.host.startswith("[") else f"[{self.host}]"


class HttpCall(NamedTuple):
    """One request: where it goes, by which way, and what it carries."""

    url: str
    origin: Origin
    target: str
    """Path and query, as in the request line."""
    addresses: Sequence[str]
    headers: tuple[str, ...]
    """Lines for this request alone."""
    secrets: Credentials
    """Likewise, but not archived."""
    proxy: Proxy | None
    request: bytes
    """The head of the request, as it is archived."""


def parse_origin(front: str) -> Origin | None:
    try:
        url = ada_url.URL(front)
    except ValueError:
        return None
    is_secure = url.protocol == "https:"
    port = int(url.port) if url.port else (443 if is_secure else 80)
    if not url.hostname or not port:
        return None
    return Origin(f"{url.protocol}//{url.host}", url.hostname, port, url.host)


def resolve_entry(origin: Origin, addresses: Sequence[str]) -> str:
    """An entry for CURLOPT_RESOLVE. The plus makes it an ordinary cache entry, which expires and can be replaced."""
    listed = ",".join(f"[{address}]" if ":" in address else address for address in addresses)
    return f"+{origin.host}:{origin.port}:{listed}"


def set_route(transfer: Transfer, call: HttpCall) -> None:
    """Through a proxy, or no longer."""
    curl, proxy, origin = transfer.curl, call.proxy, call.origin
    transfer.route = proxy.url if proxy else ""
    curl.setopt(pycurl.PROXY, transfer.route)
    curl.setopt(pycurl.HTTPPROXYTUNNEL, int(proxy is not None and proxy.has_tunnel))
    for option, value in (
        (pycurl.PROXYUSERNAME, proxy and proxy.user),
        (pycurl.PROXYPASSWORD, proxy and proxy.password),
    ):
        if value:
            curl.setopt(option, value)
        else:
            curl.unsetopt(option)
    if proxy is None or proxy.resolves:
        curl.unsetopt(pycurl.CONNECT_TO)
    else:
        address = call.addresses[0]
        place = f"[{address}]" if ":" in address else address
        curl.setopt(pycurl.CONNECT_TO, [f"{origin.authority_host}:{origin.port}:{place}:{origin.port}"])


def set_login(transfer: Transfer, login: Login) -> None:
    """The certificates of one origin. Such a handle serves no other request: libcurl cannot forget all of it."""
    for option, value in (
        (pycurl.SSLCERT, login.certificate),
        (pycurl.SSLKEY, login.key),
        (pycurl.KEYPASSWD, login.key_password),
        (pycurl.CAINFO, login.ca),
    ):
        if value:
            transfer.curl.setopt(option, value)
            transfer.has_login = True
