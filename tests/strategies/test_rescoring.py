"""All waiting links scored again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lycosa.frontier.frontier import Frontier
from lycosa.model import Fetched, Judgement, Kind, Lease, Outcome, Page, Visit
from lycosa.strategies.papers.best_first import BestFirst, BestFirstSettings
from lycosa.strategies.protocol import Abilities, Strategy, StrategyParts
from lycosa.strategies.rescoring import score_again

FETCHED = Outcome(Kind.FETCHED, "http 200", status=200)


def visit(relevance: float) -> Visit:
    lease = Lease(0, "http://a.test/", 1, 1.0, 0, 0, 0)
    return Visit(Fetched(lease, FETCHED), FETCHED, Page("http://a.test/"), Judgement(relevance, relevance > 0.5))


def waiting(**scores: float) -> Frontier:
    frontier = Frontier()
    links = np.array([int(name[1:]) for name in scores])
    frontier.push_many(links, np.ones(len(links), dtype=np.int64), np.array(list(scores.values())))
    return frontier


def test_a_link_has_the_best_its_citing_pages_give_it_now() -> None:
    frontier = waiting(l1=0.9, l2=0.9, l3=0.4, l5=0.25)
    visits = [
        (visit(0.2), np.array([1, 2, 7])),  # 7 does not wait
        (visit(0.6), np.array([3, 2])),
    ]
    news = score_again(BestFirst(StrategyParts(), BestFirstSettings()), frontier, visits)
    assert dict(zip(news.links.tolist(), news.scores.tolist(), strict=True)) == {1: 0.2, 2: 0.6, 3: 0.6}
    assert frontier.scores(np.array([1, 2, 3, 5])).tolist() == np.float32([0.2, 0.6, 0.6, 0.25]).tolist()
    assert frontier.top(1).tolist() == [2]


def test_what_failed_before_stays_behind() -> None:
    frontier = waiting(l1=0.5, l2=0.1)
    frontier.set_tiers(np.array([1]), 2)
    news = score_again(BestFirst(StrategyParts(), BestFirstSettings()), frontier, [(visit(0.9), np.array([1]))])
    assert news.links.tolist() == [1]
    assert frontier.scores(np.array([1])).tolist() == np.float32([0.9]).tolist()
    assert frontier.top(2).tolist() == [2, 1]


class Mute(Strategy):
    name = "mute"

    def tell(self, visit: Visit, targets: np.ndarray) -> np.ndarray:
        return np.zeros(len(targets))


def test_a_strategy_that_has_nothing_to_say_changes_nothing() -> None:
    frontier = waiting(l1=0.5)
    news = score_again(Mute(), frontier, [(visit(0.9), np.array([1]))])
    assert not len(news.links)
    assert not len(score_again(Mute(), Frontier(), [(visit(0.9), np.array([1]))]).links)


class Retold(BestFirst):
    """Best-first that remembers what it was told, and changes its mind once."""

    def __init__(self) -> None:
        super().__init__(StrategyParts(), BestFirstSettings())
        self.told: list[tuple[str, int, tuple[str, ...], float]] = []
        self.factor = 1.0
        self.change = ""
        self.reminded = 0

    def tell(self, visit: Visit, targets: np.ndarray) -> np.ndarray:
        assert visit.page is not None
        assert visit.judgement is not None
        links = tuple(f"{link.url} {link.anchor}" for link in visit.page.links)
        assert len(links) == len(targets)
        self.told.append((visit.page.url, visit.lease.id, links, visit.judgement.relevance))
        if visit.note:
            assert visit.note == self.note()
            self.reminded += 1
        return self.again(visit, targets)

    @property
    def abilities(self) -> Abilities:
        return Abilities(is_retold=True, note=self.note, again=self.again, take_change=self.take_change)

    def note(self) -> bytes:
        return self.told[-1][0].encode()

    def again(self, visit: Visit, targets: np.ndarray) -> np.ndarray:
        return BestFirst.tell(self, visit, targets) * self.factor

    def take_change(self) -> str:
        change, self.change = self.change, ""
        return change


def test_on_resume_a_strategy_is_told_everything_again(rig: Callable, html: Callable) -> None:
    web = {
        "http://a.test/": html("http://a.test/1 bicycles", "http://b.test/2 boats", text="recreational cycling"),
        "http://a.test/1": html("http://b.test/2 tandems", "http://c.test/3", text="cycling"),
        "http://b.test/2": html(text="boats"),
    }
    crawl = rig(web)
    first, second = Retold(), Retold()
    crawl.crawl("http://a.test/", pages=2, strategy=first, width=1)
    crawl.crawl(pages=2, strategy=second)
    assert len(first.told) == 2
    assert second.told == first.told
    assert (first.reminded, second.reminded) == (0, 2)


def test_a_change_of_mind_reaches_every_waiting_link_and_the_store(rig: Callable, html: Callable) -> None:
    web = {
        "http://a.test/": html("http://a.test/1", "http://a.test/2", text="recreational cycling"),
        "http://a.test/1": html("http://c.test/3", text="cycling"),
    }
    crawl = rig(web)
    strategy = Retold()

    def halve() -> None:
        if crawl.ledger.pages == 1 and strategy.factor == 1.0:
            strategy.factor, strategy.change = 0.5, "half of everything"

    crawl.crawl("http://a.test/", pages=2, strategy=strategy, width=1, watch=halve)
    (relevance,) = [row[0] for row in crawl.sql("select relevance from judgements where page_id = 1")]
    assert crawl.row("http://a.test/2")["score"] == relevance / 2
    (message,) = [row[0] for row in crawl.sql("select message from events where kind = 'focus'")]
    assert message == "half of everything; 1 waiting links have another score"
