"""What a crawl does beside its straight line, and that a kill in the middle of it loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from distilled import distilling
from lycosa.crawl.centrality import DistillingSettings
from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.distiller import Distilling
from lycosa.errors import ConfigError
from lycosa.judges.keywords import KeywordJudge
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

HOSTS = ("a", "b", "c", "d")


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def web(html: Callable) -> dict[str, str]:
    """A hub on each of four hosts that cites relevant pages on the others, and pages that cite the hubs."""
    pages = {}
    for place, host in enumerate(HOSTS):
        others = [f"http://{other}.test/{number}" for other in HOSTS if other != host for number in range(1, 6)]
        hubs = [f"http://{other}.test/" for other in HOSTS]
        pages[f"http://{host}.test/"] = html(*others, text="recreational cycling links")
        for number in range(1, 6):
            words = "recreational cycling tandem" if (number + place) % 2 else "soup and bread"
            pages[f"http://{host}.test/{number}"] = html(*hubs, f"http://{host}.test/{number}/more", text=words)
    return pages


class TestDistilling:
    SETTINGS = DistillingSettings(every=4, revisited=1, revisit_after=0.0, admitted=0.5)

    def test_hubs_are_fetched_again_and_what_they_cite_comes_first(self, rig, web):
        crawl = rig(web)
        crawl.crawl("http://a.test/", width=1, watch=distilling(crawl, self.SETTINGS))
        told = [row[0] for row in crawl.sql("select message from events where kind = 'distilled'")]
        assert len(told) >= 2
        fetched = [url for url in crawl.asked if url in web]
        assert len(fetched) > len(set(fetched)) == 24
        assert len(crawl.pages) == 24
        numbers = [row[0] for row in crawl.sql("select number from pages order by 1")]
        assert numbers == list(range(1, 25))
        # Links of a page fetched again are there once.
        assert crawl.sql("select source_id, position, count(*) from links group by 1, 2 having count(*) > 1") == []

    def test_killed_in_the_middle(self, rig, web, monkeypatch):
        crawl = rig(web)
        whole = Distilling._favour

        def killed(*_: object) -> None:
            raise Killed

        monkeypatch.setattr(Distilling, "_favour", killed)
        with pytest.raises(Killed):
            crawl.crawl("http://a.test/", pages=12, width=1, watch=distilling(crawl, self.SETTINGS), is_killed=True)
        monkeypatch.setattr(Distilling, "_favour", whole)
        before = len(crawl.pages)
        assert crawl.sql("select 1 from events where kind = 'distilled'") == []
        crawl.crawl(pages=before + 1, width=1, watch=distilling(crawl, self.SETTINGS))
        assert len(crawl.sql("select 1 from events where kind = 'distilled'")) == 1
        assert len(set(crawl.pages)) == before + 1

    def test_killed_with_a_hub_under_way(self, rig, web):
        """It waits for its second visit, and is not counted twice."""
        crawl = rig(web)
        look = distilling(crawl, self.SETTINGS)

        def until_it_is_due() -> None:
            look()
            if crawl.sql("select 1 from frontier where reason = 'revisit' and state = 'waiting'"):
                raise Killed

        with pytest.raises(Killed):
            crawl.crawl("http://a.test/", pages=24, width=1, watch=until_it_is_due, is_killed=True)
        crawl.crawl(width=1)
        assert len(crawl.pages) == 24
        assert [row[0] for row in crawl.sql("select number from pages order by 1")] == list(range(1, 25))
        assert crawl.sql("select 1 from frontier where reason = 'revisit' and state = 'waiting'") == []

    @pytest.mark.parametrize("wrong", [{"admitted": 0.0}, {"admitted": 1.5}, {"every": -1}, {"revisited": -1}])
    def test_impossible_settings(self, wrong):
        with pytest.raises(ConfigError, match="distill"):
            DistillingSettings(**wrong)


class Words:
    """An interest in some words of the topic; wider is with fewer."""

    def __init__(self, factor: float = 1.0) -> None:
        self._factor = factor

    def __str__(self) -> str:
        return f"{self._factor:g}"

    def relevance(self, scores: Mapping[str, float]) -> float:
        return self._factor * scores["similarity"]

    def similarity(self, text: str) -> float:
        return 0.0

    def generalised(self, frequency: Mapping[str, float]) -> Words:
        return Words(self._factor / 2)

    def named(self, text: str, frequency: Mapping[str, float] | None = None) -> Words:
        return Words(float(text))

    topics = ("similarity",)
    rarer_by = "score"


class TestTunnelling:
    """A kill between the commit that changes the focus and the one that scores all waiting links again."""

    def made(self):
        parts = StrategyParts(interest=Words(), rng=np.random.default_rng(1))
        return strategy(
            "tunnel+best-first", parts, {"tunnel.session": 2, "tunnel.widen_below": 0.9, "tunnel.narrow_above": 1.0}
        )

    def crawl(self, crawl, monkeypatch, **more) -> None:
        judge = KeywordJudge.judge

        def with_scores(self, page):
            from dataclasses import replace

            judgement = judge(self, page)
            return replace(judgement, scores={"similarity": judgement.relevance})

        monkeypatch.setattr(KeywordJudge, "judge", with_scores)
        try:
            crawl.crawl("http://a.test/", pages=14, width=1, strategy=self.made(), **more)
        finally:
            monkeypatch.setattr(KeywordJudge, "judge", judge)

    def test_killed_in_the_middle(self, rig, web, monkeypatch):
        straight, broken = rig(web, name="straight"), rig(web, name="broken")
        self.crawl(straight, monkeypatch)
        changes = straight.sql("select message from events where kind = 'focus'")
        assert len(changes) >= 2
        whole = CrawlLedger.score_again

        def killed(*_: object) -> int:
            raise Killed

        monkeypatch.setattr(CrawlLedger, "score_again", killed)
        with pytest.raises(Killed):
            self.crawl(broken, monkeypatch, is_killed=True)
        monkeypatch.setattr(CrawlLedger, "score_again", whole)
        assert broken.sql("select 1 from events where kind = 'focus'") == []
        self.crawl(broken, monkeypatch)
        assert broken.sql("select message from events where kind = 'focus'") == changes
        assert broken.pages == straight.pages
        scores = "select url, score from frontier where state = 'waiting' order by url"
        assert broken.sql(scores) == straight.sql(scores)
