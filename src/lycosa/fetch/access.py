"""How the crawler gets in: through a proxy, with log-ins, cookies, headers, certificates and signatures.

Secrets never are settings, since settings are stored with the crawl: they stand in files of their own, which only their
owner may read, and go nowhere but into requests to the origin they belong to. The request as it is archived leaves them
out, and so does the answer to it with what it sets as cookies; pages that came with a secret are not put into the cache
that crawls share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from lycosa.errors import ConfigError
from lycosa.fetch.cookie_file import CookieFile
from lycosa.fetch.dns import look_up
from lycosa.fetch.logins import PROXY, Login, header_line, read_logins
from lycosa.fetch.proxy import Proxies, Proxy
from lycosa.fetch.signing import DICTIONARY, STRING, Signer, checked_agent, read_signing_key
from lycosa.model import Response

MOST_REFUSALS = 3
"""Times in a row that a log-in is refused before it is not sent any more: accounts are locked after a few."""
_FOR_A_FILE = frozenset({"authorization", "proxy-authorization", "cookie"})
_UNAUTHORIZED = 401


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSettings:
    """How the crawler gets in: proxy, log-ins, cookies, headers, signatures. Secrets stand in files of their own."""

    proxy: str = ""
    """Proxy for all requests: http://proxy.example.org:3128, https://…, socks5://… or socks5h://…; `environment`: as
    HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY say. Empty: none, whatever the environment says."""
    proxy_resolves: bool = False
    """Leave the look-up of names to the proxy, where names cannot be looked up here. The guard then sees no addresses:
    the proxy itself must keep crawlers out of your network."""
    logins: str = ""
    """File of log-ins by host (TOML, mode 0600): user and password, token, secret headers, client certificate."""
    cookies: str = ""
    """File of cookies in Netscape format (mode 0600); each is sent to its own domain only. Empty: no cookies."""
    headers: tuple[str, ...] = ()
    """Further header lines for every request, to any host: ["X-Purpose: research"]. No secrets: they are archived."""
    signing_key: str = ""
    """File of an Ed25519 key (PEM or JSON Web Key, mode 0600) with which every request is signed, so that sites can
    tell that it is yours (Web Bot Auth). Needs lycosa[signed]. Empty: requests are not signed."""
    signature_agent: str = ""
    """Origin at which your public key is to be found: https://crawler.example.org. It is sent and signed."""
    signature_agent_form: str = DICTIONARY
    """How it is sent: dictionary (draft-ietf-webbotauth-httpsig-protocol-00) or string (as Cloudflare asks for)."""

    def __post_init__(self) -> None:
        for line in self.headers:
            name, colon, value = line.partition(":")
            if not colon:
                raise ConfigError("access.headers: write a header as Name: value")
            if name.strip().lower() in _FOR_A_FILE:
                raise ConfigError(
                    f"access.headers: {name.strip()} is a secret, and settings are stored with the crawl; put it into "
                    "the file that access.logins or access.cookies names"
                )
            if name.strip().lower() in ("user-agent", "accept", "accept-language"):
                raise ConfigError(f"access.headers: {name.strip()} has a setting of its own in [http]")
            header_line(name.strip(), value.strip(), where="access.headers")
        if self.signature_agent:
            checked_agent(self.signature_agent, setting="access.signature_agent")
            if not self.signing_key:
                raise ConfigError("access.signature_agent needs access.signing_key: nothing is signed without a key")
        if self.signature_agent_form not in (DICTIONARY, STRING):
            raise ConfigError(
                f"access.signature_agent_form is {self.signature_agent_form!r}: it must be {DICTIONARY} or {STRING}"
            )


class Credentials(NamedTuple):
    """What one request carries besides what is archived of it."""

    lines: tuple[str, ...] = ()
    login: Login | None = None

    def __repr__(self) -> str:
        return f"<{len(self.lines)} secret lines>"


NOTHING = Credentials()


class Access:
    """Proxies, log-ins and cookies of a crawl. Reading the files may raise ConfigError."""

    def __init__(self, settings: AccessSettings, *, now: float = 0.0) -> None:
        logins = read_logins(Path(settings.logins).expanduser()) if settings.logins else {}
        of_proxy = logins.pop(PROXY, Login())
        self.headers: Sequence[str] = settings.headers
        self.proxies = Proxies(
            settings.proxy, resolves=settings.proxy_resolves, user=of_proxy.user, password=of_proxy.password
        )
        self._logins = logins
        self._cookies = CookieFile(Path(settings.cookies).expanduser(), now=now) if settings.cookies else None
        self._refusals: dict[str, int] = {}
        self._signer: Signer | None = None
        if settings.signing_key:
            agent = settings.signature_agent
            self._signer = Signer(
                read_signing_key(Path(settings.signing_key).expanduser()),
                checked_agent(agent, setting="access.signature_agent") if agent else "",
                settings.signature_agent_form,
            )

    @property
    def note(self) -> str:
        """What a person should know about the files; empty if nothing."""
        if self._cookies is None or not self._cookies.expired:
            return ""
        return f"{self._cookies.expired} of {self._cookies.count} cookies have expired and are not sent"

    def for_request(self, origin: str, host: str, url: str) -> Credentials:
        """`origin`: scheme, host and port, without a default port."""
        login = self._logins.get(origin)
        if login is not None and self._refusals.get(origin, 0) >= MOST_REFUSALS:
            login = replace(login, lines=())
        cookie = self._cookies.line_for(url, host) if self._cookies is not None else ""
        if login is None and not cookie:
            return NOTHING
        lines = login.lines if login is not None else ()
        return Credentials((*lines, cookie) if cookie else lines, login)

    def signature(self, authority: str, *, now: float) -> tuple[str, ...]:
        """Lines that sign one request to this authority; none if there is no key."""
        return self._signer.lines(authority, now=now) if self._signer is not None else ()

    def note_answer(self, origin: str, status: int) -> None:
        """An answer to a request with a log-in."""
        if origin in self._logins and self._logins[origin].lines:
            self._refusals[origin] = self._refusals.get(origin, 0) + 1 if status == _UNAUTHORIZED else 0

    def why_unauthorized(self, origin: str) -> str:
        """What to do about an answer 401, in words."""
        if origin not in self._logins:
            return "the site asks for a log-in: name a file with access.logins"
        if self._refusals.get(origin, 0) >= MOST_REFUSALS:
            return f"the log-in was refused {MOST_REFUSALS} times, and is not sent any more in this run"
        return "the log-in was refused: check user and password, or the token"

    def names_left_to_proxy(self) -> Callable[[str, int], Sequence[str]]:
        """A look-up of names that leaves those to the proxy which only it is to look up: they stand for themselves."""

        def found(host: str, port: int) -> Sequence[str]:
            proxy: Proxy | None = self.proxies.of("https" if port == 443 else "http", host)
            return (host,) if proxy is not None and proxy.resolves else look_up(host, port)

        return found


def without_secrets(response: Response) -> Response:
    """An answer to a request with secrets, as it may be kept: what it sets as cookies may be one of them."""
    lines = response.head.split(b"\n")
    head = b"\n".join(line for line in lines if not line.lower().startswith((b"set-cookie:", b"set-cookie2:")))
    headers = [(name, value) for name, value in response.headers if name not in ("set-cookie", "set-cookie2")]
    return replace(response, head=head, headers=headers)
