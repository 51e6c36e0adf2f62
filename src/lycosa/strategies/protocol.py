"""Where to go next: strategies are told visits and asked for links.

A strategy gives each link of a visited page a score, and picks among the waiting links whose host is
ready. Most leave the picking to the frontier, which hands out the best score; one that chooses for
itself overrides `ask`. It sees only what is known before a fetch: the pages that cite a link, the words
around it, what came of earlier visits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.model import Link, Page, Visit
from lycosa.strategies.papers.page_words import PageWords


class Topic(Protocol):
    """What a strategy may know of the topic. Judges have it."""

    keywords: dict[str, int]

    def score_text(self, text: str) -> float: ...


class Interest(Protocol):
    """What is looked for, and wider versions of it: for `tunnelling`."""

    def relevance(self, scores: Mapping[str, float]) -> float:
        """Of a page with these scores by topic, in [0, 1]."""
        ...

    def similarity(self, text: str) -> float:
        """Of an anchor, or of the words of a URL."""
        ...

    def generalised(self, frequency: Mapping[str, float]) -> Self | None:
        """One step wider; None where nothing is left. `frequency`: share of the pages about each topic."""
        ...

    def named(self, text: str) -> Self:
        """The version whose `str` this is."""
        ...


class Study(Protocol):
    """A judge that grows with the crawl: for `hunter`. Words are numbers (`lib.wordhash`)."""

    weights: NDArray[np.float32]
    """By word: how much it speaks for the topic."""

    @property
    def vector(self) -> Callable[[Mapping[str, int]], tuple[NDArray[np.uint16], NDArray[np.uint8]]]:
        """From a page's terms to the words to keep of it, with their counts; can be sent to another process."""
        ...

    @property
    def relevance(self) -> NDArray[np.float32]:
        """Of each page, in the order in which they were added."""
        ...

    @property
    def idf_of_table(self) -> NDArray[np.float32]:
        """By word: how special it is in general."""
        ...

    def add(
        self,
        page: tuple[NDArray[np.uint16], NDArray[np.uint8]],
        *,
        host: int,
        is_seed: bool,
        relevance: float,
    ) -> float:
        """One page more; what it is worth as things stand. `host`: any number of its own from 1 on; `relevance`: what
        the crawl's judge thinks of it.
        """
        ...

    def learn(self) -> None:
        """Work out weights and relevance anew from all pages."""
        ...


def no_similarity(text: str) -> float:  # noqa: ARG001 - without a topic nothing is similar
    """The similarity of a text where there is no topic."""
    return 0.0


