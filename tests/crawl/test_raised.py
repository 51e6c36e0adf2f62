"""What the distiller puts first stays first, until it is fetched, fails, or a later distillation names others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lycosa.crawl.centrality import DistillingSettings
from lycosa.crawl.distiller import Distilling
from lycosa.frontier.keys import FAVOURED
from lycosa.judges.keywords import KeywordJudge
from lycosa.results.explain import explain
from lycosa.stopping.rules import StopRules
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

SEED, HUB, OLD_HUB = "http://seed.test/", "http://hub.test/", "http://old.test/"
CYCLING = "recreational cycling on quiet roads "
ONCE = DistillingSettings(every=3, revisited=0, admitted=0.5, top=1)


def host(kind: str, number: int) -> str:
    return f"http://{kind}{number}.test/"


@pytest.fixture
def web(html, unavailable):
    """A poor hub that cites relevant pages and unvisited ones, and good pages with many links of their own."""
    cited = [host("cited", number) for number in range(6)]
    relevant = [host("relevant", number) for number in range(3)]
    others = [host("other", number) for number in range(12)]
    pages = {
        SEED: html(HUB, *relevant, *others[:6], text=CYCLING),
        HUB: html(*relevant, *cited, text="soup, bread, salt, pepper and a little recreational cycling"),
    }
    pages |= {url: html(*others, text=CYCLING * 3 + url) for url in relevant}
    pages |= {url: html(text=f"soup {url}") for url in (*others, *cited)}
    return pages


def made(name: str, **settings: float):
    abilities = KeywordJudge("recreational cycling").abilities
    return strategy(name, StrategyParts.of(abilities, rng=np.random.default_rng(1)), settings)


def crawl_with(crawl, chosen, *, settings=ONCE, after=lambda _: None, pages: int = 1000, **more) -> None:
    """Distil as the settings say; `after` is called with the ledger after each distillation."""
    looks: list[Distilling] = []

    def look() -> None:
        if not looks:
            looks.append(Distilling(settings, ledger=crawl.ledger, clock=crawl.clock))
        before = len(crawl.sql("select 1 from events where kind = 'distilled'"))
        looks[0].look()
        if len(crawl.sql("select 1 from events where kind = 'distilled'")) > before:
            after(crawl.ledger)

    crawl.crawl(SEED, HUB, strategy=chosen, width=1, watch=look, pages=pages, delay=0.0, first_backoff=0.0, **more)


def favoured(crawl) -> set[str]:
    waiting = crawl.frontier.waiting_links().tolist()
    links = [link for link in waiting if crawl.frontier.tier_of(link) == FAVOURED]
    return {crawl.store.link(link).url for link in links}


@pytest.mark.parametrize("name", ["best-first", "hunter", "ariadne", "evolved", "pagerank", "shark"])
def test_they_are_first_after_all_links_were_scored_again(rig, web, name):
    crawl = rig(web)
    seen: list[tuple[set[str], list[str]]] = []

    def score_again(ledger) -> None:
        before = favoured(crawl)
        ledger.score_again("another focus")
        first = crawl.frontier.top(len(before)).tolist()
        seen.append((before, [crawl.store.link(link).url for link in first]))

    settings = DistillingSettings(every=5, revisited=0, admitted=0.5, top=2)
    crawl_with(crawl, made(name), after=score_again, settings=settings)
    assert max(len(raised) for raised, _ in seen) > 3
    assert all(raised == set(first) for raised, first in seen)


def test_by_pagerank_too_which_scores_all_links_on_its_own(rig, web):
    crawl = rig(web)
    crawl_with(
        crawl, made("pagerank", **{"pagerank.interval": 1}), settings=DistillingSettings(every=5, revisited=0, top=2)
    )
    cited = [crawl.asked.index(host("cited", number)) for number in range(6)]
    others = [at for at, url in enumerate(crawl.asked) if "other" in url]
    assert max(cited) < max(others)
    assert max(cited) - min(cited) == 5


def test_they_stay_first_across_a_kill(rig, web):
    straight, broken = rig(web, name="straight"), rig(web, name="broken")
    crawl_with(straight, made("best-first"))
    for pages in range(1, 24):
        crawl_with(broken, made("best-first"), pages=pages, is_killed=True)
    assert broken.asked == straight.asked
    assert any("cited" in url for url in broken.asked)


def test_a_raised_link_keeps_its_own_score_and_says_why_it_waits(rig, web):
    crawl = rig(web)
    crawl_with(crawl, made("best-first"), after=lambda _: crawl.stop.request("enough"))
    (url, *_) = favoured(crawl)
    row = crawl.row(url)
    assert (row["state"], row["reason"], row["detail"]) == ("waiting", "cited by hubs", "1 hub")
    best = """select max(relevance) from links join judgements on page_id = source_id
              join frontier f on f.id = target_id where f.url = ?"""
    assert row["score"] == crawl.sql(best, url)[0][0] < 1
    facts = dict(explain(crawl.store, url, urls=crawl.urls, strategy=made("best-first")))
    assert facts["state"] == "waiting before all other links: cited by 1 hub (lycosa distill)"


def test_a_poor_score_of_theirs_does_not_end_the_crawl(rig, web):
    """The rule is about links that wait for their own turn."""
    crawl = rig(web)
    crawl_with(crawl, made("best-first"), after=lambda _: crawl.stop.request("enough"))
    raised, before = favoured(crawl), len(crawl.asked)
    assert raised
    crawl_with(crawl, made("best-first"), settings=replace(ONCE, every=0), stop=StopRules(best_score=1.0))
    assert set(crawl.asked[before:]) == raised


def test_one_that_fails_waits_behind_the_others(rig, web, unavailable, html):
    failing = host("cited", 0)
    web[failing] = [unavailable(), html()]
    crawl = rig(web)
    crawl_with(crawl, made("best-first"), settings=DistillingSettings(every=3, revisited=0, admitted=0.5, top=1))
    assert crawl.asked.count(failing) == 2
    assert crawl.asked[-1] == failing


def test_what_a_later_distillation_does_not_name_waits_for_its_own_turn(rig, web):
    crawl = rig(web)
    enough = lambda _: crawl.stop.request("enough")  # noqa: E731 - used twice
    crawl_with(crawl, made("best-first"), after=enough)
    before = favoured(crawl)
    assert len(before) > 3
    crawl_with(crawl, made("best-first"), after=enough, settings=replace(ONCE, every=1, unvisited=2))
    after = favoured(crawl)
    assert len(after) == 2
    waiting = dict(crawl.sql("select url, reason from frontier where state = 'waiting'"))
    ended = before & set(waiting) - after
    assert ended
    assert {waiting[url] for url in ended} == {""}
    assert {waiting[url] for url in after} == {"cited by hubs"}
    crawl_with(crawl, made("best-first"), settings=replace(ONCE, every=0), pages=crawl.ledger.pages + 2)
    assert set(crawl.asked[-2:]) == after
