"""Under a rule of focus, every link can say which rule let it in, moved it, or turned it away."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from lycosa.judges.keywords import KeywordJudge
from lycosa.results.explain import explain
from lycosa.results.rulings import rulings
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

CYCLING, SOUP = "recreational cycling on quiet roads", "soup, bread, salt and pepper"


def page(number: int) -> str:
    return f"http://host{number}.test/"


def facts_of(crawl, url: str, made) -> dict[str, str]:
    facts: dict[str, str] = {}
    for heading, text in explain(crawl.store, url, urls=crawl.urls, strategy=made):
        facts[heading] = f"{facts[heading]} | {text}" if heading in facts else text
    return facts


@pytest.fixture
def chain(rig, html):
    """Pages in a row, each with one link to the next; the numbered ones are about cycling."""

    def make(length: int, *relevant: int):
        words = {number: CYCLING if number in relevant else SOUP for number in range(length)}
        return rig({page(number): html(page(number + 1), text=f"{words[number]} {number}") for number in range(length)})

    return make


class TestHardFocus:
    def test_which_page_let_a_link_in(self, chain):
        crawl = chain(5, 0, 1)
        crawl.crawl(page(0), strategy="hard+best-first")
        rule = f"hard focus: links followed, as the page is relevant (on {page(1)})"
        assert facts_of(crawl, page(2), strategy("hard+best-first"))["rule"] == rule

    def test_which_page_turned_it_away(self, chain):
        crawl = chain(5, 0, 1)
        crawl.crawl(page(0), strategy="hard+best-first")
        facts = facts_of(crawl, page(3), strategy("hard+best-first"))
        assert facts["reason"] == "not worth following"
        assert facts["rule"] == f"hard focus: links not followed, as the page is not relevant (on {page(2)})"

    def test_by_the_best_topic(self, chain, monkeypatch):
        crawl = chain(3, 0, 1, 2)
        judge = KeywordJudge.judge
        topics = iter(["Sport/Cycling/Touring", "Sport/Rowing", "Sport/Rowing"])
        monkeypatch.setattr(KeywordJudge, "judge", lambda self, read: replace(judge(self, read), best=next(topics)))
        parts = StrategyParts(is_good=lambda topic: topic.startswith("Sport/Cycling"))
        crawl.crawl(page(0), strategy=strategy("hard+best-first", parts))
        let_in, kept_out = (facts_of(crawl, page(n), strategy("hard+best-first", parts))["rule"] for n in (1, 2))
        assert let_in.startswith("hard focus: links followed, as its best topic, Sport/Cycling/Touring, is a good one")
        assert kept_out.startswith("hard focus: links not followed, as its best topic, Sport/Rowing, is no good one")

    def test_a_plain_strategy_has_no_rule(self, chain):
        crawl = chain(3, 0)
        crawl.crawl(page(0), pages=1)
        assert "rule" not in facts_of(crawl, page(1), strategy("best-first"))


class TestDecay:
    NAME = "decay+breadth-first"

    def test_how_far_it_has_come_and_how_far_it_may_go(self, chain):
        crawl = chain(6, 0)
        crawl.crawl(page(0), strategy=self.NAME)
        told = [facts_of(crawl, page(number), strategy(self.NAME)).get("rule", "") for number in range(1, 4)]
        assert told == [
            f"decay: links followed at decay 1, 0 pages beyond one with a relevance above 0.3; 1 more may be passed "
            f"(on {page(0)})",
            f"decay: links followed at decay 0.5, 1 page beyond one with a relevance above 0.3; 0 more may be passed "
            f"(on {page(1)})",
            f"decay: links not followed at decay 0.25, 2 pages beyond one with a relevance above 0.3; at most 1 may be "
            f"passed (on {page(2)})",
        ]
        assert crawl.state(page(3)) == "excluded"


class Words:
    """An interest in cycling, which is widened to soup, step by step."""

    topics = ("cycling", "soup")
    rarer_by = "score"

    def __init__(self, share: float = 0.0) -> None:
        self._share = share

    def __str__(self) -> str:
        return f"{self._share:.0%} soup"

    def relevance(self, scores: Mapping[str, float]) -> float:
        return (1 - self._share) * scores["cycling"] + self._share * scores["soup"]

    def similarity(self, text: str) -> float:
        return self._share if "soup" in text else 0.0

    def generalised(self, frequency: Mapping[str, float]) -> Words | None:
        return Words(self._share + 0.25) if self._share < 0.75 else None

    def named(self, text: str, frequency: Mapping[str, float] | None = None) -> Words:
        return Words(float(text.split("%")[0]) / 100)


@pytest.fixture
def scored(monkeypatch):
    """A judge with scores for two topics."""
    judge = KeywordJudge.judge

    def with_scores(self, read):
        judgement = judge(self, read)
        words = read.text.split()
        soup = sum(word == "soup" for word in words) / len(words)
        return replace(judgement, scores={"cycling": judgement.relevance, "soup": soup})

    monkeypatch.setattr(KeywordJudge, "judge", with_scores)


def tunnel(name: str, **settings: float):
    parts = StrategyParts(interest=Words(), rng=np.random.default_rng(1))
    constants = {"tunnel.session": 4, "tunnel.widen_below": 0.9, "tunnel.narrow_above": 1.0}
    return strategy(name, parts, {**constants, **{f"tunnel.{key}": value for key, value in settings.items()}})


@pytest.fixture
def web(html):
    """Three pages about cycling, then ever more soup, with many links on each."""
    pages = {}
    for number in range(40):
        words = (
            CYCLING if number < 3 else " ".join(["soup"] * (number % 5) + ["bread"] * 5 + ["cycling"] * (number % 3))
        )
        links = [f"{page(number * 2 + step)} soup {number}" for step in (1, 2, 3)]
        pages[page(number)] = html(*links, text=f"{words} {number}")
    return pages


class TestTunnelling:
    @pytest.mark.parametrize("name", ["tunnel+best-first", "tunnel+ariadne", "hard+tunnel+best-first"])
    @pytest.mark.parametrize("is_rescoring", [True, False])
    def test_the_ruling_gives_the_score_that_the_frontier_has(self, rig, web, scored, name, is_rescoring):
        crawl = rig(web)
        settings = {"is_rescoring": is_rescoring}
        crawl.crawl(page(0), pages=22, strategy=tunnel(name, **settings), width=1)
        changes = crawl.sql("select message from events where kind = 'focus'")
        assert name.startswith("hard") or changes
        waiting = crawl.sql(
            "select id, url, score from frontier where state in ('waiting', 'done') and parent_id is not null"
        )
        assert len(waiting) > 3
        for link, url, score in waiting:
            behind = rulings(crawl.store, tunnel(name, **settings), link).behind(score)
            assert behind is not None, url
            assert behind.score == pytest.approx(score, rel=1e-6), url

    def test_depth_and_what_is_left(self, rig, web, scored):
        crawl = rig(web)
        crawl.crawl(page(0), pages=22, strategy=tunnel("tunnel+best-first"), width=1)
        depth = len(
            [1 for (text,) in crawl.sql("select message from events where kind = 'focus'") if "widened" in text]
        )
        assert depth
        found = []
        for (url,) in crawl.sql("select url from frontier where state = 'waiting'"):
            facts = facts_of(crawl, url, tunnel("tunnel+best-first"))
            assert f"all by the widened focus, {25 * depth}% soup" in facts["score"]
            told = re.match(
                rf"tunnelling: focus widened to {25 * depth}% soup "
                rf"\(tunnel depth {depth}, {3 - depth} more steps? possible\); "
                r"the page's relevance is ([0-9.]+) by it, ([0-9.]+) by the interest: (raised|lowered|unchanged) \(on ",
                facts["rule"],
            )
            assert told, facts["rule"]
            assert float(told[1]) == pytest.approx(crawl.row(url)["score"], abs=5e-4)
            found.append(told[3])
        assert set(found) >= {"raised"}

    def test_a_page_fetched_before_the_change_is_explained_by_the_focus_of_its_time(self, rig, web, scored):
        crawl = rig(web)
        crawl.crawl(page(0), pages=22, strategy=tunnel("tunnel+best-first"), width=1)
        facts = facts_of(crawl, page(1), tunnel("tunnel+best-first"))
        assert (
            facts["rule"]
            == f"tunnelling: by the interest itself, 0% soup (tunnel depth 0, 3 more steps possible) (on {page(0)})"
        )

    def test_factors_are_those_of_the_focus(self, rig, web, scored):
        crawl = rig(web)
        crawl.crawl(page(0), pages=22, strategy=tunnel("tunnel+ariadne"), width=1)
        assert crawl.sql("select 1 from events where kind = 'focus'")
        waiting = crawl.sql("select url from frontier where state = 'waiting'")
        sources = []
        for (url,) in waiting:
            facts = facts_of(crawl, url, tunnel("tunnel+ariadne"))
            focused = re.search(r"relevance is ([0-9.]+) by it, ([0-9.]+) by the interest", facts["rule"])
            source = re.search(r"source ([0-9.]+)", facts["factors"])
            assert focused
            assert source
            assert float(source[1]) == pytest.approx(float(focused[1]), abs=6e-3)
            sources.append(float(focused[1]) != float(focused[2]))
        assert any(sources)
