"""Furniture in a crawl: it is learned page by page, reaches the readers, and survives the end of a run and a kill."""

from __future__ import annotations

import time
from contextlib import closing

import numpy as np
import pytest

import lycosa
from lycosa.crawl.commit import SAVE_FURNITURE_EVERY
from lycosa.crawl.furniture_state import FURNITURE, PIECE, SinceThen, stored_furniture
from lycosa.fetch.warc_reader import iterate
from lycosa.judges.keywords import KeywordJudge
from lycosa.model import Fetched
from lycosa.page.furniture import Furniture
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.rows import REVISIT, Batch, State, StateRow
from lycosa.store.sqlite import SqliteStore

MENU = "<ul><li>Recreational cycling</li><li>Bicycles</li></ul>"
COUNT = 12


def url(number: int, host: str = "a") -> str:
    return f"http://{host}.test/{number}"


def page(number: int, host: str = "a") -> str:
    """A page on soup, under a menu on cycling, with a link to the next one."""
    text = f"Soup of kind {number} needs salt, water, and patience number {number} on host {host}."
    following = f'<a href="{url(number + 1, host)}">go on</a>' if number + 1 < COUNT else ""
    return f"<title>Soup</title>{MENU}<p>{text} {following}</p>"


@pytest.fixture
def web() -> dict[str, str]:
    return {url(number, host): page(number, host) for number in range(COUNT) for host in "ab"}


def relevances(crawl) -> list[float]:
    rows = crawl.sql("select relevance from judgements join pages on pages.id = page_id order by number")
    return [relevance for (relevance,) in rows]


def test_pages_are_judged_by_their_own_text_from_the_fourth_on(rig, web):
    crawl = rig(web)
    crawl.crawl(url(0))
    found = relevances(crawl)
    assert len(found) == COUNT
    assert min(found[:3]) > 0.1
    assert max(found[3:]) == 0.0


def test_each_host_has_its_own(rig, web):
    crawl = rig(web)
    crawl.crawl(url(0), pages=6)
    crawl.crawl(url(0, "b"), pages=12)
    on_b = crawl.sql(
        "select relevance from judgements join frontier on frontier.id = page_id where url like '%b.test%' order by url"
    )
    assert [relevance > 0.1 for (relevance,) in on_b[:3]] == [True] * 3
    assert sum(relevance > 0.1 for (relevance,) in on_b) == 3


def test_a_page_that_is_fetched_again_is_not_counted_again(rig, web):
    crawl = rig({url(number): web[url(number)] for number in range(3)})
    crawl.crawl(url(0))
    before = crawl.ledger.state.furniture.save()
    ((link,),) = crawl.sql("select id from frontier where url = ?", url(0))
    crawl.web[url(0)] = page(99)
    crawl.store.write(Batch(states=[StateRow(State.WAITING, 0, REVISIT, "", link)], state={FURNITURE: before}))
    crawl.crawl()
    assert crawl.asked.count(url(0)) == 2
    assert crawl.ledger.state.furniture.save() == before


class TestResume:
    def test_goes_on_with_what_was_known(self, rig, web):
        crawl = rig(web)
        crawl.crawl(url(0), pages=4, delay=SAVE_FURNITURE_EVERY)
        crawl.crawl(pages=8)
        assert [relevance > 0.1 for relevance in relevances(crawl)] == [True] * 3 + [False] * 5

    @pytest.mark.parametrize("delay", [SAVE_FURNITURE_EVERY, SAVE_FURNITURE_EVERY / 100])
    def test_a_kill_loses_nothing(self, rig, web, delay):
        crawl = rig(web)
        crawl.crawl(url(0), pages=5, delay=delay, is_killed=True)
        crawl.crawl(pages=8)
        assert [relevance > 0.1 for relevance in relevances(crawl)] == [True] * 3 + [False] * 5

    def test_it_is_not_written_with_every_commit(self, rig, web):
        crawl = rig(web)
        crawl.crawl(url(0), pages=5, delay=SAVE_FURNITURE_EVERY / 10)
        assert crawl.store.state(FURNITURE) is None
        crawl.crawl(pages=10, delay=SAVE_FURNITURE_EVERY * 0.4)
        stored, known = Furniture.restored(crawl.store.state(FURNITURE)), crawl.ledger.state.furniture
        assert 0 < stored.blocks < known.blocks

    def test_what_takes_long_is_done_less_often(self, rig, web, monkeypatch):
        crawl, save, saved = rig(web), Furniture.save, []

        def slow(furniture: Furniture) -> bytes:
            saved.append(crawl.clock.now())
            crawl.clock._now += SAVE_FURNITURE_EVERY / 30
            return save(furniture)

        monkeypatch.setattr(Furniture, "save", slow)
        crawl.crawl(url(0), pages=10, delay=SAVE_FURNITURE_EVERY)
        assert len(saved) == 3  # 100 times as long apart as it takes


