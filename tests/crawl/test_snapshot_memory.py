"""What a crawl that is resumed from a snapshot has in memory: what it knows, once."""

from __future__ import annotations

import gc
import mmap
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import lycosa
from lycosa.crawl import snapshots
from lycosa.crawl.watching import Silence
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lib import snapshot
from lycosa.model import Fetched

WEB = GeneratedWeb(WebPlan(seed=11, pages=200, hosts=4, topics=3, out_degree=12))


class Generated:
    async def fetch(self, lease):
        answer = WEB.render(lease.url)
        return Fetched.page(lease, answer.body) if answer.status == 200 else Fetched.missing(lease)


class Watcher(Silence):
    """Keeps weak references to the ledgers of runs, and does what it is told after each turn."""

    def __init__(self) -> None:
        self.ledgers: list[weakref.ref] = []
        self.look = lambda: None

    def begin(self, view) -> None:
        self.ledgers.append(weakref.ref(view.ledger))


@pytest.fixture
def crawl(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "FIRST", 4)
    return lycosa.Crawl(
        WEB.topic_keywords(0),
        seeds=[WEB.url(page) for page in WEB.seeds(0, 3, np.random.default_rng(3))],
        directory=tmp_path / "crawl",
        fetcher=Generated(),
        politeness={"delay": 0.0, "fetch_time_factor": 0.0},
        readers={"count": 1},
        archive={"is_on": False},
    )


def test_the_file_is_let_go_once_it_is_loaded(crawl, monkeypatch):
    maps: list[weakref.ref] = []

    def mapped(*words, **named):
        made = mmap.mmap(*words, **named)
        maps.append(weakref.ref(made))
        return made

    crawl.run(pages=20)
    monkeypatch.setattr(snapshot, "mmap", SimpleNamespace(mmap=mapped, ACCESS_READ=mmap.ACCESS_READ))
    watcher, kept = Watcher(), []
    watcher.look = lambda: kept.append(sum(each() is not None for each in maps))
    crawl.run(pages=40, watcher=watcher)
    assert len(maps) == 1
    assert set(kept) == {0}


def test_what_an_earlier_run_knew_is_let_go_before(crawl, monkeypatch):
    watcher, kept = Watcher(), []
    read = snapshots.read

    def watched(*words):
        kept.append(watcher.ledgers[0]() is not None)
        return read(*words)

    monkeypatch.setattr(snapshots, "read", watched)
    gc.disable()  # it might be collected by chance
    try:
        crawl.run(pages=20, watcher=watcher)
        crawl.run(pages=40, watcher=watcher)
    finally:
        gc.enable()
    assert kept == [False]
