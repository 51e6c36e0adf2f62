"""lycosa explain on a crawl with a snapshot: the same words, without telling the strategy everything again."""

from __future__ import annotations

import json
import shutil

import pytest

import lycosa
from loopback import NOT_FOUND, Answer, html, serving
from loopback import lycosa as run
from lycosa.crawl import resume, snapshots
from lycosa.results import deciding_words, rulings
from lycosa.store.sqlite import SqliteStore

PAGES = 60


def answer(request) -> Answer:
    if not request.path[1:].isdigit():
        return NOT_FOUND
    number = int(request.path[1:])
    words = "recreational cycling on quiet roads with a tandem" if number % 3 else "soup and bread from the oven"
    links = "".join(f'<a href="/{(7 * number + step) % 500}">{words[:20]} {step}</a> ' for step in range(1, 9))
    return html(f"<title>Page {number}</title><p>{words} {number} {words}</p>{links}")


@pytest.fixture
def crawl(tmp_path, monkeypatch):
    """A crawl by the hunter whose snapshot was written before its last pages."""
    monkeypatch.setattr(snapshots, "FIRST", 20)
    settings = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": {"*.test": "127.0.0.1"}},
        "politeness": {"delay": 0.0, "fetch_time_factor": 0.0},
        "readers": {"count": 1},
    }
    directory = tmp_path / "crawl"
    with serving(answer) as (place, _):
        seeds = [f"http://a.test:{place.partition(':')[2]}/{number}" for number in (1, 2, 4)]

        def go_on(pages: int) -> None:
            lycosa.Crawl("recreational cycling", seeds=seeds, directory=directory, config=settings).run(pages=pages)

        go_on(PAGES - 15)
        monkeypatch.setattr(snapshots, "FIRST", 10_000)
        go_on(PAGES)
    return directory


@pytest.fixture
def told(monkeypatch) -> list[int]:
    """Visits that strategies were told by `explain`."""
    numbers: list[int] = []

    def counted(*words, **more):
        for visit, targets in resume.retold(*words, **more):
            numbers.append(visit.lease.id)
            yield visit, targets

    for module in (rulings, deciding_words):
        monkeypatch.setattr(module, "retold", counted)
    return numbers


def test_a_snapshot_serves(crawl, told):
    store = SqliteStore(crawl / "crawl.db", read_only=True)
    (waiting,) = next(store.query("select url from frontier where state = 'waiting' order by score desc limit 1")[1])
    (fetched,) = next(store.query("select url from frontier join pages using (id) where number = 5")[1])
    store.close()
    with_snapshot = [run("explain", crawl, url, "--json").stdout for url in (waiting, fetched)]
    assert 0 < len(told) <= 2 * 15
    told.clear()
    shutil.rmtree(crawl / "snapshots")
    assert [run("explain", crawl, url, "--json").stdout for url in (waiting, fetched)] == with_snapshot
    assert len(told) >= PAGES
    facts = dict(json.loads(with_snapshot[0]))
    assert {"because", "factors", "score"} <= facts.keys()


def test_nothing_is_told_if_nothing_depends_on_it(crawl, told, monkeypatch):
    monkeypatch.setattr(snapshots, "read", lambda *_: pytest.fail("the snapshot was read"))
    assert run("explain", crawl, "http://never.test/seen").returncode == 0
    assert told == []
