"""One list out of many."""

from __future__ import annotations

import pytest

from lycosa.fetch.urls import UrlRules, Urls
from lycosa.seeds.metasearch.engine import FoundUrl
from lycosa.seeds.metasearch.fusion import Source, fused

canonical = Urls(UrlRules()).canonical


def lists(**by_engine: str):
    return [("q", name, [FoundUrl(url, url[-1]) for url in urls.split()]) for name, urls in by_engine.items()]


def test_ranks_of_all_lists_count():
    pages, _ = fused(lists(one="http://a.test/x http://a.test/y http://a.test/z", two="http://a.test/y"), canonical)
    assert [page.url[-1] for page in pages] == ["y", "x", "z"]
    assert pages[0].score == pytest.approx(1 / 61 + 1 / 62)
    assert pages[0].sources == (Source("q", "two", 1), Source("q", "one", 2))


def test_two_seconds_beat_a_first():
    found = lists(one="http://a.test/x http://a.test/z", two="http://a.test/y http://a.test/z")
    assert fused(found, canonical)[0][0].url == "http://a.test/z"


def test_spellings_of_one_url_are_one_page():
    found = lists(one="http://A.test:80/x?utm_source=q#top http://a.test/x", two="http://a.test/x")
    (page,), _ = fused(found, canonical)
    assert page.url == "http://a.test/x"
    assert page.score == pytest.approx(2 / 61)
    assert len(page.sources) == 2


def test_what_the_url_rules_turn_away_is_counted():
    found = lists(one="javascript:x http://u:p@a.test/ http://a.test/x.jpg http://a.test/ok")
    pages, rejected = fused(found, canonical)
    assert [page.url for page in pages] == ["http://a.test/ok"]
    assert rejected == {"scheme": 1, "credentials": 1, "file extension": 1}
    assert pages[0].sources[0].rank == 4
