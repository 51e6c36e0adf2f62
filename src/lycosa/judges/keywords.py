"""Relevance as similarity to a few words (paper TC, section 3: the similarity Best-First uses).

    sim(q, p) = Σ f(k,q)·f(k,p) / √(Σ f(k,q)² · Σ f(k,p)²)

with f the raw frequencies of stems, without stop words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lycosa.errors import ConfigError
from lycosa.judges.protocol import Judge, JudgeAbilities
from lycosa.lib.text import readings, squares, term_counts
from lycosa.model import Judgement, Page


class KeywordJudge(Judge):
    """Cosine of the topic's words and a page's words; at `threshold` or above, the page is relevant."""

    name = "keywords"

    def __init__(self, topic: str, *, threshold: float = 0.1, languages: Sequence[str] = ("en",)) -> None:
        """`languages`: those that short texts may be in."""
        self.keywords = term_counts(topic)
        self._topic = topic
        self._languages = tuple(languages)
        self.threshold = threshold
        if not self.keywords:
            raise ConfigError(
                f"topic {topic!r} has no word to look for: give at least one that is not a stop word, "
                "such as 'recreational cycling'"
            )
        if not 0 < threshold <= 1:
            raise ConfigError(f"judge.threshold is {threshold}: it must be above 0 and at most 1")
        self._norm = math.sqrt(sum(count * count for count in self.keywords.values()))

    @property
    def abilities(self) -> JudgeAbilities:
        return JudgeAbilities(threshold=self.threshold, keywords=self.keywords, similarity=self.score_text)

    def judge(self, page: Page) -> Judgement:
        relevance, shares = self._cosine(page.terms)
        return Judgement(relevance=relevance, is_relevant=relevance >= self.threshold, terms=shares)

    def score_text(self, text: str) -> float:
        return max(self._cosine(terms)[0] for terms in readings(text, self._languages, self._topic))

    def _cosine(self, terms: Mapping[str, int]) -> tuple[float, dict[str, float]]:
        """The similarity, and each keyword's share of it."""
        hits = {word: weight * terms[word] for word, weight in self.keywords.items() if word in terms}
        if not hits:
            return 0.0, {}
        norm = self._norm * math.sqrt(squares(terms))
        # Rounding can lift the cosine of parallel vectors slightly above 1.
        return min(1.0, sum(hits.values()) / norm), {word: hit / norm for word, hit in hits.items()}
