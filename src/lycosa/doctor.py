"""Whether everything that a crawl needs is there: versions, network, names, disk, extras.

Each check is a value: what was looked at, how it is, and what would help. Nothing is changed but a file that is written
to a directory and removed again.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import os
import platform
import resource
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pycurl

from lycosa import __version__
from lycosa.config import Config
from lycosa.errors import LycosaError
from lycosa.fetch.access import Access
from lycosa.fetch.archive import try_lock
from lycosa.fetch.dns import Resolver
from lycosa.fetch.guard import Guard
from lycosa.fetch.http import Http, default_ca_file
from lycosa.fetch.transfer import TransferFailure
from lycosa.lib import native

TRIED_URL = "https://example.org/"
"""A page that is meant for such use (RFC 2606)."""
LEAST_DISK, LEAST_MEMORY = 1 << 30, 1 << 30
FILES_BESIDES = 200
"""Files that a crawl has open besides its connections."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
COMPILED = ("lycosa.lib._words", "lycosa.page._tree", "lycosa.fetch._plain_hrefs", "lycosa.strategies.hunter._loops")
EXTRAS = {
    "duckdb": ("parquet", "export to Parquet"),
    "matplotlib": ("plots", "pictures of a crawl"),
    "starlette": ("ui", "the dashboard"),
    "wordllama": ("meaning", "words of like meaning"),
    "cma": ("evolve", "CMA-ES in lycosa evolve"),
    "numba": ("evolve", "lycosa evolve, gp-knn"),
    "scipy": ("learn", "training of judges other than bayes"),
    "cryptography": ("signed", "signed requests (access.signing_key)"),
    "keyring": ("", "passwords from the system's keyring"),
}
PROXY_NAMES = ("http_proxy", "https_proxy", "all_proxy")


class Health(StrEnum):
    FINE = "fine"
    NOTE = "note"
    """Nothing is wrong; somebody may want to know."""
    BAD = "bad"


class Finding(NamedTuple):
    subject: str
    health: Health
    words: str
    """How it is and, if it is bad, what would help."""


def examine(config: Config, directory: Path, *, is_online: bool = True) -> Iterator[Finding]:
    """All checks, one after the other. `directory`: where a crawl is or would be."""
    yield from _versions()
    yield from _extras()
    yield _disk(directory)
    yield _directory(directory)
    yield _memory()
    yield _open_files(config)
    yield _clock()
    yield _certificates(config)
    yield from _proxies(config)
    if is_online:
        yield from asyncio.run(_network(config))


def _versions() -> Iterator[Finding]:
    yield Finding("lycosa", Health.FINE, f"{__version__} on Python {platform.python_version()}, {platform.platform()}")
    details = pycurl.version_info()
    has_tls = bool(details[5])
    words = f"{details[1]}, {details[5] or 'without TLS: https cannot be fetched; install pycurl from PyPI'}"
    yield Finding("libcurl", Health.FINE if has_tls else Health.BAD, words)
    yield Finding("sqlite", Health.FINE, sqlite3.sqlite_version)
    missing = [name for name in COMPILED if native.load(name) is None]
    if missing:
        words = (
            f"{', '.join(missing)} not compiled: reading takes two to three times as long, the hunter up to a tenth "
            "of a second for each page; install with a C compiler"
        )
        yield Finding("compiled code", Health.NOTE, words)
    else:
        yield Finding("compiled code", Health.FINE, "is used")


def _extras() -> Iterator[Finding]:
    for module, (extra, purpose) in EXTRAS.items():
        if importlib.util.find_spec(module) is None:
            how = f"pip install 'lycosa[{extra}]'" if extra else f"pip install {module}"
            yield Finding(module, Health.NOTE, f"not installed: {purpose} needs it ({how})")
        else:
            yield Finding(module, Health.FINE, f"{importlib.metadata.version(module)}: {purpose}")
    browser = next(filter(None, map(shutil.which, BROWSERS)), "")
    yield Finding(
        "browser", Health.FINE if browser else Health.NOTE, browser or f"none of {', '.join(BROWSERS)} is here"
    )


def _disk(directory: Path) -> Finding:
    place = next(path for path in (directory, *directory.resolve().parents) if path.exists())
    free = shutil.disk_usage(place).free
    words = f"{free / 1e9:,.1f} GB free at {place}"
    if free < LEAST_DISK:
        return Finding("disk", Health.BAD, f"{words}: free some space; a page takes 10 to 20 KB in the archive")
    return Finding("disk", Health.FINE, words)


