"""Crawls that cannot go well as they were asked for say so once, with what would help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lycosa.crawl.advice import Advice
from lycosa.crawl.reading import Reading
from lycosa.crawl.traps import TrapSettings
from lycosa.judges.contrast.judge import ContrastJudge, ContrastStudy
from lycosa.judges.protocol import Judge
from lycosa.lib.text import stems
from lycosa.lib.wordhash import number_of
from lycosa.model import Judgement, Page
from lycosa.store.rows import Batch
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

NO_TRAPS = TrapSettings(is_on=False)  # pages that are all alike
CYCLING = "bicycle tandem gears saddle pedal chain randonneur derailleur cyclist handlebar"
SOUP = "broth simmer onion ladle stock celery saucepan garlic seasoning tureen"
OTHER = "It was a day like any other, and nobody thought much of it. "


@pytest.fixture
def advised(rig):
    """What is said in a crawl, over as many runs as it takes."""

    def run(
        web: dict[str, str],
        *seeds: str,
        words: str = "",
        budgets: tuple[int, ...] = (1000,),
    ):
        crawl = rig(web)
        judge = ContrastJudge.fit((), words, learns_from_seeds=True, seeds_must_fit=bool(words))
        crawl.reading = lambda: Reading(urls=crawl.urls, judge=judge)
        for pages in budgets:
            begun: list[ContrastStudy] = []
            advice: list[Advice] = []

            def begin(begun=begun) -> ContrastStudy:
                begun.append(judge.study())
                return begun[0]

            def look(begun=begun, advice=advice) -> None:
                if not advice:
                    advice.append(Advice(ledger=crawl.ledger, seeds=len(seeds), study=begun[0]))
                advice[0].look()

            parts = replace(StrategyParts.of(judge.abilities, rng=np.random.default_rng(0)), study=begin)
            crawl.crawl(*seeds, strategy=strategy("hunter", parts), watch=look, delay=0.0, pages=pages, width=1)
            advice[0].look(is_last=True)
        told = [row[0] for row in crawl.sql("select message from events where kind = 'advice' order by id")]
        if len(budgets) == 1:
            assert [message for kind, message in crawl.ledger.changes if kind == "advice"] == told
        return told

    return run


def urls(host: str, count: int) -> list[str]:
    return [f"http://{host}.test/{n}" for n in range(count)]


class TestSeeds:
    def test_one_seed_and_no_words(self, advised, html):
        (told,) = advised({"http://a.test/": html(text=CYCLING)}, "http://a.test/")
        assert told.startswith("one page is the only example")
        assert "two to nine more seeds, or a few words" in told

    def test_one_seed_with_words_is_a_good_start(self, advised, html):
        assert advised({"http://a.test/": html(text=CYCLING)}, "http://a.test/", words="bicycle tandem") == []

    def test_good_seeds_need_no_advice(self, advised, html):
        web = {url: html(text=f"{CYCLING} {n}") for n, url in enumerate(urls("a", 5))}
        assert advised(web, *web) == []

    def test_seeds_that_fit_but_are_not_alike(self, advised, html):
        texts = (" ".join(f"{about}{n}" for n in range(240)) for about in ("soup", "rail", "comet"))
        web = {url: html(text="world history " * 4 + text) for url, text in zip(urls("a", 3), texts, strict=True)}
        (told,) = advised(web, *web, words="world history")
        assert told.startswith("the seeds fit the topic's words, but are no more alike than unrelated pages")
        assert "judge.seeds_are_examples=yes" in told

    def test_no_text_and_no_words(self, advised, html):
        web = {url: html("/x.htm", text="") for url in urls("a", 2)}
        (told,) = advised(web, *web)
        assert told.startswith("no seed has text (http://a.test/0, http://a.test/1), so nothing says what the topic is")
        assert "say it in words" in told

    def test_no_text_but_words(self, advised, html):
        web = {url: html(text="") for url in urls("a", 2)}
        (told,) = advised(web, *web, words="bicycle")
        assert "the topic is known by its words alone" in told

    def test_no_text_on_one_of_them(self, advised, html):
        web = {url: html(text=CYCLING if n else "") for n, url in enumerate(urls("a", 3))}
        (told,) = advised(web, *web)
        assert told == "1 seed is without text (http://a.test/0): the topic is learned from the others"

    def test_seeds_that_do_not_fit_the_words(self, advised, html):
        web = {url: html(text=SOUP) for url in urls("a", 3)}
        (told,) = advised(web, *web, words="bicycle tandem")
        assert told.startswith("most seeds do not fit the topic's words: they are only places to start from")
        assert "--set judge.seeds_are_examples=yes" in told

    def test_two_things(self, advised, html):
        web = {}
        for n, url in enumerate(urls("a", 6)):
            words = (CYCLING if n % 2 else SOUP).split()
            akin = [f"{words[0]}{a}{b}" for a in "bdfgk" for b in "lmnprtvwxz"]
            own = [f"{'bdfgkm'[n]}{a}{b}o" for a in "aeiou" for b in "bdfghjklmnpqrstvwxyz"]
            web[url] = html(text=" ".join(words * 9 + akin + own), title=" ".join(words))
        (told,) = advised(web, *web)
        assert told.startswith("the seeds speak of two things: ")
        assert told.endswith("; crawl them apart, or drop one")
        one, other = told.removeprefix("the seeds speak of two things: ").split(" and ")
        for part in (one, other):
            is_soup = "http://a.test/0" in part
            assert [f"http://a.test/{n}" in part for n in range(6)] == [n % 2 != is_soup for n in range(6)]
            assert set(part.partition(" (")[0].split(", ")) <= set((SOUP if is_soup else CYCLING).split())

    def test_seeds_that_still_wait_are_waited_for(self, advised, html):
        """At the end of the first run, of the one that came; it is not taken back when others come."""
        web = {url: html(text=CYCLING) for url in urls("a", 3)}
        (told,) = advised(web, *web, budgets=(1, 3))
        assert told.startswith("one page is the only example")

    def test_a_seed_that_never_comes_is_not_waited_for(self, advised, html, unavailable):
        pages = [f"http://{'ab'[n % 2]}.test/{n}" for n in range(240)]
        web = {"http://s.test/": html(*pages, text=CYCLING)} | {url: html(text=f"{CYCLING} {url}") for url in pages}
        web["http://late.test/"] = unavailable(retry_after=1e6)
        told = advised(web, "http://s.test/", "http://late.test/", budgets=(230,))
        assert [message for message in told if message.startswith("one page is the only example")]

    def test_but_it_is_for_a_while(self, advised, html, unavailable):
        pages = [f"http://{'ab'[n % 2]}.test/{n}" for n in range(40)]
        web = {"http://s.test/": html(*pages, text=CYCLING)} | {url: html(text=f"{CYCLING} {url}") for url in pages}
        web["http://late.test/"] = [unavailable(retry_after=3.0), html(text=CYCLING)]
        told = advised(web, "http://s.test/", "http://late.test/")
        assert [message for message in told if message.startswith("one page is the only example")] == []


class TestFinds:
    def web(self, html, text: str, count: int = 120) -> dict[str, str]:
        pages = [f"http://{'ab'[n % 2]}.test/{n}" for n in range(count)]
        rest = {url: html(text=f"{OTHER} {text} {n}") for n, url in enumerate(pages)}
        return {"http://s.test/": html(*pages, text=CYCLING)} | rest

    def test_nothing_matches(self, advised, html):
        told = advised(self.web(html, "weather"), "http://s.test/", words="bicycle tandem")
        (nothing,) = [message for message in told if "none of" in message]
        assert nothing.startswith("none of 100 pages is relevant but seeds")
        assert "a lower --threshold" in nothing

    def test_at_the_end_sooner(self, advised, html):
        told = advised(self.web(html, "weather", 30), "http://s.test/", words="bicycle tandem")
        assert told[-1].startswith("none of 31 pages is relevant")

    def test_something_matches(self, advised, html):
        web = self.web(html, "weather", 60)
        web["http://a.test/0"] = html(text=CYCLING * 2)
        assert advised(web, "http://s.test/", words="bicycle tandem") == []

    def test_it_is_said_once(self, advised, html):
        assert (
            len(advised(self.web(html, "weather"), "http://s.test/", words="bicycle tandem", budgets=(105, 110))) == 1
        )


class TestOneHost:
    def test_all_pages_of_one_host(self, advised, html):
        pages = urls("a", 60)
        web = {"http://a.test/": html(*pages, text=CYCLING)} | {url: html(text=CYCLING) for url in pages}
        (told,) = advised(web, "http://a.test/", words="bicycle tandem")
        assert told.startswith("all 50 pages are of one host, a.test (no link leads to another)")
        assert "seeds on other hosts would widen it" in told

    def test_a_link_leads_elsewhere(self, advised, html):
        pages = urls("a", 60)
        web = {"http://a.test/": html(*pages, text=CYCLING)} | {url: html(text=CYCLING) for url in pages}
        web["http://a.test/0"] = html("http://b.test/ soup", text=CYCLING)
        (told,) = advised(web, "http://a.test/", words="bicycle tandem", budgets=(55,))
        assert "a.test (1 link leads to another)" in told

    def test_several_hosts(self, advised, html):
        pages = [*urls("a", 60), "http://b.test/"]
        web = {url: html(text=CYCLING) for url in pages} | {"http://a.test/": html(*pages, text=CYCLING)}
        assert advised(web, "http://a.test/", "http://b.test/", words="bicycle tandem") == []


class Doubting:
    """A study of which only the verdicts matter."""

    learns_from_seeds = False
    seeds_are_in_doubt = False

    def __init__(self, *relevance: float, drift: float = 0.0, misses: int = 0, apart: str = "") -> None:
        self.drift = drift
        self.said = np.array(relevance, dtype=np.float32)
        self._misses = misses, np.array([number_of(stem) for stem in stems(apart)], dtype=np.int64)

    def near_misses(self) -> tuple[int, np.ndarray]:
        return self._misses


class TestQuestions:
    @pytest.fixture
    def told(self, rig, html):
        """What is said by a crawl whose pages have this relevance when it has fetched so many."""

        def run(
            *looks: list[float], threshold: float = 0.5, answers: int = 0, drift: float = 0.0, named: str = "in doubt"
        ) -> list[str]:
            pages = [f"http://{'ab'[n % 2]}.test/{n}" for n in range(500)]
            crawl = rig({"http://s.test/": html(*pages, text=CYCLING)} | {url: html(text=url) for url in pages})
            crawl.store.write(Batch(answers=[(0.0, f"http://x.test/{n}", None, "relevant") for n in range(answers)]))
            for relevance in looks:
                crawl.crawl("http://s.test/", pages=len(relevance), delay=0.0)
                for _ in range(2):
                    study = Doubting(*relevance, drift=drift)
                    Advice(ledger=crawl.ledger, seeds=1, study=study, threshold=threshold).look()
            events = crawl.sql("select message from events where kind = 'advice' order by id")
            return [message for (message,) in events if named in message]

        return run

    def test_they_are_offered_once_where_many_pages_are_in_doubt(self, told, tmp_path):
        (message,) = told([0.5] * 12 + [0.01] * 18, [0.5] * 40)
        where = f"{tmp_path}/crawl/"
        assert message == (
            f"12 of 30 pages are in doubt: ten questions would help, while it runs or later: lycosa review {where}"
        )

    def test_not_before_there_are_thirty_pages(self, told):
        assert told([0.5] * 29) == []

    def test_not_where_the_judge_is_sure(self, told):
        assert told([0.5] * 4 + [0.99, 0.01] * 20) == []

    def test_not_to_a_person_who_has_answered_many(self, told):
        assert told([0.5] * 30, answers=10) == []

    def test_but_to_one_who_has_answered_few(self, told):
        assert len(told([0.5] * 30, answers=3)) == 1

    def test_by_the_crawls_own_threshold(self, told):
        assert told([0.1] * 40) == []
        assert len(told([0.1] * 40, threshold=0.1)) == 1

    def test_once_more_when_doubt_has_grown(self, told):
        first, second = told([0.5] * 8 + [0.01] * 22, [0.01] * 120 + [0.5] * 90, [0.01] * 200 + [0.5] * 100)
        assert first.startswith("8 of 30 pages")
        assert second.startswith("90 of 100 pages are in doubt")

    def test_not_when_it_is_as_it_was(self, told):
        assert len(told([0.5] * 8 + [0.01] * 22, [0.5, 0.01] * 150)) == 1

    def test_drift_is_said_once(self, told, tmp_path):
        (message,) = told([0.99, 0.01] * 120, [0.99, 0.01] * 200, drift=0.7, named="drifted")
        assert message.startswith("70% of what is called relevant would not be by your words and examples alone")
        assert message.endswith(f"lycosa review {tmp_path}/crawl/")

    def test_little_drift_is_not(self, told):
        assert told([0.99, 0.01] * 120, drift=0.4, named="drifted") == []


class Money(Judge):
    """Is interested in funds, and knows investment when it sees it."""

    def judge(self, page: Page) -> Judgement:
        is_funds = "funds" in page.terms or "fund" in page.terms
        scores = {"Money/Funds": 0.9, "Money/Investment": 0.1} if is_funds else {"Money/Investment": 0.9}
        return Judgement(0.9 if is_funds else 0.1, is_funds, scores=scores)


class TestNeighbours:
    MOTORS = "motorcycle engine petrol"

    def told(self, rig, html, misses: int) -> list[str]:
        web = {url: html(title=self.MOTORS, text=CYCLING) for url in urls("b", 199)}
        crawl = rig({"http://a.test/": html(*web, text=CYCLING)} | web)
        advice: list[Advice] = []

        def look() -> None:
            if not advice:
                study = Doubting(*[0.0] * 200, misses=misses, apart=f"unspoken {self.MOTORS}")
                advice.append(Advice(ledger=crawl.ledger, seeds=1, study=study))
            advice[0].look()

        crawl.crawl(
            "http://a.test/", strategy=strategy("breadth-first", StrategyParts()), watch=look, delay=0.0, traps=NO_TRAPS
        )
        return [row[0] for row in crawl.sql("select message from events where message like '%near your topic%'")]

    def test_what_stands_beside_the_topic_is_named(self, rig, html):
        (message,) = self.told(rig, html, 40)
        assert message.startswith("40 of 200 pages are near your topic and not about it")
        assert "what sets them apart: motorcycle, engine, petrol." in message
        assert "lycosa review" in message

    def test_nothing_is_said_of_a_few(self, rig, html):
        assert self.told(rig, html, 39) == []

    def test_topics_of_a_book_are_told_which_neighbour_to_take_in(self, rig, html):
        """FC's mutual funds: their pages link to investment at large."""
        market = {url: html(*urls("a", 9), text="bonds shares markets") for url in urls("b", 230)}
        web = {url: html(*market, text="mutual fund funds") for url in urls("a", 9)} | market
        crawl = rig(web)
        crawl.reading = lambda: Reading(urls=crawl.urls, judge=Money())
        advice: list[Advice] = []

        def look() -> None:
            if not advice:
                advice.append(Advice(ledger=crawl.ledger, seeds=9, topics=("Money/Funds",)))
            advice[0].look()

        crawl.crawl(
            *urls("a", 9), strategy=strategy("breadth-first", StrategyParts()), watch=look, delay=0.0, traps=NO_TRAPS
        )
        (told,) = crawl.sql("select message from events where message like '%mark %'")[0]
        assert "mark Money/Investment good as well" in told
