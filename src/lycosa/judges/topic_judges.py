"""Judges based on a classifier: one for good topics (paper FC), one for a formula (paper AR).

`TopicJudge` is FC's (section 3.1): R(d) = Σ Pr[c|d] over the good topics c, which are mutually exclusive.
`FormulaJudge` is AR's (section 2.3): the value of a formula over the page's membership in each topic.

Short texts, such as the anchor and the URL of a link, are scored by what they say, not by what is likely anyway. A
classifier gives a text without a telling word the topic's base rate p₀, so every link would look somewhat relevant, and
one whose anchor says nothing would look more relevant than one whose anchor names another topic. `score_text` is
therefore max(0, (p − p₀) / (1 − p₀)), where p₀ is the score of an empty text: 0 for an empty text, for unknown words
and for a text that speaks against the topic, 1 for certainty. Strategies that ask whether an anchor says anything
(Shark: anchor > 0) need that 0. Likewise, a page without a single word is irrelevant and no evidence of any topic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Classifier, Judging, leaves_of, with_ancestors
from lycosa.judges.formula import Formula, evaluate, topics_of
from lycosa.judges.generalise import (
    CONSIDERABLE,
    ForLinks,
    RarerBy,
    Way,
    for_links,
    positive_part,
    with_given,
    without_not,
)
from lycosa.judges.interest import FormulaInterest, TopicInterest
from lycosa.judges.protocol import Interest, Judge, JudgeAbilities
from lycosa.judges.taxonomy import is_at_or_below, require_apart, topic_hint
from lycosa.lib.text import term_counts
from lycosa.model import Guidance, Judgement, Page

BEST_TOPICS = 8
"""Maximum number of scores kept of a page besides those of the good topics."""
WORTH_KEEPING = 0.01
"""Minimum of these scores; smaller ones are noise."""
STRONGEST = 10
"""Number of deciding words kept of a relevant page."""
MAX_TOPICS = 64
"""Maximum number of good topics, or of topics in a formula: what is kept of each page grows with it."""
MAX_SHORT_TEXT = 4_000
"""Maximum number of characters considered of an anchor or a URL."""
MAX_NAME = 200

_COMMON_IN_URLS = frozenset({"www", "com", "org", "net", "html", "htm", "php", "asp", "aspx", "jsp", "cgi", "index"})


class TopicJudge(Judge):
    """Probability that a page belongs to one of the good topics."""

    def __init__(
        self,
        classifier: Classifier,
        good: Sequence[str],
        *,
        threshold: float = 0.5,
        keywords: Mapping[str, Mapping[str, float]] | None = None,
        languages: Sequence[str] = ("en",),
    ) -> None:
        """`keywords`: those written by hand, by topic (`Taxonomy.keywords`); `languages`: those of short texts."""
        self.good = tuple(dict.fromkeys(good))
        self._topics = _Topics(classifier, self.good)
        require_apart(self.good)
        self.classifier = classifier
        self.threshold = _checked_threshold(threshold)
        self.name = _shortened(f"{classifier.name}:{' + '.join(self.good)}")
        self.keywords = _stems_of(self.good, keywords or {})
        self._keywords = keywords or {}
        self._places = self._topics.places(self.good)
        # The topics above them are kept too: tunnelling may climb there.
        self._kept = self._topics.places(with_ancestors(self.good)).tolist()
        self.languages = tuple(languages)
        self._of_words = classifier.short_texts or classifier.posteriors
        self._base = self._relevance(self._of_words(_EMPTY))
        self._margins: Judging | None = getattr(classifier, "margins", None)  # the door: few classifiers have any

    def judge(self, page: Page) -> Judgement:
        if not page.terms:
            return Judgement(relevance=0.0, is_relevant=False)
        posteriors = self.classifier.posteriors(page)
        relevance = self._relevance(posteriors)
        is_relevant = relevance >= self.threshold
        kept = dict.fromkeys([*self._places.tolist(), *self._kept, *_best(posteriors)])
        return Judgement(
            relevance=relevance,
            is_relevant=is_relevant,
            scores=self._topics.scores(posteriors, kept),
            terms=self._strongest(page, posteriors) if is_relevant else {},
            best=self._topics.best_leaf(posteriors),
            margin=self._margin(page),
        )

    def _margin(self, page: Page) -> float | None:
        """The largest of the good topics: the page is on the positive side of one of the planes, or of none."""
        if self._margins is None:
            return None
        margin = float(np.fmax.reduce(self._margins(page)[self._places]))
        return None if np.isnan(margin) else margin

    @property
    def abilities(self) -> JudgeAbilities:
        return _abilities(self, TopicInterest(self))

    def changed(self, good: Sequence[str]) -> TopicJudge:
        return TopicJudge(
            self.classifier, good, threshold=self.threshold, keywords=self._keywords, languages=self.languages
        )

    def is_good(self, topic: str) -> bool:
        """Whether a topic is at or below a good one: what hard focus asks of the best leaf."""
        return any(is_at_or_below(topic, good) for good in self.good)

    def score_text(self, text: str) -> float:
        pages = [page for page in short_pages(text, self.languages) if page.terms]
        return max((_above_base(self._relevance(self._of_words(page)), self._base) for page in pages), default=0.0)

    def strongest(self, page: Page) -> dict[str, float]:
        """The words that speak most for or against the best-fitting good topic, even if the page is irrelevant."""
        return self._strongest(page, self.classifier.posteriors(page))

    def _strongest(self, page: Page, posteriors: NDArray[np.float64]) -> dict[str, float]:
        best = self.good[int(posteriors[self._places].argmax())]
        return _plain(self.classifier.strongest(page, best, STRONGEST))

    def _relevance(self, posteriors: NDArray[np.float64]) -> float:
        return _in_bounds(float(posteriors[self._places].sum()))


class FormulaRules(TypedDict, total=False):
    """Arguments of `FormulaJudge`: how its formula is used."""

    not_after: bool
    considerable: float
    way: Way
    links: ForLinks
    rarer_by: RarerBy


class FormulaJudge(Judge):
    """How well a page fits a formula. `changed` gives a copy with another focus, for tunnelling."""

    def __init__(
        self,
        classifier: Classifier,
        formula: Formula,
        *,
        threshold: float = 0.5,
        not_after: bool = False,
        considerable: float = CONSIDERABLE,
        way: Way = Way.PARENT,
        links: ForLinks = ForLinks.RARER,
        rarer_by: RarerBy = RarerBy.SCORE,
        given: Mapping[str, float] | None = None,
        frequency: Mapping[str, float] | None = None,
        keywords: Mapping[str, Mapping[str, float]] | None = None,
        languages: Sequence[str] = ("en",),
    ) -> None:
        """`formula` names topics by their paths (`parse` with `Taxonomy.resolve`).

        `not_after`: crawl without the formula's NOTs, which are applied to what is said of the pages found;
        `considerable`: minimum score of an excluded topic on a page that is about it.
        `way`: how to widen the formula. `links`: what of it scores anchors and URLs. `rarer_by`: which of its topics
        tunnelling takes for the rarer.
        `frequency`: the share of pages about each topic, to tell the rarer; by default the classifier's base rates.
        `given`: the same of some topics, from a person who knows (`checked_frequencies`), whatever is estimated.
        `keywords`: those written by hand, by topic (`Taxonomy.keywords`); `languages`: those of short texts.
        """
        self.languages = tuple(languages)
        self.named = topics_of(formula)
        # Topics above them too: tunnelling climbs the taxonomy, and reads the scores of pages judged before it did.
        kept = with_ancestors(self.named)
        self._topics = _Topics(classifier, self.named)
        self.classifier = classifier
        self.formula = formula
        self.threshold = _checked_threshold(threshold)
        self.not_after = not_after
        self.considerable = _checked_threshold(considerable, "considerable")
        self.way, self.links, self.rarer_by = way, links, rarer_by
        self.given = dict(given or {})
        self.name = _shortened(f"{classifier.name}:{formula}")
        self._kept = dict(zip(kept, self._topics.places(kept).tolist(), strict=True))
        self._of_words = classifier.short_texts or classifier.memberships
        base = self._memberships(self._of_words(_EMPTY))
        self._frequency = frequency
        self._keywords = keywords or {}
        self._wanted = topics_of(positive_part(formula) or formula)
        self.keywords = _stems_of(self._wanted, self._keywords)
        split = without_not(formula) if not_after else None
        self._split = split if split and split.crawl != split.formula else None
        self.focus = self._split.crawl if self._split else formula
        """What guides the crawl: the formula, without its NOTs if they are applied afterwards."""
        self._frequencies = with_given(base if frequency is None else frequency, self.given)
        self._for_links = for_links(formula, self._frequencies, by=links)
        self._base = evaluate(self._for_links, base)

    @property
    def abilities(self) -> JudgeAbilities:
        common = _abilities(self, FormulaInterest(self))
        return replace(
            common, with_threshold=lambda threshold: self.changed(threshold=threshold), rules=tuple(self._rules())
        )

    def _rules(self) -> Iterable[str]:
        """What was decided about the formula, in words."""
        topics = topics_of(positive_part(self.formula) or self.formula)
        if self._for_links != self.formula and len(topics) > 1:
            shares = ", ".join(
                f"{topic} {self._frequencies[topic]:.1%}{' as given' if topic in self.given else ''}"
                for topic in topics
            )
            why = "the rarer topic" if self.links is ForLinks.RARER else "any of the topics"
            yield f"anchors and URLs are scored by {self._for_links}, {why} (share of pages: {shares})"
        if self.not_after and self.formula != self.focus:
            yield (
                f"{self.focus} is crawled for; pages with {self.considerable:g} or more for an excluded topic are "
                "left out of what is found"
            )

    def is_good(self, topic: str) -> bool:
        """Whether a topic is at or below one that the formula names outside of NOT."""
        return any(is_at_or_below(topic, wanted) for wanted in self._wanted)

    def changed(
        self,
        *,
        formula: Formula | None = None,
        threshold: float | None = None,
        frequency: Mapping[str, float] | None = None,
    ) -> FormulaJudge:
        return FormulaJudge(
            self.classifier,
            self.formula if formula is None else formula,
            threshold=self.threshold if threshold is None else threshold,
            not_after=self.not_after,
            considerable=self.considerable,
            way=self.way,
            links=self.links,
            rarer_by=self.rarer_by,
            given=self.given,
            frequency=self._frequency if frequency is None else frequency,
            keywords=self._keywords,
            languages=self.languages,
        )

    def judge(self, page: Page) -> Judgement:
        if not page.terms:
            return Judgement(relevance=0.0, is_relevant=False)
        memberships = self.classifier.memberships(page)
        scores = self._memberships(memberships)
        focused = _in_bounds(evaluate(self.focus, scores))
        relevance = (
            _in_bounds(self._split.relevance(scores, considerable=self.considerable)) if self._split else focused
        )
        is_relevant = relevance >= self.threshold
        return Judgement(
            relevance=relevance,
            is_relevant=is_relevant,
            scores=scores,
            terms=self._strongest(page, scores) if is_relevant else {},
            best=self._topics.best_leaf(memberships),
            guide=Guidance(focused, focused >= self.threshold) if self._split else None,
        )

    def score_text(self, text: str) -> float:
        """By the formula's variant for links (AR, section 3.2)."""
        pages = [page for page in short_pages(text, self.languages) if page.terms]
        values = (evaluate(self._for_links, self._memberships(self._of_words(page))) for page in pages)
        return max((_above_base(value, self._base) for value in values), default=0.0)

    def strongest(self, page: Page) -> dict[str, float]:
        """The words that speak most for or against the best-fitting topics, even if the page is irrelevant."""
        return self._strongest(page, self._memberships(self.classifier.memberships(page)))

    def _strongest(self, page: Page, scores: Mapping[str, float]) -> dict[str, float]:
        """A page fits an AND by several topics at once, so the words are divided among them."""
        fitting = sorted(self._wanted, key=lambda topic: -scores[topic])[: STRONGEST // 2]
        words: dict[str, float] = {}
        for topic in fitting:
            for word, weight in _plain(self.classifier.strongest(page, topic, STRONGEST // len(fitting))).items():
                if abs(weight) > abs(words.get(word, 0.0)):
                    words[word] = weight
        return words

    def _memberships(self, memberships: NDArray[np.float64]) -> dict[str, float]:
        return {topic: float(memberships[place]) for topic, place in self._kept.items()}


def _abilities(judge: TopicJudge | FormulaJudge, interest: Interest) -> JudgeAbilities:
    return JudgeAbilities(
        threshold=judge.threshold,
        keywords=judge.keywords,
        words=judge.classifier.words_by_hand,
        similarity=judge.score_text,
        is_good=judge.is_good,
        interest=interest,
        strongest=judge.strongest,
        reasons=judge.classifier.reasons,
    )


def checked_frequencies(given: Mapping[str, float], formula: Formula) -> Mapping[str, float]:
    """The shares of pages that a person gave; ConfigError if they are no shares, or of topics that do not matter."""
    known = with_ancestors(topics_of(formula))
    for topic, share in given.items():
        if not 0 <= share <= 1:
            raise ConfigError(f"judge.frequencies: {topic} is {share}, but a share of pages is between 0 and 1")
        if topic not in known:
            raise ConfigError(
                f"judge.frequencies: {topic!r} is neither in the formula '{formula}' nor above a topic that is; "
                f"those are {', '.join(known)}"
            )
    return given


def threshold_from(scores: Iterable[float], *, least: float = 0.0) -> float:
    """The smallest positive score of the start pages, which is the threshold of relevance (AR, section 2.3).

    Differs from AR if `least` is set: scores up to it do not count as positive. AR's keyword functions are 0 for a
    page without the keywords, while a classifier is never quite certain and gives a stray start page 10⁻⁹.
    """
    positive = [score for score in scores if score > least]
    if not positive:
        raise InputError(
            f"no start page has a score above {least:g}: start from pages that fit the interest, or set a threshold"
        )
    return min(positive)


def short_page(text: str, language: str = "en") -> Page:
    """An anchor, a URL or a heading, as a page for classifiers."""
    text = text[:MAX_SHORT_TEXT]
    words = url_words(text) if text.startswith(("http://", "https://")) else text
    return Page("", text=words, terms=term_counts(words, language=language), stemmed_in=language)


def short_pages(text: str, languages: Iterable[str]) -> Iterator[Page]:
    """The same, read in each of the languages it may be in."""
    return (short_page(text, language) for language in languages)


def url_words(url: str) -> str:
    """The words of a URL: runs of letters in host, path and query, except those common to URLs."""
    address = unquote(url.partition("://")[2], errors="ignore")
    letters = "".join(character if character.isalpha() else " " for character in address)
    return " ".join(word for word in letters.split() if word.lower() not in _COMMON_IN_URLS)


_EMPTY = Page("")


class _Topics:
    def __init__(self, classifier: Classifier, required: Sequence[str]) -> None:
        names = classifier.topics_
        self._names = names
        self._leaves = np.array(leaves_of(names), dtype=np.intp)
        place_of = {topic: place for place, topic in enumerate(names)}
        if not required:
            raise ConfigError("a judge needs at least one topic: mark one good, or name one in the interest")
        if len(required) > MAX_TOPICS:
            raise ConfigError(f"{len(required)} topics: a judge takes at most {MAX_TOPICS}; mark a topic above them")
        for topic in required:
            if topic not in place_of:
                hint = topic_hint(topic, names) or f"; it knows {len(names)} topics, the first is {names[0]!r}"
                raise ConfigError(f"the classifier has not learned topic {topic!r}{hint}")
        self._place_of = {topic: place_of[topic] for topic in with_ancestors(required)}

    def places(self, topics: Iterable[str]) -> NDArray[np.intp]:
        return np.array([self._place_of[topic] for topic in topics], dtype=np.intp)

    def scores(self, values: NDArray[np.float64], places: Iterable[int]) -> dict[str, float]:
        return {self._names[place]: float(values[place]) for place in places}

    def best_leaf(self, values: NDArray[np.float64]) -> str:
        return self._names[int(self._leaves[values[self._leaves].argmax()])]


def _best(values: NDArray[np.float64]) -> list[int]:
    """Positions of the largest values worth keeping, the largest first."""
    # Few of ten thousand topics reach a percent; sorting only those takes a tenth of the time.
    some = np.flatnonzero(values >= WORTH_KEEPING)
    order = np.argsort(-values[some], kind="stable")[:BEST_TOPICS]
    return [int(place) for place in some[order]]


def _stems_of(topics: Sequence[str], keywords: Mapping[str, Mapping[str, float]]) -> dict[str, int]:
    """What strategies know about the topic: stems of the topics' last names, and of the keywords written by hand for
    these topics and those below them, by weight (rounded, at least 1)."""
    counts: Counter[str] = Counter()
    for topic in topics:
        counts.update(term_counts(topic.rpartition("/")[2]))
    for topic, words in keywords.items():
        if any(is_at_or_below(topic, wanted) for wanted in topics):
            for word, weight in words.items():
                for stem, times in term_counts(word).items():
                    counts[stem] += times * max(1, round(weight))
    return dict(counts)


def _above_base(value: float, base: float) -> float:
    return _in_bounds((value - base) / (1.0 - base)) if base < 1.0 else 0.0


def _in_bounds(value: float) -> float:
    return min(1.0, max(0.0, value))


def _plain(words: Mapping[str, float]) -> dict[str, float]:
    """As plain values, the only ones that readers send."""
    return {str(word): float(weight) for word, weight in words.items()}


def _shortened(name: str) -> str:
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"


def _checked_threshold(value: float, name: str = "threshold") -> float:
    if not 0 < value <= 1:
        raise ConfigError(f"judge.{name} is {value}: it must be above 0 and at most 1")
    return value