def _directory(directory: Path) -> Finding:
    """Whether a crawl could write here, and lock what it writes."""
    place = next(path for path in (directory, *directory.resolve().parents) if path.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".lycosa-doctor-") as file:
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
            has_locks = try_lock(file.fileno(), Path(file.name))
    except OSError as error:
        return Finding("directory", Health.BAD, f"{place}: cannot be written: {error.strerror}; choose another with -o")
    if not has_locks:
        words = f"{place}: the file system has no locks: see to it that no two crawls run in one directory"
        return Finding("directory", Health.NOTE, words)
    return Finding("directory", Health.FINE, f"{place} can be written and locked")


def _memory() -> Finding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    words = f"{total / 1e9:,.1f} GB, {len(os.sched_getaffinity(0))} cores"
    if total < LEAST_MEMORY:
        return Finding("memory", Health.NOTE, f"{words}: little; set readers.count = 1")
    return Finding("memory", Health.FINE, words)


def _open_files(config: Config) -> Finding:
    most, needed = resource.getrlimit(resource.RLIMIT_NOFILE)[0], config.http.max_idle_connections + FILES_BESIDES
    if most != resource.RLIM_INFINITY and most < needed:
        words = (
            f"{most:,} may be open, {needed:,} may be needed: ulimit -n {needed}, or lower http.max_idle_connections"
        )
        return Finding("open files", Health.NOTE, words)
    return Finding("open files", Health.FINE, f"{most:,} may be open")


def _clock() -> Finding:
    now = time.gmtime()
    words = time.strftime("%Y-%m-%d %H:%M UTC", now)
    if now.tm_year < 2024:
        return Finding("clock", Health.BAD, f"{words}: certificates would not be valid yet; set the machine's clock")
    return Finding("clock", Health.FINE, words)


def _certificates(config: Config) -> Finding:
    found = config.http.ca_file or default_ca_file()
    if not found:
        return Finding(
            "certificates", Health.BAD, "no trusted ones found: install ca-certificates, or set http.ca_file"
        )
    return Finding("certificates", Health.FINE, found)


def _proxies(config: Config) -> Iterator[Finding]:
    """Addresses are not shown: a password may be in them."""
    named = [name for name in PROXY_NAMES if os.environ.get(name) or os.environ.get(name.upper())]
    if named and not config.access.proxy:
        words = f"{', '.join(named)} in the environment are not used: --proxy environment uses them"
        yield Finding("proxy", Health.NOTE, words)
    elif config.access.proxy:
        yield Finding("proxy", Health.FINE, "as access.proxy says")


async def _network(config: Config) -> list[Finding]:
    """A name is looked up, and a page is fetched as a crawl would."""
    try:
        access = Access(config.access, now=time.time())
    except LycosaError as error:
        return [Finding("access", Health.BAD, str(error))]
    resolver = Resolver(overrides=config.network.resolve, look_up=access.names_left_to_proxy())
    http = Http(settings=config.http_settings(), guard=Guard(config.network.allow), resolver=resolver, access=access)
    host = urlsplit(TRIED_URL).hostname or ""
    try:
        found = await resolver.resolve(host, 443)
        if not found.addresses:
            words = (
                f"{host} cannot be looked up: {found.failure}; check the network and /etc/resolv.conf, or set a --proxy"
            )
            return [Finding("names", Health.BAD, words)]
        names = Finding("names", Health.FINE, f"{host} is at {found.addresses[0]}")
        answer = await http.get(TRIED_URL, max_bytes=1 << 20)
    except LycosaError as error:
        return [Finding("network", Health.BAD, str(error))]
    finally:
        await http.close()
        await resolver.close()
    if isinstance(answer, TransferFailure):
        words = f"{TRIED_URL}: {answer.reason} {answer.detail}; check the network, the firewall, or set a --proxy"
        return [names, Finding("network", Health.BAD, words)]
    return [names, Finding("network", Health.FINE, f"{TRIED_URL} answered {answer.status}")]


def is_healthy(findings: list[Finding]) -> bool:
    return all(finding.health is not Health.BAD for finding in findings)
