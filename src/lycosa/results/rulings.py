"""Which rule of focus let a link in, moved it, or turned it away: the crawl's own steps, taken again for one link.

All visits are told again to a new strategy, which therefore passes through the same changes of focus. For each page
that cites the link, its rules are asked what they do with the links of that page at that moment, and the link is
treated as the frontier treats it: a better page moves it up, a change of focus scores it again.

A strategy without rules is asked only what it makes of the link now. If a snapshot has told it what it knows, only the
visits since are told, and those to pages that cite the link are looked up.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from lycosa.crawl.resume import NOTHING, STRATEGY, Covered, retold
from lycosa.model import Visit
from lycosa.store.protocol import Store
from lycosa.strategies.protocol import Links, Scores, Strategy


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a strategy and its rules made of a link on one page, at one moment."""

    visit: Visit
    targets: Links
    place: int
    """Position of the link on the page."""
    score: float
    """NaN: it was turned away."""
    words: tuple[str, ...] = ()
    factors: Mapping[str, float] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.visit.lease.url

    def gave(self, score: float) -> bool:
        """Whether this is where the link has its score from."""
        return math.isclose(self.score, score, rel_tol=1e-6, abs_tol=1e-9)


class Rulings:
    """What became of one link."""

    def __init__(self, strategy: Strategy, link: int, parent: int | None) -> None:
        self.strategy = strategy
        self._abilities = strategy.abilities
        self._link = link
        self._parent = parent
        self.parent: Visit | None = None
        """The visit to the page that it was first found on, or whose URL it was derived from."""
        self.is_fetched = False
        self.citing: list[Ruling] = []
        """In order of the visits, as they were told."""
        self.standing: Ruling | None = None
        """The one that gave it the score with which it waits, or was fetched."""

    @property
    def refusals(self) -> list[Ruling]:
        return [ruling for ruling in self.citing if math.isnan(ruling.score)]

    def tell(self, visit: Visit, targets: Links) -> Scores:
        """Tell the strategy of a visit, and see what it makes of the link."""
        places = (targets == self._link).nonzero()[0]
        words = self._words(visit) if len(places) else ()
        scores = self.strategy.tell(visit, targets)
        if visit.lease.id == self._parent:
            self.parent = visit
        if visit.lease.id == self._link:
            self.is_fetched = True
        elif len(places) and not self.is_fetched:
            place = int(places[0])
            ruling = Ruling(visit, targets, place, float(scores[place]), words, self._factors(visit, place))
            self.citing.append(ruling)
            if self.standing is None or ruling.score > self.standing.score:
                self.standing = None if math.isnan(ruling.score) else ruling
        if self._abilities.take_change() and not self.is_fetched:
            self.standing = self.best_now() or self.standing
        return scores

    def remember(self, visit: Visit, targets: Links) -> None:
        """Take note of a visit that the strategy, which must have no rules, knows from a snapshot."""
        places = (targets == self._link).nonzero()[0]
        if visit.lease.id == self._parent:
            self.parent = visit
        if len(places) and visit.lease.id != self._link:
            place = int(places[0])
            self.citing.append(Ruling(visit, targets, place, float(self._abilities.again(visit, targets)[place])))

    def behind(self, score: float) -> Ruling | None:
        """The one that gave the link this score. A judge that has changed its mind since may have taken another way."""
        if self.standing is not None and self.standing.gave(score):
            return self.standing
        now = None if self.is_fetched else self.best_now()
        return now if now is not None and (now.gave(score) or self.standing is None) else self.standing

    def best_now(self) -> Ruling | None:
        """The best that the pages which cite it give it as things stand."""
        scored = [self._now(ruling) for ruling in self.citing]
        return max((each for each in scored if not math.isnan(each.score)), key=lambda each: each.score, default=None)

    def _now(self, ruling: Ruling) -> Ruling:
        visit, place = ruling.visit, ruling.place
        score = float(self._abilities.again(visit, ruling.targets)[place])
        return Ruling(visit, ruling.targets, place, score, self._words(visit), self._factors(visit, place))

    def _words(self, visit: Visit) -> tuple[str, ...]:
        return tuple(self._abilities.rules(visit)) if self._abilities.rules is not None else ()

    def _factors(self, visit: Visit, place: int) -> Mapping[str, float]:
        """Only where there are rules: a strategy alone is asked at the end, when it has learned all it knows."""
        if self._abilities.rules is None or visit.page is None:
            return {}
        return self._abilities.factors(visit, visit.page.links[place])


def rulings(
    store: Store, strategy: Strategy, link: int, parent: int | None = None, *, covered: Covered = NOTHING
) -> Rulings:
    """Tell the strategy everything again but what it knows from a snapshot. In the end it knows what the crawl's own
    knows."""
    assert not covered.pages or strategy.abilities.rules is None
    found = Rulings(strategy, link, parent)
    for visit, targets in store.citing_visits(link, parent=parent, upto=covered.pages) if covered.pages else ():
        found.remember(visit.guiding, targets)
    for _ in retold(store, strategy, covered, tell=found.tell):
        pass
    with contextlib.suppress(ValueError):  # the state of another strategy, or of another version
        strategy.restore(store.state(STRATEGY) or b"")
    return found


def in_words(ruling: Ruling) -> str:
    return f"{'; '.join(ruling.words)} (on {ruling.url})"
