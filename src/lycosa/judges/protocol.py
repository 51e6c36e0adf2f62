"""What a judge is: it turns a page into a relevance, and may declare what else it knows about its topic.

A judge of your own needs a `name` and `judge(page)`, which returns a number in [0, 1] or a `Judgement`
(docs/extending.md). What only some judges can do, such as scoring a link's anchor or learning in the crawl, is
declared in `abilities`; strategies and the engine look there and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.snapshot import Snapshots
from lycosa.model import Judgement, Page

WordCounts = tuple[NDArray[np.uint16], NDArray[np.uint8]]
"""The words to keep of a page, as numbers (`lib.wordhash`), and their counts."""


class Interest(Protocol):
    """What is looked for, and wider versions of it: for tunnelling."""

    @property
    def topics(self) -> Sequence[str]:
        """Those it names."""

    @property
    def rarer_by(self) -> str:
        """How to tell which of them is the rarer on the pages visited (`generalise.RarerBy`)."""

    def relevance(self, scores: Mapping[str, float]) -> float:
        """Relevance in [0, 1] of a page with these scores by topic."""

    def similarity(self, text: str) -> float:
        """Relevance of an anchor, or of the words of a URL."""

    def generalised(self, frequency: Mapping[str, float]) -> Self | None:
        """One step wider; None if nothing is left to widen. `frequency` is the share of pages about each topic."""

    def named(self, text: str, frequency: Mapping[str, float] | None = None) -> Self:
        """The version whose `str` this is, made by these frequencies; none are known of one made long ago."""


class Study(Protocol):
    """A judge that grows with the crawl."""

    @property
    def weights(self) -> NDArray[np.float32]:
        """By word number: how much the word speaks for the topic."""

    @property
    def vector(self) -> Callable[[Mapping[str, int]], WordCounts]:
        """From a page's terms to the words to keep of it; can be sent to another process."""

    @property
    def meaning(self) -> Callable[[Page], float] | None:
        """How near the meaning of a page is to the topic's words (`meaning`); can be sent to another process. None:
        that does not count."""

    @property
    def relevance(self) -> NDArray[np.float32]:
        """How near each page is to the topic, in the order in which pages were added: it guides the crawl."""

    @property
    def idf_of_table(self) -> NDArray[np.float32]:
        """By word number: how rare the word is in general."""

    @property
    def snapshots(self) -> Snapshots | None:
        """How all that it knows is saved and loaded; None if it cannot be."""

    def add(self, page: WordCounts, *, host: int, is_seed: bool, relevance: float, meaning: float) -> float:
        """Add a page and return its relevance as things stand.

        `host` is any number from 1 on that identifies the host; `relevance` is what the crawl's judge gave the page;
        `meaning` is what the function of that name said of it, NaN if nothing.
        """

    def learn(self) -> None:
        """Recompute weights and relevance from all pages."""

    def recent_verdicts(self) -> NDArray[np.float32]:
        """How likely each page is about the topic: not much older than the latest pages."""

    def answer(self, place: int, is_relevant: bool | None) -> None:
        """A person has said whether a page is relevant; None: the answer is taken back.

        `place` is the page's position in the order in which pages were added, from 0. While the answer stands, the
        relevance of the page is 1 or 0, whatever is learned; what follows for other pages, `learn` computes.
        """


