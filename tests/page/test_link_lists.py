"""Feeds and sitemaps as lists of links, and what hostile ones cost."""

from __future__ import annotations

import json

import pytest

from lycosa.lib.media_types import is_list_type
from lycosa.page.link_lists import FEED, INDEX, SITEMAP, read_list

URL = "https://site.test/sitemap.xml"


def read(text: str | bytes, content_type: str = "application/xml", url: str = URL):
    return read_list(text.encode() if isinstance(text, str) else text, content_type=content_type, url=url)


def hrefs(text: str, *types: str) -> list[str]:
    found = read(text, *types)
    assert found is not None
    return [entry.href for entry in found.entries]


class TestFeeds:
    def test_rss(self):
        found = read(
            '<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>https://site.test/</link>'
            "<item><title>On &amp; &lt;b&gt;off&lt;/b&gt;</title><link>https://site.test/1</link>"
            "<description>&lt;p&gt;First words&lt;/p&gt;</description></item>"
            "<item><guid>https://site.test/2</guid></item>"
            '<item><guid isPermaLink="false">urn:3</guid></item></channel></rss>',
            "application/rss+xml; charset=utf-8",
        )
        assert found is not None
        assert (found.kind, found.failure) == (FEED, "")
        assert [entry.href for entry in found.entries] == ["https://site.test/1", "https://site.test/2"]
        assert (found.entries[0].title, found.entries[0].summary) == ("On & off", "First words")

    def test_rss_1(self):
        text = '<rdf:RDF xmlns:rdf="r" xmlns="s"><item><link>https://site.test/1</link></item></rdf:RDF>'
        assert hrefs(text, "application/rdf+xml") == ["https://site.test/1"]

    def test_atom_takes_the_link_to_the_page(self):
        text = (
            '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link rel="self" href="/self"/><link rel="replies" '
            'href="/r"/><link href="/page"/><updated>2026-01-01</updated></entry><entry><link rel="alternate" '
            'href="/newer"/><updated>2026-02-01</updated></entry></feed>'
        )
        assert hrefs(text, "application/atom+xml") == ["/newer", "/page"]

    def test_json(self):
        feed = {"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "/1", "title": "One"}, {"id": 2}, 3]}
        found = read(json.dumps(feed), "application/feed+json")
        assert found is not None
        assert [tuple(entry)[:2] for entry in found.entries] == [("/1", "One")]

    @pytest.mark.parametrize("text", ["[" * 100_000, "{", '{"items": 3}', "[]"])
    def test_broken_json_is_said(self, text):
        found = read(text, "application/feed+json")
        assert found is not None
        assert not found.entries
        assert found.failure


class TestSitemaps:
    def test_the_newest_come_first(self):
        text = (
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://site.test/old</loc>'
            "<lastmod>2020-01-01</lastmod></url><url><loc>https://site.test/none</loc></url>"
            "<url><loc>https://site.test/new</loc><lastmod>2026-01-01T10:00:00Z</lastmod></url></urlset>"
        )
        assert hrefs(text) == ["https://site.test/new", "https://site.test/old", "https://site.test/none"]

    def test_news_have_titles(self):
        found = read(
            '<urlset xmlns="s" xmlns:news="n"><url><loc>https://site.test/1</loc><news:news><news:publication>'
            "<news:name>The Paper</news:name><news:title>not this</news:title></news:publication>"
            "<news:publication_date>2026-01-01</news:publication_date><news:title>A tour</news:title></news:news></url>"
            "<url><loc>https://site.test/2</loc></url></urlset>"
        )
        assert found is not None
        assert [(entry.href, entry.title, entry.changed) for entry in found.entries] == [
            ("https://site.test/1", "A tour", "2026-01-01"),
            ("https://site.test/2", "", ""),
        ]

    def test_an_index(self):
        found = read("<sitemapindex><sitemap><loc>https://site.test/a.xml.gz</loc></sitemap></sitemapindex>")
        assert found is not None
        assert (found.kind, found.entries[0].href) == (INDEX, "https://site.test/a.xml.gz")

    def test_a_text_is_one_only_by_its_name_and_if_all_lines_are_urls(self):
        lines = "https://site.test/1\r\n\nhttps://site.test/2\n"
        found = read(lines, "text/plain", "https://site.test/sitemap.txt")
        assert found is not None
        assert (found.kind, [entry.href for entry in found.entries]) == (
            SITEMAP,
            ["https://site.test/1", "https://site.test/2"],
        )
        assert read(lines, "text/plain", "https://site.test/readme.txt") is None
        assert read(f"{lines}and more", "text/plain", "https://site.test/sitemap.txt") is None


class TestHostile:
    BOMB = '<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><rss><item><link>&b;</link></item></rss>'

    def test_an_entity_bomb_is_refused_where_it_begins(self):
        found = read(self.BOMB, "application/rss+xml")
        assert found is not None
        assert found.entries == []
        assert "document type" in found.failure

    def test_a_list_that_breaks_off_gives_what_came_before(self):
        found = read("<urlset><url><loc>https://site.test/1</loc></url><url><loc>https://si")
        assert found is not None
        assert [entry.href for entry in found.entries] == ["https://site.test/1"]
        assert "not XML" in found.failure

    def test_other_xml_is_none(self):
        assert read("<svg><url><loc>x</loc></url></svg>") is None
        assert read("<html><body><urlset></body></html>", "text/html") is None


@pytest.mark.parametrize(
    ("kind", "url", "is_list"),
    [
        ("application/rss+xml", "https://site.test/feed", True),
        ("text/xml; charset=utf-8", "https://site.test/x", True),
        ("application/gzip", "https://site.test/sitemap-1.xml.gz", True),
        ("application/gzip", "https://site.test/linux.tar.gz", False),
        ("application/json", "https://site.test/api", False),
        ("text/html", "https://site.test/sitemap.xml", False),
    ],
)
def test_what_is_looked_into_goes_by_type_and_name(kind, url, is_list):
    assert is_list_type(kind, url) is is_list
