"""Tunnelling: the focus is widened while little is found, and narrowed again (paper AR, section 3.3).

A crawl consists of sessions of N pages. With s the share of relevant pages in the session that just ended and r the
share in the whole crawl:

    s < a · r   the focus is generalised by one step
    s > b · r   the last generalisation is undone

Whether a page is relevant is decided by the interest itself; the focus only orders links: under a wider one, pages that
lead to relevant ones count as well. How a focus is generalised is up to the interest (`judges.interest`). The
frequencies of its topics are estimated from the pages visited so far. After each change all waiting links are scored
again or, if `is_rescoring` is off, only links found later are scored by the new focus.

It can wrap any strategy: `tunnel+ariadne`. When little is found and the focus cannot be generalised, `advice` says so,
which may be a reason to stop (AR, section 3.4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.judges.protocol import Interest
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.snapshot import Tree
from lycosa.model import Visit
from lycosa.strategies.protocol import Abilities, Strategy
from lycosa.strategies.saved_state import seal, unseal
from lycosa.strategies.wrapper import Wrapper

MEMO = 1 << 15
"""Number of texts whose similarity to the focus is remembered."""


class Focus:
    """The current focus of a crawl. Without an interest (words alone) it cannot be generalised."""

    def __init__(self, interest: Interest | None) -> None:
        self.interest = interest
        self.steps: list[Interest] = []
        """Its generalisations so far; the last one is the current focus."""
        self._known: dict[str, float] = {}

    @property
    def now(self) -> Interest | None:
        return self.steps[-1] if self.steps else self.interest

    def set(self, steps: list[Interest]) -> None:
        self.steps = steps
        self._known.clear()

    def similarity(self, text: str) -> float:
        """`StrategyParts.similarity` by the current focus."""
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= MEMO:
                self._known.clear()
            known = self._known[text] = self.now.similarity(text) if self.now else 0.0
        return known


@dataclass(frozen=True, slots=True, kw_only=True)
class TunnellingSettings:
    session: int = 100
    """N: number of pages in a session."""
    widen_below: float = 0.5
    """a: generalise when the session's share of relevant pages is below this fraction of the whole crawl's."""
    narrow_above: float = 0.8
    """b: undo the last generalisation when it is above this fraction."""
    is_rescoring: bool = True
    """Whether all waiting links are scored again after a change; if not, only links found later."""

    def __post_init__(self) -> None:
        require_at_least(self, "tunnel", session=1)
        require_above_zero(self, "tunnel", "widen_below", "narrow_above")
        if not self.widen_below <= self.narrow_above <= 1:
            raise ConfigError(
                f"tunnel.widen_below is {self.widen_below} and tunnel.narrow_above {self.narrow_above}: "
                "widen_below ≤ narrow_above ≤ 1 is required"
            )


class Tunnelling(Wrapper):
    def __init__(self, inner: Strategy, focus: Focus, settings: TunnellingSettings) -> None:
        super().__init__(inner, "tunnel")
        self._focus = focus
        self._settings = settings
        self._pages = 0
        self._relevant = 0
        self._session_relevant = 0
        self._sums: dict[str, float] = {}
        """Sum of the scores of all visited pages, by topic."""
        self._change = ""
        self._advice = ""

    @property
    def abilities(self) -> Abilities:
        inner = super().abilities
        return replace(
            inner,
            again=self.again,
            take_change=self.take_change,
            advice=lambda: self._advice,
            snapshots=self.snapshots_with(self._take, self._load) if inner.is_retold else None,
        )

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = super().tell(self._focused(visit), targets)
        if visit.judgement is not None:
            self._count(visit)
            if self._pages % self._settings.session == 0:
                self._end_session()
        return scores

    def again(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        if not self._settings.is_rescoring:
            return np.full(len(targets), np.nan)
        return self._inner.abilities.again(self._focused(visit), targets)

    def take_change(self) -> str:
        change, self._change = self._change, ""
        return change or self._inner.abilities.take_change()

    def _focused(self, visit: Visit) -> Visit:
        """The visit with the relevance of its page by the current focus."""
        judgement, steps = visit.judgement, self._focus.steps
        if judgement is None or not judgement.scores or not steps:
            return visit
        return replace(visit, judgement=replace(judgement, relevance=steps[-1].relevance(judgement.scores)))

    def _count(self, visit: Visit) -> None:
        assert visit.judgement is not None
        self._pages += 1
        self._relevant += visit.judgement.is_relevant
        self._session_relevant += visit.judgement.is_relevant
        for topic, score in visit.judgement.scores.items():
            self._sums[topic] = self._sums.get(topic, 0.0) + score

    def _end_session(self) -> None:
        settings, steps = self._settings, self._focus.steps
        session, whole = self._session_relevant / settings.session, self._relevant / self._pages
        self._session_relevant = 0
        told = f"{session:.1%} of the last {settings.session} pages were relevant, {whole:.1%} of all"
        if session < settings.widen_below * whole:
            frequency = {topic: total / self._pages for topic, total in self._sums.items()}
            now = self._focus.now
            wider = now.generalised(frequency) if now else None
            if wider is None:
                self._advice = f"focus fully generalised: {told}, and {now or 'the topic'} cannot be widened"
                return
            self._focus.set([*steps, wider])
            self._change = f"widened to {wider}: {told}"
        elif session > settings.narrow_above * whole and steps:
            self._focus.set(steps[:-1])
            self._change = f"narrowed to {self._focus.now}: {told}"
        self._advice = ""

    def save(self) -> bytes:
        return seal(self.name, self._take(), np.frombuffer(self._inner.save(), dtype=np.uint8))

    def restore(self, state: bytes) -> None:
        if not state:
            self._inner.restore(b"")
            return
        head, (inner,) = unseal(self.name, state)
        self._inner.restore(inner.tobytes())
        self._load(head)

    def _take(self) -> Tree:
        return {
            "steps": [str(step) for step in self._focus.steps],
            "pages": self._pages,
            "relevant": self._relevant,
            "session_relevant": self._session_relevant,
            "sums": dict(self._sums),
            "change": self._change,
            "advice": self._advice,
        }

    def _load(self, saved: Tree) -> None:
        interest = self._focus.interest
        self._focus.set([interest.named(text) for text in saved["steps"]] if interest else [])
        self._pages, self._relevant = saved["pages"], saved["relevant"]
        self._session_relevant, self._sums = saved["session_relevant"], saved["sums"]
        self._change, self._advice = saved["change"], saved["advice"]
