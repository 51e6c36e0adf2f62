"""What a document says of itself is read from the vocabularies in use, and never believed beyond its form."""

from __future__ import annotations

import json

import pytest

from lycosa.fetch.urls import UrlRules, Urls
from lycosa.page.clean import clean_document
from lycosa.page.metadata import MAX_DESCRIPTION, MAX_JSON, Metadata, as_date

RESOLVER = Urls(UrlRules()).resolver


def read(head: str, html: str = "<html>") -> Metadata:
    return clean_document("http://a.test/d/", f"{html}<head>{head}".encode(), resolver=RESOLVER).metadata


def linked_data(value: object) -> str:
    return f'<script type="application/ld+json">{value if isinstance(value, str) else json.dumps(value)}</script>'


class TestVocabularies:
    def test_open_graph_and_meta(self):
        head = """<meta property=og:title content="A Title"><meta name=author content="A. Author">
            <meta property=article:published_time content="2023-05-04T10:00:00+02:00">
            <meta property=article:modified_time content="2023-06-01"><meta property=og:site_name content="The Site">
            <meta name=Description content="What it\nis"><meta property=og:type content=article>"""
        assert read(head, "<html lang=en-GB>") == Metadata(
            title="A Title",
            author="A. Author",
            published="2023-05-04T10:00:00+02:00",
            modified="2023-06-01",
            language="en-GB",
            site="The Site",
            description="What it is",
            type="article",
        )

    def test_json_comes_first(self):
        article = {
            "@type": "TechArticle",
            "headline": "From JSON",
            "author": [{"@type": "Person", "name": "A"}, {"name": "B"}, "C"],
            "datePublished": "2024-01-31",
            "publisher": {"name": "Press"},
            "license": "https://example.org/by/4.0/",
            "inLanguage": "de",
        }
        found = read(linked_data({"@graph": [{"@type": "WebPage"}, article]}) + "<meta name=author content=Z>")
        assert found == Metadata(
            title="From JSON",
            author="A; B; C",
            published="2024-01-31",
            language="de",
            site="Press",
            type="TechArticle",
            licence="https://example.org/by/4.0/",
        )

    def test_an_article_speaks_for_the_page_before_a_person(self):
        nodes = [{"@type": "Person", "name": "Somebody"}, {"@type": ["Thing", "Article"], "headline": "Right"}]
        assert read(linked_data(nodes)).title == "Right"

    @pytest.mark.parametrize(
        "head",
        [
            "<link rel='license' href='/licence'>",
            "<a rel='nofollow license' href='/licence'>x</a>",
            "<meta name=dcterms.license content='http://a.test/licence'>",
        ],
    )
    def test_licences(self, head):
        assert read(head).licence == "http://a.test/licence"

    def test_a_licence_by_name(self):
        assert read("<meta name=license content='CC BY 4.0'>").licence == "CC BY 4.0"

    @pytest.mark.parametrize("href", ["javascript:alert(1)", "data:x", "ftp://a.test/x"])
    def test_a_licence_is_a_web_page(self, href):
        assert read(f"<a rel=license href='{href}'>x</a>").licence == ""

    def test_nothing_is_said(self):
        assert read("") == Metadata()

    def test_plain_text_says_nothing(self):
        found = clean_document(
            "http://a.test/", b"<meta name=author content=x>", content_type="text/plain", resolver=RESOLVER
        )
        assert found.metadata == Metadata()


class TestDates:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("2024-01-31", "2024-01-31"),
            ("20240131", "2024-01-31"),
            ("2024-01-31T10:20:30Z", "2024-01-31T10:20:30+00:00"),
            ("2024-01-31 10:20", "2024-01-31T10:20:00"),
            ("Wed, 31 Jan 2024 10:20:30 GMT", "2024-01-31T10:20:30+00:00"),
            ("yesterday", ""),
            ("0001-01-01", ""),
            ("9999-12-31", ""),
            ("2024-13-31", ""),
            ("", ""),
            ("2024-01-31" * 1000, ""),
        ],
    )
    def test_dates(self, text, expected):
        assert as_date(text) == expected


class TestHostile:
    def test_values_are_one_line_without_control_characters(self):
        found = read("<meta name=author content='a\x1b[31m\n\n---\nb\u202e'>")
        assert found.author == "a[31m --- b"

    def test_values_have_a_length(self):
        found = read(f"<meta name=description content='{'x' * 100_000}'><meta name=author content='{'y' * 100_000}'>")
        assert len(found.description) == MAX_DESCRIPTION
        assert len(found.author) == 300

    @pytest.mark.parametrize(
        "source",
        [
            "{",
            "[" * 100_000,
            '{"@type": "Article", "headline": ' + "9" * 100_000 + "}",
            '{"@type": {"a": 1}, "headline": ["x"]}',
            "[[[[[]]]]]",
            "null",
            '"x"',
            json.dumps([{"@type": "Article", "headline": "x" * MAX_JSON}]),
        ],
    )
    def test_json_that_is_not_what_it_should_be(self, source):
        assert read(linked_data(source)) == Metadata()

    def test_many_nodes_are_not_all_looked_at(self):
        nodes = [{"@type": "Thing"}] * 5_000 + [{"@type": "Article", "headline": "far away"}]
        assert read(linked_data(nodes)).title == ""

    def test_authors_of_any_shape(self):
        for author in (1, None, [], [[]], {}, {"name": {"name": "x"}}, [None, {"name": 3}], True):
            assert read(linked_data({"@type": "Article", "author": author})).author == ""
