"""Log-ins by origin, from a file that is its owner's alone.

    ["docs.example.org"]                 # https only; for plain http write "http://docs.example.org"
    user = "ann"
    password = "…"                       # or keyring = "lycosa": the password of ann under that service

    ["api.example.org:8443"]
    token = "…"                          # Authorization: Bearer …

    ["wiki.example.org"]
    headers = { X-Api-Key = "…" }        # headers that are secrets
    certificate = "ann.pem"              # a client certificate, with its key in the same file or in `key`
    ca = "company-ca.pem"                # trusted for this host, instead of the system's

    [proxy]                              # for access.proxy
    user = "ann"
    password = "…"

A log-in belongs to one origin. A redirect to another one is another request, which carries that one's log-in or none.
"""

from __future__ import annotations

import base64
import importlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ada_url

from lycosa.errors import ConfigError
from lycosa.fetch.private_file import read_private

SETTING = "access.logins"
PROXY = "proxy"
_KEYS = ("user", "password", "keyring", "token", "headers", "certificate", "key", "key_password", "ca")
_NAME = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
RESERVED = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "range", "te"})
"""Headers that are ours to set."""


@dataclass(frozen=True, slots=True)
class Login:
    """What one origin gets. Secrets are left out of what is printed of it."""

    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    lines: tuple[str, ...] = field(default=(), repr=False)
    """Header lines to send."""
    certificate: str = ""
    key: str = ""
    key_password: str = field(default="", repr=False)
    ca: str = ""


def read_logins(path: Path) -> dict[str, Login]:
    """Log-ins by origin (`https://example.org`), that of the proxy by the name `proxy`."""
    text = read_private(path, setting=SETTING)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # Not `from error`, whose traceback would show what it was reading.
        raise ConfigError(f"{SETTING}: {path} is not valid TOML: {error}") from None
    return {_origin(name, path): _login(name, entry, path) for name, entry in table.items()}


def header_line(name: str, value: Any, *, where: str) -> str:
    """A line to send; ConfigError if it could not be sent, or is not for users to set."""
    if not name or not set(name) <= _NAME or name.lower() in RESERVED:
        raise ConfigError(f"{where}: {name!r} is not a header that can be set here")
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or not value.strip():
        raise ConfigError(f"{where}: the value of {name} cannot be sent; use plain ASCII text on one line, not empty")
    return f"{name}: {value.strip()}"


def _origin(name: str, path: Path) -> str:
    if name == PROXY:
        return name
    try:
        url = ada_url.URL(name if "://" in name else f"https://{name}")
    except ValueError:
        url = None
    if url is None or url.protocol not in ("http:", "https:") or url.pathname != "/" or url.username or url.search:
        shown = "an entry" if "@" in name else repr(name)
        raise ConfigError(
            f'{SETTING}: {path}: {shown} is no host: write ["example.org"], or ["http://example.org:8080"] for plain '
            "http, and user and password below it"
        )
    return f"{url.protocol}//{url.host}"


def _login(name: str, entry: Any, path: Path) -> Login:
    where = f"{SETTING}: {path}: {name!r}"
    if not isinstance(entry, Mapping):
        raise ConfigError(f'{SETTING}: {path}: write a section for each host: ["example.org"]')
    for key in entry:
        if key not in _KEYS:
            raise ConfigError(f"{where}: unknown key {key!r}; known are {', '.join(_KEYS)}")
    texts = {key: value for key, value in entry.items() if key != "headers"}
    for key, value in texts.items():
        if not isinstance(value, str) or not value or not value.isprintable():
            raise ConfigError(f"{where}: {key} must be a text on one line, not empty")
    headers = entry.get("headers", {})
    if not isinstance(headers, Mapping):
        raise ConfigError(f'{where}: headers is a table: headers = {{ X-Api-Key = "…" }}')
    user, password = texts.get("user", ""), texts.get("password", "")
    if "keyring" in texts:
        password = _from_keyring(texts["keyring"], user, where)
    if bool(user) != bool(password):
        raise ConfigError(f"{where}: user and password belong together (or user and keyring)")
    if user and "token" in texts:
        raise ConfigError(f"{where}: give user and password, or a token, not both")
    if ":" in user:
        raise ConfigError(f"{where}: a user name with a colon cannot be sent")
    lines = [header_line(key, value, where=where) for key, value in headers.items()]
    if user:
        pair = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
        lines.append(f"Authorization: Basic {pair}")
    if "token" in texts:
        lines.append(header_line("Authorization", f"Bearer {texts['token']}", where=where))
    files = {key: _file(texts[key], path, f"{where}: {key}") for key in ("certificate", "key", "ca") if key in texts}
    if ("key" in files or "key_password" in texts) and "certificate" not in files:
        raise ConfigError(f"{where}: a key needs its certificate")
    return Login(user, password, tuple(lines), key_password=texts.get("key_password", ""), **files)


def _file(text: str, path: Path, where: str) -> str:
    """A file, by a path that may be relative to the file of log-ins."""
    found = path.parent / Path(text).expanduser()
    if not found.is_file():
        raise ConfigError(f"{where}: {found} is not a file; name a PEM file")
    return str(found)


def _from_keyring(service: str, user: str, where: str) -> str:
    if not user:
        raise ConfigError(f"{where}: keyring needs a user")
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        raise ConfigError(f"{where}: passwords from a keyring need the package: pip install keyring") from None
    try:
        found = keyring.get_password(service, user)
    except Exception as error:  # each of its backends has errors of its own
        raise ConfigError(f"{where}: the keyring cannot be asked: {type(error).__name__}") from None
    if not found:
        raise ConfigError(f"{where}: the keyring has no such password: keyring set {service} USER stores one")
    return str(found)
