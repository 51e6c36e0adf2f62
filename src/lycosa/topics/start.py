"""Where a crawl for topics starts if no seeds are given: from their own examples (paper FC, section 3: D(C*)).

Differs from FC, which has a few dozen of them: of many examples only some are taken, as a crawl that fetches every
example first finds nothing new for a long time. They are taken from one host after the other, so that many hosts can
be asked at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from lycosa.errors import InputError, SeedError
from lycosa.fetch.urls import Urls, host_key
from lycosa.topics.book import TopicBook

MOST_SEEDS = 100


class StartingExamples(NamedTuple):
    seeds: list[str]
    available: int
    """Number of examples that can be fetched."""

    @property
    def words(self) -> str:
        noun = "example" if self.available == 1 else "examples"
        if len(self.seeds) == self.available:
            return f"starting from the {self.available:,} {noun} of the topic book"
        return f"starting from {len(self.seeds):,} of the {self.available:,} {noun}, spread over their hosts"


def open_book(path: Path) -> TopicBook:
    """Open a book for a crawl, without creating one."""
    if not path.exists():
        raise InputError(
            f"{path}: there is no topic book, so there are no topics; make one with: lycosa topics import, or name "
            "one with --book; to crawl for words, leave --topic out"
        )
    return TopicBook(path)


def good_topics(path: Path) -> list[str]:
    """The topics that are marked good in a book; InputError if there are none."""
    with open_book(path) as book:
        good = book.taxonomy().good
    if not good:
        raise InputError(f"{path}: no topic is marked good; mark one with: lycosa topics mark-good NAME")
    return list(good)


def starting_examples(path: Path, topics: Sequence[str], urls: Urls, *, most: int = MOST_SEEDS) -> StartingExamples:
    """The examples at and below the topics that have a web address; SeedError if there are none."""
    with open_book(path) as book:
        found = dict.fromkeys(chain.from_iterable(map(book.example_urls, topics)))
    by_host: dict[str, list[str]] = {}
    for url in found:
        canonical, reason = urls.canonical(url)
        if not reason:
            by_host.setdefault(host_key(canonical), []).append(canonical)
    # The first of every host, then the second of every host, and so on.
    turns = chain.from_iterable(zip_longest(*by_host.values()))
    fetchable = dict.fromkeys(url for url in turns if url is not None)
    if not fetchable:
        names = " and ".join(map(repr, topics))
        raise SeedError(
            f"{path}: {names} has no example with a web address to start from; add some with: lycosa topics examples "
            f"{topics[0]!r} --add https://…, or give --seed https://…"
        )
    return StartingExamples(list(islice(fetchable, most)), len(fetchable))
