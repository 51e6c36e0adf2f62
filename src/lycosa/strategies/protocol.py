"""What a strategy is: it is told visits, and asked for the links to fetch next.

A strategy scores each link of a visited page and picks among the waiting links whose hosts are ready. Most leave the
picking to the frontier, which hands out the best score; one that chooses for itself overrides `ask`. It sees only what
is known before a fetch: the pages that cite a link, the words around it, the results of earlier visits.

A strategy of your own inherits from `Strategy`, has a `name` and implements `tell` (docs/extending.md). What only some
strategies can do, such as predicting the harvest, is declared in `abilities`, which wrappers pass on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.judges.protocol import Interest, JudgeAbilities, Study, no_similarity
from lycosa.model import Link, Page, Visit
from lycosa.stopping.forecast import Forecasting
from lycosa.strategies.papers.page_words import PageWords

Links = NDArray[np.int64]
Scores = NDArray[np.float64]


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
    """The words of a page, as the InfoSpiders look at them."""
    rng: np.random.Generator = field(default_factory=_new_rng)
    """The strategy's own from now on."""
    buffer: int | None = None
    """Maximum number of links waiting in the frontier (paper TC: MAX_BUFFER); None for no limit."""
    threshold: float = 0.5
    """Minimum relevance of a relevant page."""
    is_good: Callable[[str], bool] = bool
    """Whether a leaf of the taxonomy is a good topic or lies under one."""
    interest: Interest | None = None
    """What is looked for as something that can be widened, where the judge has it: a formula over topics."""
    study: Callable[[], Study] | None = None
    """Begins to learn the topic in the crawl itself, where the judge can. None: the judge's judgements count."""

    @classmethod
    def of(
        cls,
        topic: JudgeAbilities,
        *,
        rng: np.random.Generator,
        buffer: int | None = None,
        words_of: Callable[[Page], PageWords] = PageWords,
    ) -> Self:
        """The parts that a judge's abilities give."""
        return cls(
            similarity=topic.similarity,
            keywords=topic.keywords,
            words_of=words_of,
            rng=rng,
            buffer=buffer,
            threshold=topic.threshold,
            is_good=topic.is_good,
            interest=topic.interest,
            study=topic.study,
        )


def _nothing_to_keep() -> bytes:
    return b""


def _no_change() -> str:
    return ""


def _as_they_are(visit: Visit, targets: Links) -> Scores:  # noqa: ARG001 - whatever the visit was
    return np.full(len(targets), np.nan)


def _no_factors(visit: Visit, link: Link) -> Mapping[str, float]:  # noqa: ARG001 - the score has no parts
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a strategy needs and can do beyond being told and asked. The defaults: nothing."""

    needs_whole_pages: bool = False
    """It looks at the terms of pages, or at the context and path of links; otherwise readers leave these out."""
    digest: Callable[[Page], bytes] | None = None
    """What it wants to know about a page, computed in the reader (`page.digest`); must be picklable."""
    studies_topic: bool = False
    """It learns the topic in the crawl, if the judge can begin a study."""
    is_retold: bool = False
    """On resume, before `restore`, it is told all visits to pages again, in the order of their commits. Such a page is
    light: URL, title and links (with anchor and rel, without context and path). It comes with its judgement and with
    what `note` kept of it."""
    note: Callable[[], bytes] = _nothing_to_keep
    """What to keep of the visit just told, a few kilobytes at most; comes back as `visit.note`."""
    again: Callable[[Visit, Links], Scores] = _as_they_are
    """What `tell` would return for an earlier visit as things stand now, without learning from it. The page is light.
    NaN: the link keeps its score."""
    take_change: Callable[[], str] = _no_change
    """Why all waiting links have to be scored again, in words, since this was last asked; empty if they need not."""
    factors: Callable[[Visit, Link], Mapping[str, float]] = _no_factors
    """What the score of a link of a visited page is made of, by name; empty if it has no parts."""
    forecasting: Forecasting | None = None
    """Its scores are predictions: the harvest can be forecast, and a better link is worth waiting for."""
    advice: Callable[[], str] | None = None
    """It widens its focus; this says why it may be time to stop, or is empty. None: it never widens."""


NO_ABILITIES = Abilities()


class Strategy(Protocol):
    """Scores are numbers; larger is better. Rules of the state:

    - `save` is called with every commit, so what it returns is bounded, however long the crawl: a batch, a buffer of
      pages, the agents' lists. What has to be known about every single link is carried in its score (`shark`): the
      store keeps scores as 64-bit floats, of which the frontier's order uses the first 32 bits.
    - A strategy that has to know more than that is told everything again (`Abilities.is_retold`).
    - Therefore `visit.lease.score` is, to the bit, the score this strategy gave: by `tell`, `seed_score`, `retry_score`
      or `frontier.revise`.
    - A strategy restored from what was saved with the last commit, and a frontier loaded from the same commit, go on
      as if nothing had happened; links that were leased then wait again.
    """

    name: str

    @property
    def abilities(self) -> Abilities:
        """What else it needs and can do. Does not change."""
        return NO_ABILITIES

    def tell(self, visit: Visit, targets: Links) -> Scores:
        """Take note of a visit to a page; return a score for each of its links, whose numbers are `targets`.

        A new link joins the frontier with this score; a waiting one moves up if the score is better than its own.
        NaN: the link is not queued, until it is found again and has a real score.
        """
        ...

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        """Lease up to `count` links whose hosts are ready; the best scores unless overridden.

        Waiting links may be given other scores here, with `frontier.revise`.
        """
        leased: list[int] = []
        while len(leased) < count:
            link = frontier.lease(now)
            if link is None:
                break
            leased.append(link)
        return leased

    def seed_score(self) -> float:
        """The score of a link that a person gave."""
        return 1.0

    def retry_score(self, score: float, tries: int) -> float:
        """The score of a link that failed and will be tried again.

        Ordered by tries first, then by score (paper FC, section 3.2: numtries ascending, relevance descending).
        """
        return score - tries

    def reason(self, score: float) -> str:
        """How a waiting link came by its score, in words."""
        if score < 0:
            return f"{self.name}: tried before without success, waits behind untried links ({score:.3f})"
        return f"{self.name}: {score:.3f}"

    def save(self) -> bytes:
        """Everything learned, to be stored with the commit it belongs to."""
        return b""

    def restore(self, state: bytes) -> None:
        """Go on from what was saved; no bytes mean a new start. ValueError: the state of another strategy."""
        if state:
            raise ValueError(f"{self.name} keeps no state, but {len(state)} bytes were saved")
