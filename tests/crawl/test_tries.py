"""Links that failed wait behind all that were never tried, however good their score becomes (paper FC, section 3.3)."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.judges.keywords import KeywordJudge
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

CYCLING = "Recreational cycling on quiet roads. " * 3
FAILING = "http://failing.test/"
NAMES = (
    "breadth-first",
    "random",
    "best-first",
    "shark",
    "fish",
    "evolved",
    "ga2003",
    "hunter",
    "ariadne",
    "pagerank",
    "infospiders",
    "hard+best-first",
    "decay+breadth-first",
    "tunnel+ariadne",
)
AT_ONCE = {"delay": 0.0, "first_backoff": 0.0}
"""Nobody rests, so that the order is the strategy's own."""


def host(number: int) -> str:
    return f"http://host{number}.test/"


@pytest.fixture
def chain(html, unavailable):
    """Ever better pages, each of which cites the failing link and the next page."""

    def make(length: int = 8, failures: int = 1):
        web = {host(0): html(FAILING, f"{host(1)} cycling", text="cycling and soup")}
        for number in range(1, length):
            words = CYCLING + "soup and bread " * (length - number)
            web[host(number)] = html(f"{FAILING} recreational cycling", f"{host(number + 1)} cycling", text=words)
        web[host(length)] = html(text="soup")
        web[FAILING] = [unavailable()] * failures + [html(text=CYCLING)]
        return web

    return make


def made(name: str):
    return strategy(
        name, StrategyParts.of(KeywordJudge("recreational cycling").abilities, rng=np.random.default_rng(1))
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_failed_link_that_is_cited_again_waits_for_its_turn(rig, chain, name):
    crawl = rig(chain())
    crawl.crawl(host(0), strategy=made(name), width=1, **AT_ONCE)
    tries = [at for at, url in enumerate(crawl.asked) if url == FAILING]
    assert len(tries) == 2
    assert crawl.asked[-1] == FAILING
    assert len(crawl.asked) == 9 + 2


@pytest.mark.parametrize("name", ["best-first", "hunter"])
def test_it_waits_across_a_kill(rig, chain, name):
    crawl = rig(chain())
    for pages in range(1, 12):
        crawl.crawl(host(0), pages=pages, strategy=made(name), width=1, is_killed=True, **AT_ONCE)
    assert crawl.asked[-1] == FAILING
    assert crawl.asked.count(FAILING) == 2


def test_the_best_of_all_scores_does_not_help(rig, html, unavailable):
    """A seed's score less one is 0, which is what a link on an irrelevant page has."""
    crawl = rig({host(0): [unavailable(), html()], host(1): html(host(2), text="soup"), host(2): html()})
    crawl.crawl(host(0), host(1), width=1, **AT_ONCE)
    assert crawl.asked == [host(0), host(1), host(2), host(0)]


def test_fewer_tries_come_first_then_the_better_score(rig, html, unavailable):
    poor, good, worst = "http://poor.test/", "http://good.test/", "http://worst.test/"
    web = {
        host(0): html(worst, host(1), host(2), text=CYCLING),
        host(1): html(poor, text="cycling, soup and bread"),
        host(2): html(good, text="recreational cycling, soup and bread"),
        worst: [unavailable(), unavailable(), html()],
        poor: [unavailable(), html()],
        good: [unavailable(), html()],
    }
    crawl = rig(web)
    crawl.crawl(host(0), width=1, **AT_ONCE)
    assert crawl.asked[-4:] == [worst, good, poor, worst]


def test_a_failed_link_found_on_a_better_page_moves_up_among_its_own(rig, html, unavailable):
    one, other = "http://one.test/", "http://other.test/"
    web = {
        host(0): html(one, other, host(1), text="cycling, soup and bread"),
        host(1): html(other, text=CYCLING),
        one: [unavailable(), html()],
        other: [unavailable(), html()],
    }
    crawl = rig(web)
    crawl.crawl(host(0), width=1, **AT_ONCE)
    assert crawl.asked == [host(0), one, other, host(1), other, one]
    assert crawl.row(other)["score"] > crawl.row(one)["score"]


def test_its_score_is_what_the_strategy_gave_it(rig, html, unavailable):
    crawl = rig({host(0): html(FAILING, text=CYCLING), FAILING: unavailable()})
    crawl.crawl(host(0), width=1, max_tries=3, **AT_ONCE)
    ((relevance,),) = crawl.sql("select relevance from judgements")
    assert (crawl.row(FAILING)["score"], crawl.row(FAILING)["tries"]) == (relevance, 3)


def test_a_full_buffer_does_not_make_a_failed_link_a_new_one(rig, html, unavailable):
    """Dropped, found again, and tried as often as any other."""
    web = {host(0): html(FAILING, host(1), host(2), text=CYCLING)}
    for number in (1, 2, 3, 4):
        web[host(number)] = html(FAILING, host(number + 1), host(number + 2), text=CYCLING)
    web |= {FAILING: unavailable(), host(5): html(FAILING), host(6): html(FAILING)}
    crawl = rig(web)
    for pages in range(1, 9):
        crawl.crawl(host(0), pages=pages, buffer=2, width=1, max_tries=2, is_killed=True, **AT_ONCE)
    assert crawl.sql("select count(*) from outcomes join frontier f on f.id = link_id where url = ?", FAILING) == [(2,)]
    assert (crawl.state(FAILING), crawl.row(FAILING)["tries"]) == ("failed", 2)
