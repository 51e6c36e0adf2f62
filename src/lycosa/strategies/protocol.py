"""What a strategy is: it is told visits, and asked for the links to fetch next.

A strategy scores each link of a visited page and picks among the waiting links whose hosts are ready. Most leave the
picking to the frontier, which hands out the link with the best score; one that chooses for itself overrides `ask`. It
sees only what is known before a fetch: the pages that cite a link, the words around it, the results of earlier visits.

A strategy of your own inherits from `Strategy`, has a `name` and implements `tell` (docs/extending.md). What only some
strategies can do, such as predicting the harvest, is declared in `abilities`, which wrappers pass on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.judges.protocol import JudgeAbilities
from lycosa.lib.snapshot import Snapshots
from lycosa.model import Link, Page, Visit
from lycosa.stopping.forecast import Forecasting
from lycosa.strategies.papers.page_words import PageWords

Links = NDArray[np.int64]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyParts(JudgeAbilities):
    """What strategies are built from besides their constants: the abilities of the judge, and the following."""

    words_of: Callable[[Page], PageWords] = PageWords
    """The words of a page, for `infospiders`."""
    rng: np.random.Generator = field(default_factory=partial(np.random.default_rng, 0))
    """Random number generator, used by this strategy alone."""
    buffer: int | None = None
    """Maximum number of links waiting in the frontier (paper TC: MAX_BUFFER); None for no limit."""

    @classmethod
    def of(
        cls,
        topic: JudgeAbilities,
        *,
        rng: np.random.Generator,
        buffer: int | None = None,
        words_of: Callable[[Page], PageWords] = PageWords,
    ) -> Self:
        """The parts for a crawl with a judge of these abilities."""
        known = {each.name: getattr(topic, each.name) for each in fields(JudgeAbilities)}
        return cls(**known, rng=rng, buffer=buffer, words_of=words_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSettings:
    """The constants of a strategy or rule that has none."""


def _unchanged(visit: Visit, targets: Links) -> Scores:  # noqa: ARG001 - whatever the visit was
    return np.full(len(targets), np.nan)


def _no_factors(visit: Visit, link: Link) -> Mapping[str, float]:  # noqa: ARG001 - the score has none
    return {}


class Guessing(Protocol):
    """Tries URLs that no page need link to."""

    def guesses(self, visit: Visit) -> Sequence[str]:
        """URLs that may be worth a request after the visit just told, whether the crawl knows them or not."""
        ...

    def adopt(self, url: str, link: int) -> float:
        """One of them was new, and has this number now; returns its score."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a strategy needs and can do beyond `tell` and `ask`. The defaults: nothing."""

    needs_whole_pages: bool = False
    """It uses the terms of pages, or the context and path of links; otherwise readers leave these out."""
    uses_judgement: bool = True
    """It goes by what the judge says of pages, so that judging them is part of its cost in comparisons."""
    digest: Callable[[Page], bytes] | None = None
    """Computes what it needs of a page, in the reader (`page.digest`); must be picklable."""
    digest_part: Callable[[bytes, Links], bytes] | None = None
    """From the digest of a page to that of the same page with only the links at these places."""
    studies_topic: bool = False
    """It learns the topic during the crawl, if the judge can start a study."""
    is_retold: bool = False
    """On resume, before `restore`, it is told all visits to pages again, in the order of their commits. Such a page is
    light: URL, title and links (with anchor and rel, without context and path). The visit has its judgement and what
    `note` kept of it."""
    restores_scores: bool = False
    """On resume, its first `ask` gives waiting links the scores that `ask` had given them since its last snapshot, or
    since the crawl began; so these are stored now and then, instead of at the next commit."""
    note: Callable[[], bytes] = bytes
    """What to keep of the visit just told, a few kilobytes at most; returned as `visit.note` on resume. Asked for once
    its guesses are adopted; on resume, it is up to the strategy to adopt them again."""
    again: Callable[[Visit, Links], Scores] = _unchanged
    """What `tell` would return now for an earlier visit, without learning from it. The page is light. NaN: the link
    keeps its score."""
    revisit: Callable[[Visit, Links], Scores] | None = None
    """What the links of a page are worth when it is fetched again, without learning from it, since on resume it is told
    only the first visit. NaN: the link is not queued. None: it is told the visit, and `save` keeps what it learns; if
    it is told all visits again, `again` serves."""
    take_change: Callable[[], str] = str
    """Why all waiting links have to be scored again since the last call; empty if they need not be."""
    rules: Callable[[Visit], list[str]] | None = None
    """What its rules of focus do with the links of a visited page as things stand, a sentence each. None: it has no
    rules."""
    factors: Callable[[Visit, Link], Mapping[str, float]] = _no_factors
    """The factors of the score of a link on a visited page, by name; empty if it has none."""
    answer: Callable[[Mapping[int, bool | None]], None] | None = None
    """Learns, by link, whether a person says that visited pages are relevant (None: the answer is taken back), and
    scores waiting links by it. None: it learns nothing; all waiting links are scored again by `again`."""
    forecasting: Forecasting | None = None
    """Set if its scores are predictions: the harvest can be forecast, and a better link is worth waiting for."""
    snapshots: Snapshots | None = None
    """How all that it knows from the visits told so far is saved and loaded, for a crawl to resume without being told
    them again. None: it cannot be, or there is nothing. `restore` is called after `load` and further visits."""
    guessing: Guessing | None = None
    """Set if it tries URLs that no page need link to. URL rules, robots.txt and limits hold for them as for links."""
    advice: Callable[[], str] | None = None
    """Why it may be time to stop, as the focus cannot be widened further; empty if it can. None: it never widens."""


