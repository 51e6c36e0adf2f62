"""Tunnelling: the focus is widened while little is found, and narrowed again (paper AR, section 3.3).

A crawl consists of sessions of N pages. With s the share of relevant pages in the session that just ended and r the
share in the whole crawl:

    s < a · r   the focus is generalised by one step
    s > b · r   the last generalisation is undone

Whether a page is relevant is decided by the interest itself; the focus only orders links: under a wider one, pages that
lead to relevant ones count as well. How a focus is generalised is up to the interest (`judges.interest`). The
frequencies of its topics are estimated from the pages visited so far (`topic_figures`). After each change all waiting
links are scored again or, if `is_rescoring` is off, only links found later are scored by the new focus.

It can wrap any strategy: `tunnel+ariadne`. When little is found and the focus cannot be generalised, `advice` says so,
which may be a reason to stop (AR, section 3.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.judges.protocol import Interest
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.snapshot import Tree
from lycosa.model import Link, Visit
from lycosa.strategies.protocol import Abilities, Strategy
from lycosa.strategies.rescoring import scores_of_revisit
from lycosa.strategies.saved_state import seal, unseal
from lycosa.strategies.topic_figures import TopicFigures
from lycosa.strategies.wrapper import Wrapper

MOST_STEPS = 20
"""Number of further generalisations up to which they are counted."""
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
    has_narrow_anchors: bool = False
    """Whether anchors and URLs are scored by the interest itself, and only pages by the wider focus. Not in the paper:
    for webs whose anchors name what they lead to."""

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
        self._figures = TopicFigures()
        self._estimates: list[dict[str, float]] = []
        """For each generalisation: the frequencies it was made by."""
        self._change = ""
        self._advice = ""

    @property
    def abilities(self) -> Abilities:
        inner = super().abilities
        return replace(
            inner,
            again=self.again,
            revisit=self.revisit,
            take_change=self.take_change,
            rules=self.rules,
            factors=self.factors,
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

    def revisit(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        return scores_of_revisit(self._inner, self._focused(visit), targets)

    def take_change(self) -> str:
        change, self._change = self._change, ""
        return change or self._inner.abilities.take_change()

    def factors(self, visit: Visit, link: Link) -> Mapping[str, float]:
        return self._inner.abilities.factors(self._focused(visit), link)

    def rules(self, visit: Visit) -> list[str]:
        focus, depth = self._focus, len(self._focus.steps)
        if focus.interest is None:
            return self.rules_inside(visit)
        left = self._steps_left()
        where = f"tunnel depth {depth}, {left} more step{'s' * (left != 1)} possible"
        if not depth or visit.judgement is None:
            return [f"tunnelling: by the interest itself, {focus.interest} ({where})", *self.rules_inside(visit)]
        focused = self._focused(visit)
        assert focused.judgement is not None
        own, now = visit.judgement.relevance, focused.judgement.relevance
        moved = "raised" if now > own else "lowered" if now < own else "unchanged"
        told = f"the page's relevance is {now:.3f} by it, {own:.3f} by the interest: {moved}"
        return [f"tunnelling: focus widened to {focus.now} ({where}); {told}", *self.rules_inside(focused)]

    def _steps_left(self) -> int:
        """How often the focus could be generalised from here on."""
        now, left = self._focus.now, 0
        while now is not None and left < MOST_STEPS:
            now = now.generalised(self._figures.frequencies(now.rarer_by))
            left += now is not None
        return left

    def reason(self, score: float) -> str:
        is_widened = self._focus.steps and self._settings.is_rescoring
        return super().reason(score) + (f", all by the widened focus, {self._focus.now}" if is_widened else "")

    def _focused(self, visit: Visit) -> Visit:
        """The visit with the relevance of its page by the current focus."""
        judgement, steps = visit.judgement, self._focus.steps
        if judgement is None or not judgement.scores or not steps:
            return visit
        return replace(
            visit, judgement=replace(judgement, relevance=steps[-1].relevance(judgement.scores), margin=None)
        )

    def _count(self, visit: Visit) -> None:
        assert visit.judgement is not None
        self._pages += 1
        self._relevant += visit.judgement.is_relevant
        self._session_relevant += visit.judgement.is_relevant
        now = self._focus.now
        self._figures.add(visit.judgement.scores, now.topics if now else ())

    def _end_session(self) -> None:
        settings, steps = self._settings, self._focus.steps
        session, whole = self._session_relevant / settings.session, self._relevant / self._pages
        self._session_relevant = 0
        told = f"{session:.1%} of the last {settings.session} pages were relevant, {whole:.1%} of all"
        if session < settings.widen_below * whole:
            now = self._focus.now
            estimate = self._figures.frequencies(now.rarer_by) if now else {}
            wider = now.generalised(estimate) if now else None
            if wider is None:
                self._advice = f"focus fully generalised: {told}, and {now or 'the topic'} cannot be widened"
                return
            self._focus.set([*steps, wider])
            self._estimates.append(estimate)
            self._change = f"widened to {wider}: {told}"
        elif session > settings.narrow_above * whole and steps:
            self._focus.set(steps[:-1])
            del self._estimates[-1:]
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
            "estimates": [dict(estimate) for estimate in self._estimates],
            "pages": self._pages,
            "relevant": self._relevant,
            "session_relevant": self._session_relevant,
            **self._figures.to_plain(),
            "change": self._change,
            "advice": self._advice,
        }

    def _load(self, saved: Tree) -> None:
        interest = self._focus.interest
        self._estimates = saved.get("estimates") or [{} for _ in saved["steps"]]  # earlier versions kept none
        named = zip(saved["steps"], self._estimates, strict=True)
        self._focus.set([interest.named(text, estimate) for text, estimate in named] if interest else [])
        self._pages, self._relevant = saved["pages"], saved["relevant"]
        self._session_relevant, self._figures = saved["session_relevant"], TopicFigures.from_plain(saved)
        self._change, self._advice = saved["change"], saved["advice"]
