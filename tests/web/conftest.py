"""A crawl of a hostile little web, and the dashboard that shows it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lycosa.engine import Crawl
from lycosa.model import Fetched, Kind, Lease, Outcome, Response
from lycosa.moving import move_to_postgres
from lycosa.web.crawls import House
from lycosa.web.doorkeeper import Door
from lycosa.web.server import application
from lycosa.workspace import Workspace
from postgres_server import new_place

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
QUOTED = SCRIPT.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
FORMULA = '=HYPERLINK("http://evil.test","x")'
PORT = 8765


def hostile_web(pages: int = 24) -> dict[str, str]:
    """Pages whose titles, anchors, URLs and texts would do harm wherever they are taken for more than text."""
    web = {}
    for number in range(pages):
        words = "bicycle cycling touring saddle pedal" if number % 2 else "soup broth ladle onion simmer"
        title = QUOTED if number % 3 else FORMULA.replace('"', "&quot;")
        links = "".join(
            f'<a href="/page/{target}">{QUOTED}</a>' for target in (number + 1, number + 2) if target < pages
        )
        odd = f'<a href="/odd/{number}?q=%3Cscript%3E&quot;onmouseover=alert(1)">javascript:alert(1)</a>'
        web[f"http://h{number % 3}.test/page/{number}"] = (
            f"<html><head><title>{title}</title></head><body><p>{words} {QUOTED} {words}</p>{links}{odd}"
            f'<a href="http://h{(number + 1) % 3}.test/page/{number + 1}">{words}</a>'
            f'<a href="http://h{(number + 2) % 3}.test/page/{number + 2}">{words}</a></body></html>'
        )
    return web


class WebInADictionary:
    """Answers at once; what is not there is a 404."""

    def __init__(self, web: dict[str, str]) -> None:
        self._web = web

    async def fetch(self, lease: Lease) -> Fetched:
        found = self._web.get(lease.url)
        if found is None:
            return Fetched(lease, Outcome(Kind.HTTP_ERROR, "http 404", status=404), is_contact=True)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8"
        response = Response(
            lease.url, 200, [("content-type", "text/html; charset=utf-8")], found.encode(), head=head, ended=1.7e9
        )
        outcome = Outcome(Kind.FETCHED, "http 200", status=200)
        return Fetched(lease, outcome, response, is_contact=True, ended=time.time())


def crawl_in(directory: Path, *, pages: int = 24) -> None:
    Crawl(
        "recreational cycling",
        seeds=["http://h0.test/page/0", "http://h1.test/page/1"],
        directory=directory,
        strategy="best-first",
        fetcher=WebInADictionary(hostile_web()),
        politeness={"delay": 0.0, "fetch_time_factor": 0.0},
        budget={"pages": pages},
        readers={"count": 1},
    ).run()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one crawl; nobody changes it."""
    folder = tmp_path_factory.mktemp("crawls")
    crawl_in(folder / "cycling")
    return folder


@pytest.fixture(scope="session")
def made_in_postgres(made: Path, postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same crawl with its database in PostgreSQL."""
    return copied(made, tmp_path_factory.mktemp("elsewhere") / "crawls", postgres_server)


def copied(made: Path, folder: Path, server: str = "") -> Path:
    """A copy, with its database on this server if one is given."""
    shutil.copytree(made, folder)
    if server:
        move_to_postgres(Workspace(folder / "cycling"), new_place(server), lambda *_: None)
    return folder


@pytest.fixture
def store_kind(request: pytest.FixtureRequest) -> str:
    return getattr(request, "param", "sqlite")


both_stores = pytest.mark.parametrize("store_kind", ["sqlite", "postgresql"], indirect=True)
"""For tests that ask the store; where it is, makes no difference."""


@pytest.fixture
def shown(store_kind: str, request: pytest.FixtureRequest) -> Path:
    """A folder with the crawl in a store of this kind; nobody changes it."""
    folder: Path = request.getfixturevalue("made" if store_kind == "sqlite" else "made_in_postgres")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, store_kind: str, request: pytest.FixtureRequest) -> Path:
    """A copy of it, to be changed."""
    server = "" if store_kind == "sqlite" else request.getfixturevalue("postgres_server")
    return copied(made, tmp_path / "crawls", server)


def client_of(folder: Path, *, door: Door | None = None, **headers: str) -> TestClient:
    house = House([folder], book=folder / "topics.db")
    app = application(house, door or Door("127.0.0.1", PORT))
    return TestClient(app, base_url=f"http://127.0.0.1:{PORT}", headers=headers, raise_server_exceptions=True)


@pytest.fixture
def client(shown: Path) -> Iterator[TestClient]:
    with client_of(shown) as client:
        yield client


@pytest.fixture
def changing(folder: Path) -> Iterator[TestClient]:
    with client_of(folder) as client:
        yield client
        wait_for_errands(client)


def wait_for_errands(client: TestClient) -> None:
    """Processes that learn or index are not left behind."""
    house: House = client.app._app.state.house
    for part in [part for crawl in house.crawls() for part in (crawl.workspace, *crawl.workspace.parts())]:
        for errands in (house.lessons, house.indexing):
            for _ in range(1200):
                if not errands.is_busy(part):
                    break
                time.sleep(0.05)
            else:
                raise AssertionError("an errand does not end")
