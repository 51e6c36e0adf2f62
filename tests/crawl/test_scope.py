"""The scope of a crawl: which sites, how many pages of each, in which languages. A URL can say why it is out of it."""

from __future__ import annotations

import pytest

from lycosa.crawl.reading import OTHER_LANGUAGE, Reading, read_response
from lycosa.errors import ConfigError
from lycosa.fetch.politeness import Politeness
from lycosa.fetch.urls import NOT_INCLUDED, UrlRules, Urls
from lycosa.judges.protocol import NoJudge
from lycosa.model import Kind, Outcome, Response
from lycosa.page.limits import PageLimits
from lycosa.results.explain import explain
from lycosa.strategies.table import strategy

A, B = "http://a.test/", "http://b.test/"
GERMAN = "Die Wolfspinne jagt am Tage auf dem Boden und trägt ihre Jungen einige Wochen auf dem Rücken. " * 2


class TestSites:
    @pytest.mark.parametrize(
        ("rules", "inside", "outside"),
        [
            (
                {"sites": ["example.org"]},
                ["http://example.org/", "https://www.example.org/x", "http://example.org:8080/"],
                ["http://example.com/", "http://notexample.org/", "http://example.org.evil.test/"],
            ),
            ({"sites": ["https://Example.org/"]}, ["http://example.org/a"], ["http://other.org/"]),
            (
                {"under": ["https://docs.org/guide/"]},
                ["https://docs.org/guide/a", "http://docs.org/guide/", "https://docs.org/guide/b/c?d"],
                ["https://docs.org/", "https://docs.org/guidebook", "https://www.docs.org/guide/"],
            ),
            (
                {"under": ["docs.org/guide"]},
                ["https://docs.org/guide", "https://docs.org/guide/x", "https://docs.org/guide?x=1"],
                ["https://docs.org/guidebook"],
            ),
            ({"under": ["docs.org"]}, ["https://docs.org/x"], ["https://www.docs.org/x"]),
            (
                {"sites": ["a.test"], "under": ["b.test/x/"], "include": ["/both/*"]},
                ["http://a.test/", "http://b.test/x/1", "http://c.test/both/1"],
                ["http://b.test/y", "http://c.test/"],
            ),
            ({"sites": ["a.test"], "exclude": ["*/print/*"]}, ["http://a.test/x"], ["http://a.test/print/x"]),
        ],
    )
    def test_what_is_inside(self, rules, inside, outside):
        urls = Urls(UrlRules(**{name: tuple(values) for name, values in rules.items()}))
        assert [url for url in inside if urls.canonical(url)[1]] == []
        assert [url for url in outside if not urls.canonical(url)[1]] == []

    def test_why_a_url_is_outside(self):
        urls = Urls(UrlRules(sites=("a.test",), under=("b.test/x/",)))
        assert urls.canonical("http://c.test/")[1] == NOT_INCLUDED
        assert urls.reason_detail("http://c.test/") == "matches none of: the site a.test, under b.test/x/"

    @pytest.mark.parametrize("site", ["", "example.org/docs", "*.example.org", "https://example.org/docs/"])
    def test_what_is_no_site(self, site):
        with pytest.raises(ConfigError, match=r"urls\.sites has .*: write the name of a site"):
            Urls(UrlRules(sites=(site,)))

    def test_a_text_is_no_list(self):
        with pytest.raises(ConfigError, match=r"urls\.sites: 'a.test' is not a list"):
            Urls(UrlRules(sites="a.test"))

    @pytest.mark.parametrize("place", ["", "/docs/", "*/docs/"])
    def test_what_is_no_beginning(self, place):
        with pytest.raises(ConfigError, match=r"urls\.under has .*: write the beginning of URLs"):
            Urls(UrlRules(under=(place,)))


class TestPagesOfAHost:
    @pytest.fixture
    def web(self, html):
        web = {f"{A}{n}": html(f"{B}{n}", text=f"cycling {n}") for n in range(20)}
        web |= {f"{B}{n}": html(text=f"cycling {n}") for n in range(20)}
        return web | {A: html(*(f"{A}{n}" for n in range(20)), text="cycling")}

    def test_no_more_than_asked_for(self, rig, web):
        crawl = rig(web)
        crawl.crawl(A, max_pages_per_host=5)
        assert {host.name: host.pages for host in crawl.store.hosts()} == {"a.test": 5, "b.test": 4}

    def test_the_url_says_why(self, rig, web):
        crawl = rig(web)
        crawl.crawl(A, max_pages_per_host=5)
        waiting = next(f"{A}{n}" for n in range(20) if f"{A}{n}" not in {page.url for page in crawl.store.pages()})
        told = dict(explain(crawl.store, waiting, urls=Urls(UrlRules()), strategy=strategy("best-first")))
        assert told["state"] == ("waiting on a host that was set aside: enough pages: 5 fetched, 5 allowed per host")

    def test_a_higher_limit_lets_the_crawl_go_on(self, rig, web):
        crawl = rig(web)
        crawl.crawl(A, max_pages_per_host=5)
        crawl.crawl(A, max_pages_per_host=5)
        assert sum(host.pages for host in crawl.store.hosts()) == 9
        crawl.crawl(A, max_pages_per_host=7)
        assert {host.name: host.pages for host in crawl.store.hosts()} == {"a.test": 7, "b.test": 6}

    def test_without_a_limit_nothing_changes(self):
        fetched = Outcome(Kind.FETCHED, "http 200", status=200)
        assert Politeness().why_set_aside(fetched, crawl_delay=0, failures=0, pages=10**9) == ""
        assert Politeness().may_readmit(crawl_delay=0, failures=0, rested=0, pages=10**9)


class TestLanguages:
    def read(self, text: str, *languages: str):
        reading = Reading(urls=Urls(UrlRules()), judge=NoJudge(), limits=PageLimits(only_languages=languages))
        body = f"<p>{text}<a href=/next>more</a>".encode()
        return read_response(Response(A, 200, [("content-type", "text/html; charset=utf-8")], body), reading)

    def test_another_language_is_refused_with_its_reason(self):
        result = self.read(GERMAN, "en")
        assert (result.outcome.kind, result.outcome.reason) == (Kind.REFUSED, OTHER_LANGUAGE)
        assert result.outcome.detail == "de; only en is asked for"
        assert result.page is None

    @pytest.mark.parametrize("languages", [(), ("de",), ("en", "de")])
    def test_what_is_asked_for_is_kept(self, languages):
        assert self.read(GERMAN, *languages).page is not None

    def test_too_little_text_to_tell_is_kept(self):
        assert self.read("123", "en").page is not None

    @pytest.mark.parametrize("code", ["english", "EN", "e", "e1", ""])
    def test_codes(self, code):
        with pytest.raises(ConfigError, match=r"page\.only_languages has .*: write ISO 639-1 codes"):
            PageLimits(only_languages=(code,))