NO_ABILITIES = Abilities()


class Strategy(Protocol):
    """Scores links; larger is better. Rules about its state:

    - `save` is called with every commit, so its result must be bounded, however long the crawl: a batch, a buffer of
      pages, the lists of agents. What has to be known about each link is carried in its score (`shark`): the store
      keeps scores as 64-bit floats, of which the frontier's order uses the first 32 bits.
    - Therefore `visit.lease.score` is, to the bit, the score this strategy gave: by `tell`, `seed_score`,
      `search_score` or `frontier.revise`.
    - Scores order links of the same number of tries: one that failed waits behind all that were never tried, whatever
      its score becomes (paper FC, section 3.3). The frontier sees to that.
    - A strategy that has to know more than that is told all visits again (`Abilities.is_retold`).
    - A strategy restored from the last commit, with a frontier loaded from the same commit, continues as if nothing had
      happened; links that were leased then wait again.
    """

    name: str

    @property
    def abilities(self) -> Abilities:
        """Must not change during a crawl."""
        return NO_ABILITIES

    def tell(self, visit: Visit, targets: Links) -> Scores:
        """Learn from a visit to a page; return a score for each of its links, whose numbers are `targets`.

        A new link joins the frontier with this score; a waiting one moves up if the score is better than its own.
        NaN: the link is not queued, unless it is found again and gets a number.
        """
        ...

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        """Lease up to `count` links of ready hosts, by default the best. May give new scores: `frontier.revise`."""
        leased: list[int] = []
        while len(leased) < count and (link := frontier.lease(now)) is not None:
            leased.append(link)
        return leased

    def seed_score(self) -> float:
        """The score of a seed."""
        return 1.0

    def search_score(self) -> float:
        """The score of a page that search engines name: by default it is fetched next, as a seed would be."""
        return self.seed_score()

    def reason(self, score: float) -> str:
        """A sentence that explains the score of a waiting link."""
        return f"{self.name}: {score:.3f}"

    def save(self) -> bytes:
        """The state to store with the current commit."""
        return b""

    def restore(self, state: bytes) -> None:
        """Continue from a saved state; no bytes mean a new start. ValueError: the state of another strategy."""
        if state:
            raise ValueError(f"{self.name} keeps no state, but {len(state)} bytes were saved")
