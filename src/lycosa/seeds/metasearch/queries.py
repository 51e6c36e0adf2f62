"""What engines are asked: first the topic's words, then these with the most distinctive words of what was found.

A word or phrase is distinctive if titles and link texts of relevant pages have it, those of other pages do not, and it
is rare in general:

    strength(phrase) = √n · log((n / relevant) / (m / others)) · idf · say

n relevant and m other texts have it (counts smoothed by ½); idf is the sum of that of its words in the shipped table,
over the root of their number, so that a phrase comes before a word that is only found in it; say is what the judge that
learns in the crawl thinks of its words, where there is one. Each is asked for together with the topic's own words,
which keep the engine on the topic, and no query is asked twice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from lycosa.lib.stopwords import ENGLISH
from lycosa.lib.text import split_words, stems

LONGEST_PHRASE = 3
MOST_TOPIC_WORDS = 3
MOST_WORDS = 6
MIN_TEXTS = 2
"""Minimum number of relevant texts that have a phrase; of fewer than FEW texts, one will do."""
FEW = 4
FEWEST = 10
"""Of fewer other texts, their number counts as this: where there are none, every word of the topic's pages would do."""
LONGEST_TEXT = 300
LONGEST_WORD = 30

Weight = Callable[[str], float]
"""Of a word (a stem): how rare it is in general, or what a judge thinks of it."""


class FoundTexts(NamedTuple):
    """Titles and link texts of what was found, each page's together."""

    relevant: Sequence[str]
    others: Sequence[str]


def first_query(words: str) -> str:
    """The topic's words as they were given, in one line."""
    return " ".join("".join(char if char.isprintable() else " " for char in words).split())[:LONGEST_TEXT]


def next_queries(
    words: str, found: FoundTexts, *, asked: Collection[str], count: int, idf: Weight, say: Weight = lambda _: 1.0
) -> list[str]:
    """Up to `count` new queries, the most promising first. None if nothing relevant was found yet."""
    topic = _topic_words(words, idf)
    known = {_key(query) for query in asked}
    queries: list[str] = []
    for phrase in distinctive(found, idf=idf, say=say):
        own = stems(phrase)
        rest = [word for word in topic if not set(stems(word)) & set(own)]
        query = " ".join([*rest, phrase])
        if (
            len(query.split()) <= MOST_WORDS
            and _key(query) not in known
            and not set(own) <= set(stems(" ".join(topic)))
        ):
            known.add(_key(query))
            queries.append(query)
        if len(queries) == count:
            break
    return queries


def distinctive(found: FoundTexts, *, idf: Weight, say: Weight) -> list[str]:
    """Words and phrases, the most distinctive first; of those that share words, only the best."""
    relevant, others = _counted(found.relevant), _counted(found.others)
    total, total_others = len(found.relevant), len(found.others)
    least = MIN_TEXTS if total >= FEW else 1
    strength: dict[str, float] = {}
    for phrase, texts in relevant.items():
        if texts < least:
            continue
        share, share_others = (texts + 0.5) / (total + 1), (others[phrase] + 0.5) / max(FEWEST, total_others + 1)
        roots = stems(phrase)
        if share <= share_others or not roots:
            continue
        rarity = sum(map(idf, roots)) / math.sqrt(len(roots))
        strength[phrase] = math.sqrt(texts) * math.log(share / share_others) * rarity * min(map(say, roots))
    used: set[str] = set()
    best: list[str] = []
    for phrase in sorted(strength, key=lambda each: (-strength[each], each)):
        own = set(stems(phrase))
        if strength[phrase] > 0 and not own & used:
            used |= own
            best.append(phrase)
    return best


def _counted(texts: Iterable[str]) -> Counter[str]:
    """By phrase: the number of texts that have it."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(set(_phrases(text)))
    return counts


def _phrases(text: str) -> Iterator[str]:
    """Words and runs of words that neither begin nor end with a stop word or a number."""
    for line in text[: 4 * LONGEST_TEXT].split("\n"):
        words = [word for word in split_words(line[:LONGEST_TEXT]) if len(word) <= LONGEST_WORD]
        for start, first in enumerate(words):
            if not _is_telling(first):
                continue
            for end in range(start + 1, min(len(words), start + LONGEST_PHRASE) + 1):
                if _is_telling(words[end - 1]):
                    yield " ".join(words[start:end])


def _is_telling(word: str) -> bool:
    return len(word) > 2 and word not in ENGLISH and not word.isdigit()


def _topic_words(words: str, idf: Weight) -> list[str]:
    """The rarest of the topic's words, in their order."""
    own = [word for word in dict.fromkeys(split_words(words)) if _is_telling(word)]
    rarest = sorted(own, key=lambda word: -max(map(idf, stems(word)), default=0.0))[:MOST_TOPIC_WORDS]
    return [word for word in own if word in rarest]


def _key(query: str) -> str:
    """Queries of the same stems are the same."""
    return " ".join(sorted(set(stems(query)))) or query.lower()
