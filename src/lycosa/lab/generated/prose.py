"""Word salad that has a topic: titles, anchors and sentences for the pages of a generated web.

Words are drawn by a Zipf law from the topic's vocabulary or from general English. Each draw is one look-up in
a table in which a word occurs in proportion to its share, so a page of several hundred words costs some
microseconds. Nothing here remembers anything: equal arguments, equal words.
"""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from lycosa.lab.generated.vocabulary import GENERAL, GENERAL_NOUNS, TopicVocabulary, vocabularies

TABLE = 4096
ZIPF = 0.8
FOREIGN = 0.04
"""Share of topic words drawn from some other topic: everybody mentions things."""
MASK = (1 << 64) - 1
_SPLIT = 1 << 16


def mixed(*numbers: int) -> int:
    """A 64-bit hash of some numbers (splitmix64): the source of all chance in a page."""
    state = 0x9E3779B97F4A7C15
    for number in numbers:
        state = (state ^ number) * 0xBF58476D1CE4E5B9 & MASK
        state = (state ^ (state >> 27)) * 0x94D049BB133111EB & MASK
        state ^= state >> 31
    return state


def _table(words: tuple[str, ...], exponent: float) -> list[str]:
    share = np.arange(1, len(words) + 1, dtype=np.float64) ** -exponent
    bounds = np.cumsum(share) / share.sum() * TABLE
    return [words[place] for place in np.searchsorted(bounds, np.arange(TABLE) + 0.5)]


class Prose:
    """The words of all topics of one web."""

    def __init__(self, *, topics: tuple[TopicVocabulary, ...], topicality: float) -> None:
        self._topicality = topicality
        self._general = _table(GENERAL, ZIPF)
        self._nouns = _table(GENERAL_NOUNS, 0.3)
        self._topical = [_table(words, ZIPF) for words in vocabularies(topics)]
        # one row for general words, then one for each topic
        self._words: NDArray[np.object_] = np.array([self._general, *self._topical], dtype=object)

    def topic_word(self, topic: int, chance: int) -> str:
        """A word of the topic, or a general noun if there is none."""
        table = self._topical[topic] if topic >= 0 else self._nouns
        return table[chance % TABLE]

    def subject(self, topic: int, chance: int) -> tuple[str, str, str]:
        """Three words that a page is about. They make its title and its URL."""
        table = self._topical[topic] if topic >= 0 else self._nouns
        return table[chance % TABLE], table[(chance >> 12) % TABLE], self._nouns[(chance >> 24) % TABLE]

    def words(self, topic: int, count: int, rng: random.Random) -> list[str]:
        """`count` words of running text; how many belong to the topic differs from page to page."""
        purity = self._topicality * (0.5 + rng.random()) if topic >= 0 else 0.0
        draws = np.frombuffer(rng.randbytes(4 * count), dtype="<u2").reshape(2, count)
        kind, place = draws[0], (draws[1] % TABLE).astype(np.int64)
        topical = int(purity * (1 - FOREIGN) * _SPLIT)
        foreign = topical + int((purity or self._topicality) * FOREIGN * _SPLIT)
        other = 1 + (draws[1] // 7).astype(np.int64) % len(self._topical)
        book = np.where(kind < topical, topic + 1, np.where(kind < foreign, other, 0))
        chosen: list[str] = self._words[book, place].tolist()
        return chosen
