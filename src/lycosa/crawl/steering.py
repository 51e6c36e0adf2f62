"""What a running crawl does beside its straight line: it distils, adopts a judge that has learned, finds its threshold,
and gives advice.

`look` is called after each turn of the loop and does nothing most of the time. Each of these ends in one
transaction of the ledger, so that a kill in the middle loses that one thing at most; the resumed crawl does it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from lycosa.crawl.advice import Advice
from lycosa.crawl.commit import DISTILLED_AT, CrawlLedger
from lycosa.crawl.distiller import NAME, CitationGraph, DistillSettings, distill
from lycosa.crawl.reading import Reading
from lycosa.crawl.rejudge import Learning
from lycosa.errors import InputError
from lycosa.judges.protocol import Judge
from lycosa.judges.topic_judges import threshold_from
from lycosa.lib.bounds import require_at_least
from lycosa.lib.clock import Clock
from lycosa.store.protocol import Store

LOOK_EVERY = 2.0
"""Seconds between two looks for a new version of the judge."""
LOOK_AT_START_EVERY = 0.25
"""Seconds between two looks at the start pages, until they have set the threshold."""
LEAST = 0.01
"""A start page with a smaller score is a stray one: a classifier is never quite certain."""

NewJudge = Callable[[int], tuple[int, Judge, str] | None]
"""Given the version in use: a newer one, with its judge and what it learned, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillingSettings(DistillSettings):
    """Hubs and authorities, found while the crawl goes on (paper FC, section 3.3)."""

    every: int = 0
    """Pages between two distillations; 0 means none. Pages that the top hubs cite are then fetched first."""
    revisited: int = 5
    """Top hubs that are fetched again after a distillation, for new links."""
    revisit_after: float = 3600.0
    """Seconds that must lie between two fetches of a hub."""

    def __post_init__(self) -> None:
        DistillSettings.__post_init__(self)
        require_at_least(self, "distill", every=0, revisited=0, revisit_after=0)


class Adopting(Protocol):
    """Whoever reads pages, and can be given another way to."""

    def adopt(self, reading: Reading) -> None: ...


class Steering:
    def __init__(
        self,
        *,
        ledger: CrawlLedger,
        store: Store,
        readers: Adopting,
        reading: Reading,
        distilling: DistillingSettings,
        clock: Clock,
        has_open_threshold: bool = False,
        version: int = 0,
        newer: NewJudge | None = None,
        learning: Learning | None = None,
        advice: Advice | None = None,
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._readers = readers
        self._reading = reading
        self._distilling = distilling
        self._clock = clock
        self._has_open_threshold = has_open_threshold
        self._version = version
        self._newer = newer
        self._learning = learning
        self._advice = advice
        self._looked_at = 0.0
        self._distilled_at = int(store.state(DISTILLED_AT) or 0)
        self._citations: CitationGraph | None = None

    def look(self) -> None:
        if self._distilling.every and self._ledger.pages - self._distilled_at >= self._distilling.every:
            self._distil()
        if self._learning is not None and (learned := self._learning.look()) is not None:
            self._adopt(learned)
        if self._advice is not None:
            self._advice.look()
        now = self._clock.now()
        if self._has_open_threshold and now - self._looked_at >= LOOK_AT_START_EVERY:
            self._looked_at = now
            self._find_threshold()
        if now - self._looked_at < LOOK_EVERY:
            return
        self._looked_at = now
        if self._newer is not None and (found := self._newer(self._version)) is not None:
            self._version, judge, lesson = found
            self._adopt(judge)
            self._ledger.adopt_judge(self._version, lesson)

    def end(self) -> None:
        """The crawl has stopped, perhaps before all start pages were fetched: they decide all the same."""
        if self._has_open_threshold:
            self._find_threshold(is_last=True)
        if self._learning is not None:
            self._learning.look(is_last=True)
        if self._advice is not None:
            self._advice.look(is_last=True)

    def _distil(self) -> None:
        self._distilled_at = self._ledger.pages
        if self._citations is None:
            self._citations = CitationGraph(self._store)
        else:
            self._citations.update()
        if not self._citations.has_relevant_pages:
            return
        found = distill(self._citations, self._distilling, earlier=self._store.state(NAME))
        before = self._clock.now() - self._distilling.revisit_after
        hubs = found.hubs_to_revisit(fetched_before=before)[: self._distilling.revisited]
        told = f"{found.pages:,} pages, {found.edges:,} links that count, {len(found.hubs)} hubs"
        self._ledger.favour([page.link for page in found.unvisited], hubs, found.state, told)

    def _find_threshold(self, *, is_last: bool = False) -> None:
        """When all start pages have been dealt with: the smallest positive score among them (AR, section 2.3)."""
        if not is_last and self._store.waiting_seeds():
            return
        scores = [seed.relevance for seed in self._store.seed_pages() if seed.relevance is not None]
        if not scores:
            return
        self._has_open_threshold = False
        judge = self._reading.judge
        with_threshold = judge.abilities.with_threshold
        assert with_threshold is not None, "only such a judge has an open threshold"
        try:
            threshold = threshold_from(scores, least=LEAST)
            why = f"minimum relevance {threshold:.3f}: the smallest score of the {len(scores)} start pages"
        except InputError:
            threshold = judge.abilities.threshold
            why = (
                f"no start page fits {judge.abilities.interest}: the minimum relevance stays at {threshold:g}; "
                "better seeds would help"
            )
        self._adopt(with_threshold(threshold))
        self._ledger.set_threshold(threshold, why)

    def _adopt(self, judge: Judge) -> None:
        self._reading = replace(self._reading, judge=judge)
        self._readers.adopt(self._reading)
