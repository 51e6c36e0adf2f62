"""Engines over HTTP, through the crawl's own client: each interface, and whatever an engine may do instead."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from engines import Answer, Documents, engines, misbehaviour
from lycosa.fetch.dns import Resolver
from lycosa.fetch.guard import Guard
from lycosa.fetch.http import Http
from lycosa.fetch.transfer import HttpSettings
from lycosa.live import EngineClient, engine_of
from lycosa.seeds.metasearch.engine import EngineAnswer, FoundUrl
from lycosa.seeds.metasearch.open_search import filled
from lycosa.seeds.metasearch.settings import EngineSettings
from lycosa.seeds.metasearch.site_lists import Site, ranked

PAGES = {
    "http://a.test/gotland": ("Sailing to Gotland", "harbours and fees of the Baltic sea"),
    "http://a.test/skerries": ("Skerries", "sailing among the skerries of the Baltic, with harbours"),
    "http://b.test/sailing-boats": ("Boats <&> more", "boats for sailing"),
    "http://b.test/cats": ("Cats", "cats sleep"),
}


@pytest.fixture(scope="module")
def server():
    with engines(Documents(PAGES)) as running:
        running.special.update(misbehaviour())
        yield running


class GivenSites:
    """The sites of a crawl, as far as an engine asks."""

    def __init__(self, *sites: Site, get=None, forbidden=()) -> None:
        self._sites, self._get, self._forbidden = sites, get, forbidden
        self.asked: list[str] = []

    def best(self, count):
        return self._sites[:count]

    async def get(self, url, max_bytes):
        self.asked.append(url)
        return None if url in self._forbidden else await self._get(url, max_bytes=max_bytes)


def ask(settings: EngineSettings, *queries: str, sites=None, allow=("127.0.0.0/8",), timeout=5.0, count=20):
    """The answers to some queries, one after the other."""

    async def go():
        resolver = Resolver(overrides={})
        http = Http(settings=HttpSettings(user_agent="test"), guard=Guard(allow), resolver=resolver)
        try:
            get = EngineClient(http, timeout=timeout)
            known = sites(get) if callable(sites) else sites or GivenSites()
            closed = Http(settings=HttpSettings(user_agent="test"), guard=Guard(()), resolver=resolver)
            engine = engine_of(settings, get, EngineClient(closed, timeout=timeout), known)
            return [await engine.ask(query, count) for query in queries]
        finally:
            await closed.close()
            await http.close()
            await resolver.close()

    answers = asyncio.run(go())
    return answers[0] if len(answers) == 1 else answers


def searxng(server, path: str) -> EngineSettings:
    return EngineSettings(kind="searxng", url=server.url(path))


class TestInterfaces:
    @pytest.mark.parametrize(
        "kind",
        ["searxng", "brave", "mojeek", "json", "rss", "atom", "suggestions"],
    )
    def test_each_gives_urls_and_titles_the_best_first(self, kind, server, monkeypatch):
        monkeypatch.setenv("BRAVE_KEY", "brave-secret-key")
        monkeypatch.setenv("MOJEEK_KEY", "mojeek-secret-key")
        settings = {
            "searxng": {"kind": "searxng", "url": server.url("searxng/")},
            "brave": {"kind": "brave", "url": server.url("brave/web?q={query}&count={count}"), "key_env": "BRAVE_KEY"},
            "mojeek": {
                "kind": "mojeek", "url": server.url("mojeek/search?q={query}&api_key={key}"), "key_env": "MOJEEK_KEY",
            },
            "json": {
                "kind": "json", "url": server.url("searxng/search?format=json&q={query}"), "results": "results",
            },
            "rss": {"kind": "opensearch", "url": server.url("opensearch/rss/description.xml")},
            "atom": {"kind": "opensearch", "url": server.url("opensearch/atom/description.xml")},
            "suggestions": {"kind": "opensearch", "url": server.url("opensearch/json/description.xml")},
        }[kind]  # fmt: skip
        sailing, rare, none = ask(EngineSettings(**settings), "sailing boats", "gotland & fees", "volcano")
        assert sailing.outcome == rare.outcome == "answered"
        assert sailing.found[0] == FoundUrl("http://b.test/sailing-boats", "Boats <&> more")
        assert {url for url, _ in sailing.found} == {"http://b.test/sailing-boats", *list(PAGES)[:2]}
        assert rare.found == (FoundUrl("http://a.test/gotland", "Sailing to Gotland"),)
        assert (none.found, none.outcome) == ((), "nothing found")

    def test_a_description_is_read_once(self, server):
        before = len(server.asked)
        ask(EngineSettings(kind="opensearch", url=server.url("opensearch/rss/description.xml")), "sailing", "cats")
        assert server.paths()[before:] == ["/opensearch/rss/description.xml", *["/opensearch/rss"] * 2]

    def test_a_description_that_offers_pages_for_people_only(self, server):
        answer = ask(EngineSettings(kind="opensearch", url=server.url("opensearch/html/description.xml")), "x")
        assert answer.outcome == "not understood"
        assert "text/html" in answer.detail

    @pytest.mark.parametrize(
        ("template", "url"),
        [
            ("http://x.test/?q={searchTerms}&n={count}&p={startPage?}", "http://x.test/?q=a%20%26b&n=5&p=1"),
            ("http://x.test/?q={searchTerms}&g={geo:name?}", "http://x.test/?q=a%20%26b&g="),
            ("http://x.test/?q={searchTerms}&g={geo:name}", ""),
            ("http://x.test/?n={count}", ""),
        ],
    )
    def test_templates(self, template, url):
        assert filled(template, "a &b", 5) == url

    def test_the_query_cannot_change_the_address(self, server):
        before = len(server.asked)
        ask(searxng(server, "searxng"), "x&format=html#?/../é\n")
        _, query, _ = server.asked[before]
        assert query["format"] == ["json"]
        assert query["q"] == ["x&format=html#?/../é\n"]

    def test_without_its_key_an_engine_is_not_asked(self, server, monkeypatch):
        monkeypatch.delenv("BRAVE_KEY", raising=False)
        before = len(server.asked)
        answer = ask(EngineSettings(kind="brave", url=server.url("brave/web?q={query}"), key_env="BRAVE_KEY"), "x")
        assert answer == EngineAnswer(
            outcome="no key", detail="set the environment variable BRAVE_KEY", is_contact=False
        )
        assert len(server.asked) == before

    def test_a_wrong_key(self, server, monkeypatch):
        monkeypatch.setenv("BRAVE_KEY", "wrong")
        answer = ask(EngineSettings(kind="brave", url=server.url("brave/web?q={query}"), key_env="BRAVE_KEY"), "x")
        assert (answer.outcome, answer.detail) == ("http 401", "is the key right?")

    def test_a_key_with_a_line_break_is_no_key(self, server, monkeypatch):
        monkeypatch.setenv("BRAVE_KEY", "a\r\nHost: evil.test")
        answer = ask(EngineSettings(kind="brave", url=server.url("brave/web?q={query}"), key_env="BRAVE_KEY"), "x")
        assert answer.outcome == "no key"
        assert "evil" not in answer.detail


class TestMisbehaviour:
    @pytest.mark.parametrize(
        ("path", "outcome", "detail"),
        [
            ("garbage", "not understood", "something else instead of JSON"),
            ("nested", "not understood", "something else instead of JSON"),
            ("number", "not understood", "results at results"),
            ("empty", "not understood", "an empty answer"),
            ("nothing", "nothing found", ""),
            ("captcha", "captcha", "a page that asks for a person"),
            ("forbidden", "http 403", "search.formats"),
            ("moved", "redirect", "to consent.example"),
            ("tocaptcha", "captcha", ""),
            ("quota", "quota", "http 429"),
            ("down", "http 503", ""),
            ("large", "too large", "over 2000000 bytes"),
            ("bomb", "too large", "over 2000000 bytes"),
        ],
    )
    def test_it_is_an_outcome(self, path, outcome, detail, server):
        answer = ask(searxng(server, path), "x")
        assert (answer.found, answer.outcome) == ((), outcome)
        assert detail in answer.detail

    def test_a_quota_says_for_how_long(self, server):
        assert ask(searxng(server, "quota"), "x").retry_after == 7200

    def test_too_slow(self, server):
        answer = ask(searxng(server, "slow"), "x", timeout=0.2)
        assert (answer.outcome, answer.detail) == ("timeout", "no answer within 0.2 s")

    def test_nobody_there(self):
        answer = ask(EngineSettings(kind="searxng", url="http://127.0.0.1:9"), "x")
        assert answer.outcome == "connect"

    def test_an_address_that_is_not_allowed(self, server):
        before = len(server.asked)
        answer = ask(searxng(server, "searxng"), "x", allow=())
        assert answer.outcome == "address refused"
        assert "metasearch.allow" in answer.detail
        assert len(server.asked) == before

    def test_rubbish_among_the_results_is_left_to_the_url_rules(self, server):
        answer = ask(searxng(server, "hostile"), "x")
        assert answer.outcome == "answered"
        assert all(isinstance(url, str) for url, _ in answer.found)
        assert "\x1b" not in "".join(title for _, title in answer.found)

    def test_an_xml_bomb_in_a_feed_is_refused(self, server):
        bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss><item><link>&b;</link></item></rss>'
        server.special["/opensearch/rss"] = lambda: Answer(200, "application/rss+xml", bomb)
        try:
            answer = ask(EngineSettings(kind="opensearch", url=server.url("opensearch/rss/description.xml")), "x")
        finally:
            del server.special["/opensearch/rss"]
        assert answer.outcome == "not understood"

    def test_a_description_cannot_send_requests_to_a_place_that_only_the_engine_may_have(self, server):
        with engines(Documents(PAGES)) as other:
            body = (
                '<OpenSearchDescription><Url type="application/rss+xml" '
                f'template="{other.url("opensearch/rss?q={searchTerms}")}"/></OpenSearchDescription>'
            )
            server.special["/evil.xml"] = lambda: Answer(200, "application/xml", body.encode())
            answer = ask(EngineSettings(kind="opensearch", url=server.url("evil.xml")), "sailing")
            assert answer.outcome == "address refused"
            assert other.asked == []


class TestSiteLists:
    SITEMAP = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "<url><loc>{0}/about</loc></url><url><loc>{0}/harbour-fees.html</loc></url>"
        "<url><loc>http://elsewhere.test/harbour</loc></url></urlset>"
    )

    def sites(self, server, files, **more):
        """A site on loopback with these files."""
        for path, body in files.items():
            server.special[path] = lambda body=body: Answer(200, "application/xml", body)
        place = f"http://127.0.0.1:{server.port}"
        made = []

        def make(get):
            made.append(GivenSites(Site(place, more.get("sitemaps", ())), get=get, forbidden=more.get("forbidden", ())))
            return made[0]

        return make, made

    def test_a_sitemap(self, server):
        place = f"http://127.0.0.1:{server.port}"
        make, _ = self.sites(server, {"/sitemap.xml": self.SITEMAP.format(place).encode()})
        answer, again = ask(EngineSettings(kind="sitemaps"), "harbour fees", "harbour", sites=make)
        assert answer.found == (FoundUrl(f"{place}/harbour-fees.html"),)  # its own, with words of the query
        assert not again.is_contact  # it is read once

    def test_an_index_of_compressed_sitemaps_that_robots_txt_names(self, server):
        place = f"http://127.0.0.1:{server.port}"
        index = f"<sitemapindex><sitemap><loc>{place}/s1.xml.gz</loc></sitemap><sitemap><loc>{place}/i.xml</loc>"
        index += "</sitemap><sitemap><loc>http://elsewhere.test/s.xml</loc></sitemap></sitemapindex>"
        files = {"/i.xml": index.encode(), "/s1.xml.gz": gzip.compress(self.SITEMAP.format(place).encode())}
        make, made = self.sites(server, files, sitemaps=(f"{place}/i.xml",))
        answer = ask(EngineSettings(kind="sitemaps"), "harbour fees", sites=make)
        assert answer.found == (FoundUrl(f"{place}/harbour-fees.html"),)
        assert made[0].asked == [f"{place}/i.xml", f"{place}/s1.xml.gz"]

    @pytest.mark.parametrize(
        ("body", "outcome"),
        [
            (b'<!DOCTYPE x [<!ENTITY a "x">]><urlset><url><loc>&a;</loc></url></urlset>', "not understood"),
            (b"<html>not found</html>", "not understood"),
            (b"", "not understood"),
            (gzip.compress(b"<urlset>" + b" " * 30_000_000), "ratio"),
        ],
    )
    def test_what_is_no_sitemap(self, body, outcome, server):
        make, _ = self.sites(server, {"/sitemap.xml": body})
        assert ask(EngineSettings(kind="sitemaps"), "harbour", sites=make).outcome == outcome

    def test_a_sitemap_that_robots_txt_forbids(self, server):
        place = f"http://127.0.0.1:{server.port}"
        make, _ = self.sites(server, {}, forbidden=(f"{place}/sitemap.xml",))
        answer = ask(EngineSettings(kind="sitemaps"), "harbour", sites=make)
        assert (answer.outcome, answer.is_contact) == ("robots", False)

    def test_without_relevant_sites_nothing_is_asked(self):
        for kind in ("sitemaps", "cdx"):
            answer = ask(EngineSettings(kind=kind, url="http://cdx.test/" if kind == "cdx" else ""), "x")
            assert (answer.outcome, answer.is_contact) == ("no relevant site yet", False)

    def test_an_index_of_an_archive(self, server):
        sites = GivenSites(Site("http://b.test"), Site("http://unknown.test"))
        settings = EngineSettings(kind="cdx", url=server.url("cdx/index"))
        first, second, third = ask(settings, "sailing", "sailing", "sailing", sites=sites)
        assert first.found == second.found == third.found == (FoundUrl("http://b.test/sailing-boats"),)
        assert (first.is_contact, second.is_contact, third.is_contact) == (True, True, False)
        assert [query["url"] for path, query, _ in server.asked if path.startswith("/cdx")] == [
            ["b.test/*"], ["unknown.test/*"],
        ]  # fmt: skip

    def test_ranked_by_words_of_the_url(self):
        urls = [
            "http://a.test/fees",
            "http://a.test/long/harbour-fees",
            "http://a.test/harbours/fee",
            "http://a.test/x",
        ]
        found = [url.removeprefix("http://a.test/") for url, _ in ranked(urls, "harbour fees", 3).found]
        assert found == ["harbours/fee", "long/harbour-fees", "fees"]