def _new_rng() -> np.random.Generator:
    return np.random.default_rng(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyParts:
    """What strategies are made of besides their constants. Each takes what it needs."""

    similarity: Callable[[str], float] = no_similarity
    """How similar a text (an anchor, the words around a link) is to the topic, in [0, 1]."""
    keywords: Mapping[str, int] = field(default_factory=dict)
    """The topic's stems with their frequencies."""
    words_of: Callable[[Page], PageWords] = PageWords
    """A page's words, looked at closely."""
    rng: np.random.Generator = field(default_factory=_new_rng)
    """The strategy's own from now on."""
    buffer: int | None = None
    """How many links may wait in the frontier (paper TC: MAX_BUFFER); None: as many as there are."""
    is_good: Callable[[str], bool] = bool
    """Whether a leaf of the taxonomy is a good topic or lies under one."""
    interest: Interest | None = None
    """What is looked for as something that can be widened, where the judge has it: a formula over topics."""
    study: Callable[[], Study] | None = None
    """Begins to learn the topic in the crawl itself, where the judge can: for `hunter`. None: it takes judgements."""

    @classmethod
    def of(cls, topic: Topic, *, rng: np.random.Generator, buffer: int | None = None) -> Self:
        return cls(
            similarity=topic.score_text,
            keywords=topic.keywords,
            words_of=getattr(topic, "words_of", PageWords),
            rng=rng,
            buffer=buffer,
            is_good=getattr(topic, "is_good", bool),
            interest=getattr(topic, "interest", None),
            study=getattr(topic, "study", None),
        )


class Strategy(Protocol):
    """Scores are numbers, larger is better. Rules of the state:

    - `save` is called with every commit, so what it returns has a bound that does not grow with the crawl: a batch,
      a buffer of pages, the agents' lists. What has to be known of every single link is carried in its score
      (`shark`): the store keeps scores as 64-bit floats, of which the frontier's order uses the first 32 bits.
    - A strategy that has to know more than that is told everything again (`is_retold`).
    - Therefore `visit.lease.score` must be, to the bit, the score this strategy gave (by `tell`, `seed_score`,
      `retry_score` or `rescored`).
    - A strategy restored from what was saved with the last commit, and a frontier loaded from the same commit, go on
      as if nothing had happened; links that were leased then wait again.
    """

    name: str
    digest: Callable[[Page], bytes] | None
    """What it wants to know of a page, worked out in the reader (`page.digest`). Can be sent to another process."""
    needs_whole_pages: bool
    """Whether it looks at the terms of pages, or at the context and path of links. If not, readers leave them out."""
    is_retold: bool
    """On resume, before `restore`, it is told all visits to pages again, in the order of their commits. Such a page is
    light: URL, title and links (with anchor and rel, without context and path), and it comes with its judgement and
    with what the strategy kept of it (`note`)."""

    def seed_score(self) -> float:
        """The score of a link a person gave."""
        ...

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Take note of a visit to a page; return a score for each of its links, whose numbers are `targets`.

        A new link joins the frontier with this score; a waiting one moves up if this is better than what it has.
        NaN: the link is not to be queued. It may be when it is found again and has a real score.
        """
        ...

    def note(self) -> bytes:
        """What to keep of the visit just told, a few kilobytes at most: it comes back as `visit.note`."""
        ...

    def again(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """What `tell` would give for this earlier visit as things stand now; nothing is learned from it.

        The page is light, as for `is_retold`. NaN: the link keeps the score it has.
        """
        ...

    def take_change(self) -> str:
        """Why all waiting links have to be scored again, in words, since this was last asked; empty: they need not."""
        ...

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        """Lease up to `count` links whose hosts are ready."""
        ...

    def rescored(self) -> dict[int, float]:
        """Scores that `ask` has given to waiting links since the last call: to be stored with the next commit."""
        ...

    def retry_score(self, score: float, tries: int) -> float:
        """The score of a link that failed and will be tried again."""
        ...

    def factors(self, visit: Visit, link: Link) -> Mapping[str, float]:
        """What the score of this link of a visited page is made of, by name; empty where it is of one piece."""
        ...

    def reason(self, score: float) -> str:
        """In words, how a waiting link came by its score."""
        ...

    def save(self) -> bytes:
        """Everything learned, to be stored with the commit it belongs to."""
        ...

    def restore(self, state: bytes) -> None:
        """Go on from what was saved; nothing saved (no bytes) is a new start. ValueError: another's state."""
        ...


class Ranked:
    """The habits most strategies share: the frontier hands out the best score, nothing is learned."""

    name = ""
    needs_whole_pages = False
    digest: Callable[[Page], bytes] | None = None
    is_retold = False

    def seed_score(self) -> float:
        return 1.0

    def note(self) -> bytes:
        return b""

    def again(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:  # noqa: ARG002 - scores stay
        return np.full(len(targets), np.nan)

    def take_change(self) -> str:
        return ""

    def factors(self, visit: Visit, link: Link) -> Mapping[str, float]:  # noqa: ARG002 - of one piece
        return {}

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        leased: list[int] = []
        while len(leased) < count:
            link = frontier.lease(now)
            if link is None:
                break
            leased.append(link)
        return leased

    def rescored(self) -> dict[int, float]:
        return {}

    def retry_score(self, score: float, tries: int) -> float:
        """Ordered by tries first, then by score (paper FC, section 3.2: numtries ascending, relevance descending)."""
        return score - tries

    def save(self) -> bytes:
        return b""

    def restore(self, state: bytes) -> None:
        if state:
            raise ValueError(f"{self.name} keeps no state, but {len(state)} bytes were saved")
