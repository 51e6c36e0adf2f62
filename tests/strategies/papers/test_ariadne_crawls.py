"""Ariadne in a crawl: what its links are scored by on the way from page to frontier."""

from __future__ import annotations

from lycosa import Crawl
from lycosa.model import Fetched, Lease

SEED, FIRST, TOLD = "http://a.test/", "http://a.test/first", "http://a.test/told"
PAGES = {
    SEED: "<p>Recreational cycling on quiet roads.</p><a href=/first>home</a> <a href=/told>next</a> "
    "<p>And so on.</p><a href=/told>recreational cycling</a>",
    FIRST: "<p>Nothing of the kind.</p>",
    TOLD: "<p>Recreational cycling.</p>",
}


class Recorded:
    async def fetch(self, lease: Lease) -> Fetched:
        return Fetched.page(lease, PAGES[lease.url])


def test_a_later_anchor_of_the_same_url_counts(tmp_path):
    crawl = Crawl(
        "recreational cycling",
        seeds=[SEED],
        directory=tmp_path / "crawl",
        strategy="ariadne",
        constants={"ariadne.url": 0.0},
        fetcher=Recorded(),
        network={"fetches": 1},
        readers={"count": 1},
        politeness={"delay": 0.0, "fetch_time_factor": 0.0},
        page={"context_reach": 0},
    )
    crawl.run(3)
    assert [row["url"] for row in crawl.report().rows(text=False)] == [SEED, TOLD, FIRST]
