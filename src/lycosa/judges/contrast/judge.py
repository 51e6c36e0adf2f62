"""A judge for a topic given by a few example pages or words, which learns from the crawl what the topic is not.

Examples alone cannot tell which of their words matter: they share site furniture and everyday words with pages on any
topic. Two things can: a table of how common words are in general (`background`), and the pages a crawl has met.
With n pages met, df(t) of which contain the stem t (a page counts as (1 − r)²), and share(t) of the table's documents,

    idf(t) = √ max(0, ln((101 + n) / (df(t) + 100·share(t) + 1)))
    x(t)   = (1 + ln tf(t)) · idf(t), scaled to length 1
    w(t)   = mean over examples of x(t) · √(df among examples / 0.6·|examples|)
             − m/(m + 2) · mean of the other pages, weighted by (1 − r)²       m = Σ (1 − r)²
             + 0.3 / √k for each of the k keywords
    s      = x · w
    z      = (s − μ_low) / (μ_high − μ_low),    r = 1 / (1 + e^(−4 (z − ½)))

μ_low is the mean score of the other pages, weighted by 1 − r. μ_high is the mean score of the examples, each without
its own contribution to w, which would make them look far better than any other page can. A single example, or none,
cannot tell how near pages on a topic are to each other; μ_high is then the score of a page that contains each keyword
four times and is as near to the example as pages on a topic commonly are.

As r depends on w and w on r, r is computed twice: first from the examples, the keywords and the table alone, then also
from what the topic is not, as far as the first r is sure of it. If it started from the previous r, or iterated once
more, a crawl that goes astray would take what it finds there for the topic; with 1 − r instead of its square, doubtful
pages drown a topic that most pages of a crawl are about (mean AUC .90 → .81 on debian-docs, .952 → .953 on wikispeedia,
development topics).

A site is often about one thing as a whole. Among the other pages, those on a host that has relevant seeds therefore
count a tenth, in w and in df (`study.SEED_SITE_WEIGHT`); if all pages are on one host, all count the same.

Without examples, the other pages alone would drown a few keywords (AUC .82 → .34 on twelve topics of wikispeedia). The
pages found, weighted by r², then take the place of examples (.85), with a weight that grows: Σ r² / (Σ r² + 5).

`ContrastStudy` grows with a crawl and is recomputed on demand. r guides the crawl; what is said of its pages is decided
with more care (`verdict`). `ContrastJudge` is what has been learned at one moment: a plain judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

import numpy as np

from lycosa.errors import ConfigError, InputError
from lycosa.judges.contrast.page_vector import MAX_COUNT, ContrastView, Floats, telling_words
from lycosa.judges.contrast.study import ContrastStudy, ContrastTopic
from lycosa.judges.contrast.verdict import VerdictView
from lycosa.judges.contrast.weighing import ContrastSettings
from lycosa.judges.meaning import UNKNOWN, Meaning
from lycosa.judges.protocol import Judge, JudgeAbilities
from lycosa.lib.text import term_counts
from lycosa.lib.wordhash import counted_numbers, stems_at, strongest
from lycosa.model import Judgement, Page

__all__ = ["ContrastJudge", "ContrastSettings", "ContrastStudy", "ContrastTopic", "telling_words"]

_DECIDING = 10
"""Number of words named in a judgement."""


class ContrastJudge(Judge):
    """See the module. Made by `fit` or from a study; immutable."""

    name = "contrast"

    def __init__(
        self,
        topic: ContrastTopic,
        view: ContrastView | VerdictView,
        settings: ContrastSettings,
        *,
        threshold: float = 0.5,
    ) -> None:
        if not 0 < threshold < 1:
            raise ConfigError(f"judge.threshold is {threshold}: it must be between 0 and 1")
        self.keywords = dict(topic.keywords)
        self.threshold = threshold
        self.settings = settings
        self._topic = topic
        self._view = view
        self._meaning = Meaning(topic.meaning) if topic.meaning and view.counts_meaning else None

    @classmethod
    def fit(
        cls,
        examples: Iterable[Page] = (),
        keywords: str = "",
        *,
        learns_from_seeds: bool = False,
        seeds_must_fit: bool = False,
        has_meaning: bool = False,
        threshold: float = 0.5,
        settings: ContrastSettings | None = None,
    ) -> Self:
        """Learn from example pages, words that name the topic, or both.

        `learns_from_seeds`: the seeds of a crawl are examples too, once its strategy has met them;
        `seeds_must_fit`: unless they are about something else (`ContrastTopic`).
        `has_meaning`: the meaning of pages counts (`judges.meaning`, which has to be installed).
        """
        settings = settings or ContrastSettings()
        topic = ContrastTopic(
            keywords=term_counts(keywords),
            examples=tuple(telling_words(page.terms, settings.words) for page in examples),
            learns_from_seeds=learns_from_seeds,
            seeds_must_fit=seeds_must_fit,
            meaning=keywords if has_meaning else "",
        )
        if not topic.examples and not topic.keywords and not learns_from_seeds:
            raise InputError(
                f"neither an example page nor a word to look for (keywords {keywords!r}): give at least one of them, "
                "such as 'recreational cycling'"
            )
        return cls(topic, ContrastStudy(topic, settings).view, settings, threshold=threshold)

    def study(self) -> ContrastStudy:
        """A new study of the same topic, for a strategy that learns during the crawl."""
        return ContrastStudy(self._topic, self.settings)

    @property
    def abilities(self) -> JudgeAbilities:
        return JudgeAbilities(
            threshold=self.threshold, keywords=self.keywords, similarity=self.score_text, study=self.study
        )

    def judge(self, page: Page) -> Judgement:
        relevance, parts = self._judged(page.terms, self._meaning(page) if self._meaning else UNKNOWN)
        return Judgement(relevance, relevance >= self.threshold, terms=_deciding(page.terms, parts))

    def score_text(self, text: str) -> float:
        return self._judged(term_counts(text))[0]

    def _judged(self, terms: Mapping[str, int], meaning: float = UNKNOWN) -> tuple[float, Floats]:
        """The relevance, and each word's contribution to it, for (above 0) or against (below 0) the topic."""
        words, counts = counted_numbers(terms)
        return self._view.judged(words.astype(np.int64), np.minimum(counts, MAX_COUNT), meaning)


def _deciding(terms: Mapping[str, int], parts: Floats) -> dict[str, float]:
    """The words that contribute most, for or against the topic, with what they contribute; equals by name."""
    places = strongest(parts, _DECIDING)
    shares = dict(zip(stems_at(terms, places), parts[places].tolist(), strict=True))
    order = sorted(shares, key=lambda stem: (-abs(shares[stem]), stem))[:_DECIDING]
    return {stem: shares[stem] for stem in order}