class LearnedTopic(Study, Protocol):
    """A study whose findings the crawl takes over, and can put in words."""

    @property
    def examples(self) -> Mapping[int, WordCounts]:
        """Pages that are examples of the topic, by their place in the crawl: seeds, and pages that a person says are
        relevant."""

    @property
    def has_words(self) -> bool:
        """Whether the topic was also given in words."""

    @property
    def learns_from_seeds(self) -> bool: ...

    @property
    def seeds_are_in_doubt(self) -> bool:
        """Whether the seeds fit the words, but are no more alike than unrelated pages, and therefore no examples."""

    def verdicts(self) -> NDArray[np.float32]:
        """How likely each page is about the topic, by all that is known now: what the crawl reports."""

    @property
    def said(self) -> NDArray[np.float32]:
        """The last verdicts; those on later pages are by their words alone."""

    @property
    def judged_pages(self) -> int:
        """Number of pages at the last verdicts; 0 if there are none, or a person has said something since."""

    @property
    def drift(self) -> float:
        """Share of the pages called relevant by the last verdicts that what was given would not call so by itself."""

    def as_judge(self, threshold: float) -> Judge:
        """A judge that agrees with the last verdicts."""

    def near_misses(self) -> tuple[int, NDArray[np.int64]]:
        """Number of pages that are near the topic and not about it, and the numbers of the words that tell them from
        those that are, the most telling first."""

    def word_strengths(self) -> NDArray[np.float32]:
        """By word number: above 0 where the word speaks for the topic, below 0 where it speaks against it."""


def no_similarity(text: str) -> float:  # noqa: ARG001 - without a topic nothing is similar
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAbilities:
    """What a judge knows and can do beyond judging pages. The defaults: nothing."""

    threshold: float = 0.5
    """Minimum relevance of a relevant page."""
    keywords: Mapping[str, int] = field(default_factory=dict)
    """Stems that name the topic, with their weights: strategies that look for words look for these."""
    words: str = ""
    """Keywords written by hand, of a judge of trained topics."""
    similarity: Callable[[str], float] = no_similarity
    """Relevance in [0, 1] of a short text: an anchor, a heading, the words of a URL."""
    is_good: Callable[[str], bool] = bool
    """Whether a leaf of the taxonomy is a good topic or lies under one."""
    interest: Interest | None = None
    """The interest as something that can be widened."""
    study: Callable[[], LearnedTopic] | None = None
    """Begins to learn the topic in the crawl itself."""
    with_threshold: Callable[[float], Judge] | None = None
    """The same judge with another threshold, where start pages may decide it."""
    rules: Sequence[str] = ()
    """How it decides beyond what its name says, a sentence each: for `lycosa explain`."""
    strongest: Callable[[Page], Mapping[str, float]] | None = None
    """The words of a page that speak most for or against the topic, for irrelevant pages too."""
    reasons: Callable[[Page], Sequence[str]] | None = None
    """What else speaks for or against a page, a sentence each: for `lycosa explain`."""


NO_ABILITIES = JudgeAbilities()


class Judge(Protocol):
    """Pure: the same page gets the same judgement. It is pickled and sent to the reader processes."""

    name: str
    """Stored with every judgement."""

    @property
    def abilities(self) -> JudgeAbilities:
        return NO_ABILITIES

    def judge(self, page: Page) -> Judgement:
        """What the page is worth."""


class NoJudge(Judge):
    """For reading pages that nobody judges."""

    name = "none"

    def judge(self, page: Page) -> Judgement:  # noqa: ARG002 - whatever the page is
        return Judgement(0.0, False)


class PlainJudge(Protocol):
    """The least a judge of your own has to have."""

    name: str

    def judge(self, page: Page) -> Judgement | float: ...


class CompletedJudge(Judge):
    """A judge of which only a name and `judge` are required, with the rest filled in."""

    def __init__(self, judge: PlainJudge, *, threshold: float = 0.0) -> None:
        self.name = judge.name
        self._judge = judge
        declared: JudgeAbilities = getattr(judge, "abilities", NO_ABILITIES)  # the door: it may declare some or none
        self._abilities = replace(declared, threshold=threshold) if threshold else declared

    @property
    def abilities(self) -> JudgeAbilities:
        return self._abilities

    def judge(self, page: Page) -> Judgement:
        found = self._judge.judge(page)
        if isinstance(found, Judgement):
            return found
        relevance = float(found)
        if not 0 <= relevance <= 1:
            raise ValueError(f"judge {self.name!r} gave {relevance}: relevance lies between 0 and 1")
        return Judgement(relevance, relevance >= self._abilities.threshold)
