"""Seeds on one topic seldom warn, seeds on two often do: on generated pages, and on real ones."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from lycosa.fetch.warc_reader import iterate
from lycosa.judges.contrast.judge import ContrastSettings
from lycosa.judges.contrast.page_vector import PageVector, telling_words
from lycosa.judges.contrast.two_topics import MAX_EXAMPLES, coherence, parting
from lycosa.lab.replay.tasks import split_topics
from lycosa.lib.text import term_counts
from lycosa.page.html import read_document

SHARED = Path(os.environ.get("LYCOSA_SHARED") or Path(__file__).resolve().parents[4] / "shared")
WIKISPEEDIA = SHARED / "worlds" / "wikispeedia"
PAGES_OF_A_TOPIC = 14
WORDS = ContrastSettings().words
CYCLING, SOUP, ANY = range(250), range(1000, 1250), range(2000, 5000)
"""Numbers of words: those of two topics, and those that any page may contain."""


def made(topic: range, seed: int, *, own: int = 120, others: int = 180) -> PageVector:
    """A page with words of its topic, and with others."""
    rng = np.random.default_rng(seed)
    words = np.concatenate([rng.choice(topic, own, replace=False), rng.choice(ANY, others, replace=False)])
    return PageVector(words.astype(np.uint16), np.ones(len(words), dtype=np.uint8))


def empty() -> PageVector:
    return telling_words({}, WORDS)


class TestCoherence:
    def test_pages_on_one_thing_are_nearer_than_chance(self):
        one = coherence([made(CYCLING, seed) for seed in range(8)])
        two = coherence([made(CYCLING if seed % 2 else SOUP, seed) for seed in range(8)])
        unrelated = coherence([made(ANY, seed) for seed in range(8)])
        assert one > 1.5 * two > 1.5 * unrelated
        assert 0.5 < unrelated < 1.5

    def test_too_few_to_tell(self):
        assert coherence([]) == coherence([made(CYCLING, 1)]) == coherence([empty(), empty(), made(SOUP, 1)]) == 1.0


class TestMadePages:
    def test_two_things_fall_apart_where_they_join(self):
        found = parting([made(CYCLING, 1), made(SOUP, 2), made(CYCLING, 3), made(SOUP, 4), made(CYCLING, 5)])
        assert found is not None
        assert (found.first, found.second) == ([0, 2, 4], [1, 3])
        assert set(found.first_words[:20].tolist()) <= set(CYCLING)
        assert set(found.second_words[:20].tolist()) <= set(SOUP)

    def test_one_thing_does_not(self):
        assert parting([made(CYCLING, seed) for seed in range(6)]) is None

    def test_pages_that_have_nothing_in_common_are_not_two_things(self):
        assert parting([made(ANY, seed) for seed in range(6)]) is None

    def test_one_odd_page_is_not_reported(self):
        assert parting([made(CYCLING, seed) for seed in range(4)] + [made(SOUP, 9)]) is None

    def test_very_short_pages_cannot_tell(self):
        pages = [made(topic, seed, own=8, others=12) for seed in range(3) for topic in (CYCLING, SOUP)]
        assert parting(pages) is None

    def test_a_short_page_among_long_ones_is_no_stranger(self):
        pages = [made(CYCLING, seed) for seed in range(5)]
        assert parting([*pages, made(CYCLING, 9, own=12, others=18)]) is None

    @pytest.mark.parametrize("count", [0, 1, 2, 3])
    def test_few_pages_cannot_tell(self, count):
        assert parting([made(CYCLING if seed % 2 else SOUP, seed) for seed in range(count)]) is None

    def test_pages_without_words_are_in_neither_part(self):
        assert parting([empty()] * 5) is None
        found = parting([empty(), made(CYCLING, 1), made(SOUP, 2), empty(), made(CYCLING, 3), made(SOUP, 4)])
        assert found is not None
        assert (found.first, found.second) == ([1, 4], [2, 5])

    def test_everyday_words_weigh_nothing(self):
        everyday = telling_words(term_counts("the and of this that with from have been"), WORDS)
        assert parting([everyday] * 5) is None

    def test_the_same_page_over_and_over_is_one_thing(self):
        assert parting([made(CYCLING, 1)] * 6) is None

    def test_further_examples_are_ignored(self):
        found = parting([made(CYCLING if seed % 2 else SOUP, seed) for seed in range(MAX_EXAMPLES + 20)])
        assert found is not None
        assert sorted(found.first + found.second) == list(range(MAX_EXAMPLES))
        assert {place % 2 for place in found.first} == {0}


@pytest.fixture(scope="module")
def topics() -> dict[str, list[PageVector]]:
    """Some pages of each large topic of wikispeedia's development half."""
    if not (WIKISPEEDIA / "pages.warc.gz").exists():
        pytest.skip(f"there is no {WIKISPEEDIA}")
    urls: dict[str, list[str]] = {}
    for line in (WIKISPEEDIA / "labels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        url, topic = line.split("\t")
        urls.setdefault(topic, []).append(url)
    half = split_topics([topic for topic, found in urls.items() if len(found) >= 30])[0]
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
            WORDS,
        )
        for answer in iterate(WIKISPEEDIA / "pages.warc.gz")
        if answer.url in wanted
    }
    return {topic: [vectors[url] for url in found if url in vectors] for topic, found in large.items()}


class TestRealPages:
    """The development topics, so that the others stay unseen; see the module for what was measured on those."""

    def drawn(self, topics: dict[str, list[PageVector]], topic: str, count: int, rng) -> list[PageVector]:
        return [topics[topic][at] for at in rng.choice(len(topics[topic]), count, replace=False)]

    def test_seeds_of_one_topic_seldom_warn(self, topics):
        rng = np.random.default_rng(1)
        warned = [parting(self.drawn(topics, topic, 5, rng)) is not None for topic in topics for _ in range(10)]
        assert np.mean(warned) < 0.06

    def test_seeds_of_two_topics_often_do_and_go_where_they_belong(self, topics):
        rng = np.random.default_rng(2)
        found = []
        for _ in range(150):
            one, other = rng.choice(list(topics), 2, replace=False)
            if one.partition("/")[0] != other.partition("/")[0]:
                parts = parting(self.drawn(topics, one, 3, rng) + self.drawn(topics, other, 3, rng))
                found.append(parts and {tuple(parts.first), tuple(parts.second)} == {(0, 1, 2), (3, 4, 5)})
        warned = [each is not None for each in found]
        assert np.mean(warned) > 0.45
        assert np.mean([each for each in found if each is not None]) > 0.8