class TestPieces:
    """What came since all was saved is written piece by piece."""

    @pytest.fixture
    def furniture(self) -> Furniture:
        return Furniture()

    @staticmethod
    def blocks(number: int) -> bytes:
        return np.arange(500 * number, 500 * (number + 1), dtype=np.uint32).tobytes()

    def test_a_commit_writes_what_has_changed(self, rig, furniture):
        store = rig({}).store
        since = SinceThen(store)
        sizes = []
        for number in range(20):
            furniture.add(number % 3, self.blocks(number))
            changed = since.changes(furniture.journal)
            sizes.append(sum(map(len, changed.values())))
            store.write(Batch(state=changed))
        assert len(furniture.journal) > 4 * PIECE
        assert max(sizes) <= 2 * PIECE
        assert stored_furniture(store)[0].save() == furniture.save()

    def test_what_was_saved_leaves_no_piece_behind(self, rig, furniture):
        crawl = rig({})
        for number in range(20):
            furniture.add(number % 3, self.blocks(number))
        crawl.store.write(Batch(state=SinceThen(crawl.store).changes(furniture.journal)))
        again = stored_furniture(crawl.store)[0]
        since = SinceThen(crawl.store)  # of the next run
        crawl.store.write(Batch(state={FURNITURE: again.save(), **since.changes(again.journal)}))
        again.add(9, self.blocks(99))
        crawl.store.write(Batch(state=since.changes(again.journal)))
        assert stored_furniture(crawl.store)[0].save() == again.save()


class Shop:
    """A fetcher for the library: the web in a dictionary."""

    def __init__(self, web: dict[str, str]) -> None:
        self._web = web

    async def fetch(self, lease):
        body = self._web.get(lease.url)
        return Fetched.missing(lease) if body is None else Fetched.page(lease, body)


class TestWholeCrawl:
    """With reader processes, by the door that everybody uses."""

    @pytest.fixture
    def crawl(self, web, tmp_path, monkeypatch) -> lycosa.Crawl:
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("LYCOSA_CONFIG", raising=False)
        return lycosa.Crawl(
            "recreational cycling",
            seeds=[url(0)],
            directory=tmp_path / "crawl",
            fetcher=Shop(web),
            strategy="best-first",
            judge="keywords",
            politeness={"delay": 0.0, "fetch_time_factor": 0.0},
            readers={"count": 1},
        )

    def test_the_readers_know_it(self, crawl, tmp_path):
        begun = time.time()
        crawl.run(pages=COUNT)
        rows = list(crawl.report().rows(text=False))
        assert [row["relevance"] > 0.1 for row in rows] == [True] * 3 + [False] * (COUNT - 3)
        assert all(begun <= row["fetched_at"] <= time.time() for row in rows)  # though the fetcher does not say when
        stored = [answer for path in (tmp_path / "crawl" / "archive").iterdir() for answer in iterate(path)]
        assert len(stored) == COUNT
        assert all(begun - 1 <= answer.started <= time.time() for answer in stored)

    def test_the_end_of_a_run_saves_it(self, crawl):
        crawl.run(pages=3)
        crawl.run(pages=6)
        rows = list(crawl.report().rows(text=False))
        assert [row["relevance"] > 0.1 for row in rows] == [True] * 3 + [False] * 3

    def test_archived_pages_are_read_with_all_of_it(self, crawl):
        crawl.run(pages=COUNT)
        reading = crawl.config.reading(KeywordJudge("recreational cycling"))
        with closing(SqliteStore(crawl.workspace.database, read_only=True)) as store:
            pages = ArchivedPages(crawl.workspace.archive, store, reading)
            again = list(pages)
            first = pages.page_of(url(0))
        assert [each.judgement.relevance for each in again] == [0.0] * COUNT
        assert first is not None
        assert first.own_text.startswith("Soup of kind 0")
        assert first.text.startswith("Recreational cycling Bicycles Soup of kind 0")
