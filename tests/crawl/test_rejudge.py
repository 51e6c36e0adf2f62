"""What the strategy's study learns becomes the judgements of the whole crawl, the same after a kill."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from lycosa.crawl.reading import Reading
from lycosa.crawl.rejudge import JUDGED_AGAIN, LOOK_EVERY, Learning, Rejudge, spoken_words, words_for
from lycosa.judges.contrast.judge import ContrastJudge, ContrastStudy
from lycosa.lib.wordhash import number_of
from lycosa.store.rows import Batch
from lycosa.store.sqlite import SqliteStore
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

CYCLING = ["bicycle", "tandem", "gears", "saddle", "pedal", "chain", "randonneur", "derailleur", "cyclist", "handlebar"]
SOUP = ["broth", "simmer", "onion", "ladle", "stock", "celery", "saucepan", "garlic", "seasoning", "tureen"]
HOSTS = ("a", "b", "c", "d")
JUDGED = (
    "select url, relevance, is_relevant from judgements j join frontier f on f.id = j.page_id join pages p on"
    " p.id = f.id order by p.number"
)


class Killed(BaseException):
    """The process ends here."""


def text(words: list[str], seed: int) -> str:
    return " ".join(np.random.default_rng(seed).choice(words, 25)) + " every page says this"


@pytest.fixture
def web(html) -> dict[str, str]:
    """Pages on cycling that cite each other and pages on soup, on four hosts."""
    pages = {}
    for number in range(60):
        is_cycling = number % 3 == 0
        others = [(number + step) % 60 for step in (1, 3, 6, 7)]
        links = [f"http://{HOSTS[n % 4]}.test/{n} {(CYCLING if n % 3 == 0 else SOUP)[n % 10]}" for n in others]
        url = f"http://{HOSTS[number % 4]}.test/{number}"
        subject = CYCLING if is_cycling else SOUP
        pages[url] = html(*links, text=text(subject, number), title=f"Of {subject[number % 10]}")
    return pages


SEEDS = ("http://a.test/0", "http://d.test/3", "http://c.test/6")


class Nobody:
    def __init__(self) -> None:
        self.judges: list[ContrastJudge] = []

    def adopt(self, reading: Reading) -> None:
        assert isinstance(reading.judge, ContrastJudge)
        self.judges.append(reading.judge)


class Crawl:
    """A rig with the hunter, its study, and a judge that follows it after every turn."""

    def __init__(self, rig, judge: ContrastJudge) -> None:
        self.rig = rig
        self.judge = judge
        self.readers = Nobody()
        rig.reading = lambda: Reading(urls=rig.urls, judge=judge)

    def crawl(self, *seeds: str, kill_at: int = 0, **more) -> None:
        begun: list[ContrastStudy] = []
        made: list[Rejudge] = []

        def begin() -> ContrastStudy:
            begun.append(self.judge.study())
            return begun[0]

        def look() -> None:
            if not made:
                learning = Learning(study=begun[0], threshold=self.judge.threshold, ledger=self.rig.ledger)
                made.append(
                    Rejudge(
                        ledger=self.rig.ledger,
                        readers=self.readers,
                        reading=self.rig.reading(),
                        clock=self.rig.clock,
                        learning=learning,
                    )
                )
            made[0].look()
            if kill_at and self.rig.ledger.pages >= kill_at:
                raise Killed

        parts = replace(StrategyParts.of(self.judge.abilities, rng=np.random.default_rng(0)), study=begin)
        self.rig.crawl(*seeds, strategy=strategy("hunter", parts), width=1, watch=look, is_killed=kill_at > 0, **more)
        if not made:
            look()
        made[0].end()
        self.study = begun[0]


@pytest.fixture
def learned(rig, web) -> Crawl:
    crawl = Crawl(rig(web), ContrastJudge.fit((), learns_from_seeds=True))
    crawl.crawl(*SEEDS, pages=40)
    return crawl


class TestPages:
    def test_all_have_what_the_study_thinks_of_them(self, learned):
        rows = learned.rig.sql(JUDGED)
        assert len(rows) == 40
        np.testing.assert_allclose([row[1] for row in rows], learned.study.verdicts(), rtol=1e-6)
        for url, relevance, is_relevant in rows:
            assert bool(is_relevant) == (relevance >= 0.5) == (int(url.rpartition("/")[2]) % 3 == 0)

    def test_hosts_and_figures_follow(self, learned):
        ledger, rig = learned.rig.ledger, learned.rig
        relevant = sum(row[2] for row in rig.sql(JUDGED))
        assert ledger.relevant == ledger.figures().relevant == rig.store.totals().relevant == relevant
        assert rig.sql("select sum(relevant) from hosts") == [(relevant,)]
        assert rig.sql("select name, relevant from hosts order by name") == rig.sql(
            "select h.name, sum(j.is_relevant) from judgements j join frontier f on f.id = j.page_id"
            " join hosts h on h.id = f.host_id group by 1 order by 1"
        )
        assert [host.relevant for host in ledger.state.hosts] == [
            row[0] for row in rig.sql("select relevant from hosts")
        ]
        assert list(ledger.state.recent) == [(row[1], bool(row[2])) for row in rig.sql(JUDGED)]

    def test_readers_get_a_judge_that_knows_more_ever_less_often(self, learned):
        last = learned.readers.judges[-1]
        assert last.score_text("bicycle tandem saddle pedal") > 0.5 > last.score_text("broth onion ladle garlic")
        assert 10 < len(learned.readers.judges) < 20

    def test_a_threshold_of_ones_own(self, rig, web):
        crawl = Crawl(rig(web), ContrastJudge.fit((), "bicycle", learns_from_seeds=True, threshold=0.05))
        crawl.crawl(*SEEDS, pages=20)
        for _, relevance, is_relevant in crawl.rig.sql(JUDGED):
            assert bool(is_relevant) == (relevance >= 0.05)
        assert crawl.readers.judges[-1].threshold == 0.05


class TestLessons:
    def told(self, rig) -> list[str]:
        return [row[0] for row in rig.sql("select message from events where kind = 'judge' order by id")]

    def test_they_are_told_in_words_that_pages_use(self, learned):
        *_, last = self.told(learned.rig)
        about, _, other = last.removeprefix("from 40 pages, what it is about: ").partition("; what it is not: ")
        assert set(about.split(", ")) <= set(CYCLING)
        assert set(other.split(", ")) <= set(SOUP)

    def test_they_are_told_seldom(self, learned):
        assert len(self.told(learned.rig)) == 2  # at 25 pages, and at the end

    def test_words_are_those_of_titles_and_links(self, learned):
        spoken = spoken_words(learned.rig.store)
        assert spoken[number_of("bicycl")] == "bicycle"
        assert number_of("everi") not in spoken
        numbers = np.array([number_of("unheard"), number_of("bicycl"), number_of("tandem")])
        assert words_for(numbers, spoken, 1) == ["bicycle"]

    def test_nothing_new_is_not_told_again(self, learned):
        before = self.told(learned.rig)
        learned.crawl(pages=40)
        assert self.told(learned.rig) == before


class TestVersions:
    def test_links_are_scored_again_once_another_process_has_judged_all_pages(self, rig, html):
        web = {"http://a.test/": html(*(f"http://b.test/{n} b" for n in range(9)), text="bicycle")}
        crawl = rig(web)
        crawl.crawl("http://a.test/", pages=1, strategy="best-first")
        rejudge = Rejudge(
            ledger=crawl.ledger,
            readers=Nobody(),
            reading=crawl.reading(),
            clock=crawl.clock,
            newer=lambda version: None,
            version=2,
        )
        waiting = "select distinct score from frontier where state = 'waiting'"
        ((before,),) = crawl.sql(waiting)
        other = SqliteStore(crawl.directory / "crawl.db")
        other.write(Batch(grades=[(0.25, False, 1)]))
        rejudge.look()
        assert crawl.sql(waiting) == [(before,)]
        other.write(Batch(state={JUDGED_AGAIN: b"2"}))
        other.close()
        asyncio.run(crawl.clock.sleep(LOOK_EVERY))
        rejudge.look()
        assert crawl.sql(waiting) == [(0.25,)]
        assert crawl.sql("select message from events where kind = 'judge'") == [
            ("all pages were judged again by version 2",)
        ]


class TestResume:
    @pytest.mark.parametrize("kill_at", [1, 2, 7, 26])
    def test_a_killed_crawl_ends_as_one_that_was_not(self, rig, web, kill_at):
        judge = ContrastJudge.fit((), learns_from_seeds=True)
        straight, broken = Crawl(rig(web, name="straight"), judge), Crawl(rig(web, name="broken"), judge)
        straight.crawl(*SEEDS, pages=40)
        with pytest.raises(Killed):
            broken.crawl(*SEEDS, pages=40, kill_at=kill_at)
        broken.crawl(pages=40)
        assert broken.rig.sql(JUDGED) == straight.rig.sql(JUDGED)
        sites = "select name, pages, relevant from hosts order by name"
        assert broken.rig.sql(sites) == straight.rig.sql(sites)
