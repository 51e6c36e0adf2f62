"""Examples to start from: some of many, spread over hosts; folders of bookmarks as topics."""

from __future__ import annotations

import pytest

from lycosa.errors import InputError
from lycosa.fetch.urls import UrlRules, Urls, host_key
from lycosa.judges.classifier import Example
from lycosa.seeds.bookmarks import Bookmark
from lycosa.topics.book import TopicBook
from lycosa.topics.bookmarks import bookmark_topics
from lycosa.topics.importing import text_page
from lycosa.topics.start import starting_examples


def test_of_many_examples_some_of_every_host(tmp_path):
    sources = [f"http://big.test/{number}" for number in range(30)] + [
        "http://small.test/",
        "http://small.test/film.mp4",
    ]
    with TopicBook(tmp_path / "topics.db") as book:
        book.add_examples(
            [Example(text_page(url, "", f"words {number}"), ("A/B",)) for number, url in enumerate(sources)],
            makes_topics=True,
        )
    found = starting_examples(tmp_path / "topics.db", ["A"], Urls(UrlRules()), most=5)
    assert found.seeds == ["http://big.test/0", "http://small.test/", *(f"http://big.test/{n}" for n in (1, 2, 3))]
    assert found.available == 31
    assert found.words == "starting from 5 of the 31 examples, spread over their hosts"
    assert {host_key(url) for url in found.seeds} == {"big.test", "small.test"}


def test_folders_are_topics():
    entries = [
        Bookmark("http://a.test/", folder=("Bikes / boats", "\u202eold\x07")),
        Bookmark("http://b.test/", folder=()),
        Bookmark("http://a.test/", folder=("Other",)),
        Bookmark("http://c.test/", folder=("x" * 200, *"abcdefghijklmnopqrs")),
    ]
    topics = bookmark_topics(entries, "Mine/All/")
    assert topics["http://a.test/"] == ("Mine/All/Bikes - boats/old", "Mine/All/Other")
    assert topics["http://b.test/"] == ("Mine/All",)
    assert topics["http://c.test/"][0].count("/") == 15
    assert bookmark_topics(entries[1:2]) == {"http://b.test/": ("Bookmarks",)}
    with pytest.raises(InputError):
        bookmark_topics(entries, "Mine//All")
