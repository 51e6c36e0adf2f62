"""What the head of a document declares: where it is continued, the next page, versions, feeds."""

from __future__ import annotations

import pytest

from lycosa.fetch.urls import UrlRules, Urls
from lycosa.model import Page
from lycosa.page.html import read_document
from lycosa.page.limits import PageLimits

URL = "https://site.test/a"
ENGLISH = "<p>The quick brown fox jumps over the lazy dog, and then it runs away from the house of the old man.</p>"


def page(head: str, *, body: str = ENGLISH, attributes: str = "", **limits) -> Page:
    source = f"<html {attributes}><head>{head}</head><body>{body}</body></html>".encode()
    return read_document(
        URL, source, content_type="text/html", resolver=Urls(UrlRules()).resolver, limits=PageLimits(**limits)
    )


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/b", "https://site.test/b"),
        ("5; URL='https://other.test/x y'", "https://other.test/x%20y"),
        ('0, "/b"', "https://site.test/b"),
        ("0;/b#part", "https://site.test/b"),
        ("30;url=/b", ""),
        ("0", ""),
        ("0;url=/a", ""),
        ("0;url=javascript:alert(1)", ""),
        ("x;url=/b", ""),
        ("0;url=" + "/b" * 5000, ""),
    ],
)
def test_meta_refresh(content, target):
    found = page(f'<meta http-equiv="Refresh" content="{content.replace(chr(34), "&quot;")}">')
    assert found.continued_at == target
    assert found.continued_by == ("meta refresh" if target else found.continued_by)


def test_a_refresh_for_browsers_without_scripts_is_none():
    assert page('<noscript><meta http-equiv="refresh" content="0;url=/nojs"></noscript>').continued_at == ""


@pytest.mark.parametrize("mark", ["amp", "⚡"])
def test_an_amp_page_is_found_at_its_canonical(mark):
    found = page('<link rel="canonical" href="/whole">', attributes=mark)
    assert (found.continued_at, found.continued_by) == ("https://site.test/whole", "amp")
    assert page('<link rel="canonical" href="/whole">', body="an amp in a sentence").continued_at == ""


def test_a_page_in_another_language_is_found_in_a_wanted_one():
    head = '<link rel="alternate" hreflang="de-AT" href="/de"><link rel="alternate" hreflang="fr" href="/fr">'
    assert page(head, only_languages=("de",)).continued_at == "https://site.test/de"
    assert page(head, only_languages=("de",)).continued_by == "hreflang"
    assert page(head, only_languages=("en",)).continued_at == ""
    assert page(head, only_languages=("it",)).continued_at == ""
    assert page(head).continued_at == ""
    assert page(head).links == []


def test_the_next_page_is_a_link():
    found = page('<link rel="next" href="?page=2"><link rel="prev" href="?page=0">')
    assert [(link.url, link.rel) for link in found.links] == [("https://site.test/a?page=2", "next")]
    twice = page('<link rel="next" href="/b">', body='<a href="/b">on</a>')
    assert [(link.url, link.anchor) for link in twice.links] == [("https://site.test/b", "on")]


def test_feeds_are_followed_if_they_are_asked_for():
    head = '<link rel="alternate" type="application/rss+xml" title="News  of us" href="/news.rss">'
    assert page(head).links == []
    (link,) = page(head, feeds=True).links
    assert (link.url, link.anchor, link.rel) == ("https://site.test/news.rss", "News of us", "alternate")


def test_only_the_first_elements_are_looked_at():
    empty = '<meta http-equiv="x" content="y"><link rel="x" href="y">'
    declared = '<meta http-equiv="refresh" content="0;url=/b"><link rel="next" href="/c">'
    assert page(empty * 199 + declared).continued_at == "https://site.test/b"
    far = page(empty * 200 + declared)
    assert (far.continued_at, far.links) == ("", [])
