"""When a crawl ends, and why (paper AR, section 3.4). Every rule says its reason in words."""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.lib.bounds import require_at_least


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a crawl may use up, counted over all its runs where it says so."""

    pages: int = 1_000
    """Pages fetched, over all runs."""
    seconds: float = 0.0
    """Time of this run; 0 means no limit."""

    def __post_init__(self) -> None:
        require_at_least(self, "budget", pages=1, seconds=0)


class Stop:
    """The stop rules of one run."""

    def __init__(self, budget: Budget, *, started: float) -> None:
        self._budget = budget
        self._started = started
        self._request = ""

    def request(self, reason: str) -> None:
        """Somebody asks for an end: what is under way is finished and committed first."""
        self._request = reason

    def reason(self, *, pages: int, now: float) -> str:
        """Why to stop now, or an empty string."""
        if self._request:
            return self._request
        if pages >= self._budget.pages:
            return f"page budget: {pages:,} of {self._budget.pages:,} pages fetched"
        if self._budget.seconds and now - self._started >= self._budget.seconds:
            return f"time budget: {self._budget.seconds:g} s used up"
        return ""

    def pages_left(self, pages: int) -> int:
        return max(0, self._budget.pages - pages)

    def exhausted(self, waiting: int) -> str:
        if waiting:
            return f"nothing left to fetch: the {waiting:,} waiting links are on hosts that were set aside"
        return "frontier empty: every link found has been dealt with"
