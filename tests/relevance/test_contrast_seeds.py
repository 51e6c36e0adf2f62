"""Seeds of one topic seldom warn, seeds of two often do: on made pages, and on real ones."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from lycosa.fetch.warc_reader import iterate
from lycosa.lib.text import term_counts
from lycosa.lib.wordhash import number_of
from lycosa.page.html import read_document
from lycosa.relevance.contrast_seeds import MOST, parting
from lycosa.relevance.contrast_vector import PageVector, telling_words
from lycosa.worlds.tasks import split_topics

SHARED = Path(os.environ.get("LYCOSA_SHARED") or Path(__file__).resolve().parents[3] / "shared")
WIKISPEEDIA = SHARED / "worlds" / "wikispeedia"
PAGES_OF_A_TOPIC = 14
CYCLING = "bicycle tandem gears saddle pedal chain randonneur derailleur cyclist handlebar"
SOUP = "broth simmer onion ladle stock celery saucepan garlic seasoning tureen"


def page(text: str) -> PageVector:
    return telling_words(term_counts(text), 200)


def some(words: str, seed: int, count: int = 6) -> PageVector:
    return page(" ".join(np.random.default_rng(seed).choice(words.split(), count, replace=False)))


class TestMadePages:
    def test_two_things_fall_apart_where_they_join(self):
        found = parting([some(CYCLING, 1), some(SOUP, 2), some(CYCLING, 3), some(SOUP, 4), some(CYCLING, 5)])
        assert found is not None
        assert {tuple(found.first), tuple(found.second)} == {(0, 2, 4), (1, 3)}
        about = found.first_words if 0 in found.first else found.second_words
        assert set(about[:4].tolist()) <= {number_of(stem) for stem in term_counts(CYCLING)}

    def test_one_thing_does_not(self):
        assert parting([some(CYCLING, n) for n in range(6)]) is None

    def test_one_odd_page_is_not_told(self):
        assert parting([some(CYCLING, n) for n in range(5)] + [some(SOUP, 1)]) is None

    @pytest.mark.parametrize("count", [0, 1, 2, 3])
    def test_few_pages_cannot_tell(self, count):
        assert parting([some(CYCLING if n % 2 else SOUP, n) for n in range(count)]) is None

    def test_pages_without_words_do_no_harm(self):
        assert parting([page("")] * 5) is None

    def test_very_many_are_cut(self):
        found = parting([some(CYCLING if n % 2 else SOUP, n) for n in range(MOST + 20)])
        assert found is not None
        assert len(found.first) + len(found.second) == MOST


@pytest.fixture(scope="module")
def topics() -> dict[str, list[PageVector]]:
    """Some pages of each large topic of wikispeedia's other half."""
    if not (WIKISPEEDIA / "pages.warc.gz").exists():
        pytest.skip(f"there is no {WIKISPEEDIA}")
    urls: dict[str, list[str]] = {}
    for line in (WIKISPEEDIA / "labels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        url, topic = line.split("\t")
        urls.setdefault(topic, []).append(url)
    half = split_topics([topic for topic, found in urls.items() if len(found) >= 30])[1]
    large = {topic: urls[topic][:: len(urls[topic]) // PAGES_OF_A_TOPIC] for topic in half}
    wanted = {url for found in large.values() for url in found}
    vectors = {
        answer.url: telling_words(
            read_document(
                answer.url,
                answer.body,
                content_type="text/html",
                resolver=lambda _: lambda href: ("", "not needed"),
            ).terms,
            200,
        )
        for answer in iterate(WIKISPEEDIA / "pages.warc.gz")
        if answer.url in wanted
    }
    return {topic: [vectors[url] for url in found if url in vectors] for topic, found in large.items()}


class TestRealPages:
    """Topics of the half that is not for development.

    Over all their pages 3 in 100 sets of five warn (development topics: 2), most of them in topics like "Engineering".
    """

    def drawn(self, topics: dict[str, list[PageVector]], topic: str, count: int, rng) -> list[PageVector]:
        return [topics[topic][at] for at in rng.choice(len(topics[topic]), count, replace=False)]

    def test_seeds_of_one_topic_seldom_warn(self, topics):
        rng = np.random.default_rng(1)
        warned = [parting(self.drawn(topics, topic, 5, rng)) is not None for topic in topics for _ in range(10)]
        assert np.mean(warned) < 0.08

    def test_seeds_of_two_topics_often_do_and_go_where_they_belong(self, topics):
        rng = np.random.default_rng(2)
        found = []
        for _ in range(150):
            one, other = rng.choice(list(topics), 2, replace=False)
            if one.partition("/")[0] != other.partition("/")[0]:
                parts = parting(self.drawn(topics, one, 3, rng) + self.drawn(topics, other, 3, rng))
                found.append(parts and {tuple(parts.first), tuple(parts.second)} == {(0, 1, 2), (3, 4, 5)})
        warned = [each is not None for each in found]
        assert np.mean(warned) > 0.4
        assert np.mean([each for each in found if each is not None]) > 0.7
