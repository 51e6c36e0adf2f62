"""When a crawl ends, and why (paper AR, section 3.4). Every rule states its reason.

Any number of rules may be active; the first that applies ends the crawl. Fetches in progress are completed and
committed, and if the rule no longer applies then (a relevant page after a long drought), the crawl continues. So a
limit may be exceeded by the fetches in progress, except for the page budget, which is exact. Since the figures cover
all runs, a crawl that was stopped by a rule stops at once when it is resumed, until the rule is changed.

One rule looks ahead instead of back: `expected_harvest` (`forecast`). Two criteria differ from AR:
- Precision is measured over a window of the latest pages, and not before the window is full. AR does not say over which
  pages; over the whole crawl it would respond an hour late.
- In AR (after Flake, Lawrence and Giles, KDD 2000) a community is a subset of the relevant pages that are more closely
  linked to each other than to others, which is expensive to find. Here all relevant pages are considered together: what
  share of their links to other pages leads to relevant pages? A page that has not been fetched is an outsider, so a
  crawl that still finds many links to follow is not closed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.lib.bounds import require_at_least, require_at_most
from lycosa.stopping.figures import Figures
from lycosa.stopping.forecast import PAGES, Forecast

HOSTS_A_TURN = 64
"""Maximum mean number of hosts searched per iteration of the crawl loop for the best waiting score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits on what a crawl may use."""

    pages: int = 1_000
    """Maximum number of pages fetched, over all runs."""
    seconds: float = 0.0
    """Maximum duration of this run in seconds; 0 means no limit."""
    bytes: int = 0
    """Maximum number of bytes downloaded, over all runs: bodies as they came over the wire; 0 means no limit."""

    def __post_init__(self) -> None:
        require_at_least(self, "budget", pages=1, seconds=0, bytes=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRules:
    """When a crawl has found enough, or will not find much more. 0 turns a rule off; all count over all runs."""

    relevant: int = 0
    """Stop when this many relevant pages have been found."""
    irrelevant: int = 0
    """Stop when this many irrelevant pages have been fetched."""
    irrelevant_in_a_row: int = 0
    """Stop when this many irrelevant pages have been fetched since the last relevant one."""
    precision: float = 0.0
    """Stop when less than this share of the latest pages is relevant; not before the window is full."""
    window: int = 500
    """Number of latest pages over which precision is measured."""
    best_score: float = 0.0
    """Stop when no waiting link has a score of at least this; links on hosts that were set aside do not count."""
    community: float = 0.0
    """Stop when more than this share of the links of relevant pages leads to relevant pages: 0.5 is a community."""
    community_size: int = 100
    """Minimum number of relevant pages of a community."""
    expected_harvest: float = 0.0
    """Stop when less than this share of the next fetches is expected to be relevant."""
    forecast_pages: int = PAGES
    """Number of next fetches that are forecast, for `expected_harvest` and for the progress display."""
    is_generalised: bool = False
    """Stop when tunnelling has to widen the focus but it cannot be widened further."""

    def __post_init__(self) -> None:
        require_at_least(self, "stop", relevant=0, irrelevant=0, irrelevant_in_a_row=0, precision=0, window=1)
        require_at_least(self, "stop", best_score=0, community=0, community_size=1)
        require_at_least(self, "stop", expected_harvest=0, forecast_pages=1)
        require_at_most(self, "stop", precision=1, expected_harvest=1)
        if self.community >= 1:
            raise ConfigError(f"stop.community is {self.community}: it is a share that can be exceeded, less than 1")


NO_RULES = StopRules()
NO_PAGE_LIMIT = 2**40


def no_forecast() -> None:
    return None


class Stop:
    """The stop rules of one run. `advice` (a reason to stop, or "") and `forecast` are called in every iteration."""

    def __init__(
        self,
        budget: Budget,
        *,
        started: float,
        rules: StopRules = NO_RULES,
        advice: Callable[[], str] = str,
        forecast: Callable[[], Forecast | None] = no_forecast,
    ) -> None:
        self._budget = budget
        self._rules = rules
        self._started = started
        self._advice = advice
        self._forecast = forecast
        self._request = ""
        self._paused_at: float | None = None
        self._turns_to_skip = 0
        """Number of iterations of the crawl loop until the best waiting score is checked again."""

    def request(self, reason: str) -> None:
        """Ask the crawl to stop; fetches in progress are completed and committed first."""
        self._request = reason

    def finish(self, reason: str) -> None:
        """All that was to be done has been done."""
        self.request(reason)

    @property
    def was_requested(self) -> bool:
        return bool(self._request)

    @property
    def is_paused(self) -> bool:
        return self._paused_at is not None

    def pause(self, now: float) -> None:
        """Lease nothing until `go_on`; fetches in progress are completed. The pause does not count as time used."""
        self._paused_at = now if self._paused_at is None else self._paused_at

    def go_on(self, now: float) -> None:
        if self._paused_at is not None:
            self._started += now - self._paused_at
            self._paused_at = None

    def reason(self, figures: Figures, frontier: Frontier, *, now: float) -> str:
        """Why to stop now, or an empty string."""
        return (
            self._request
            or self._over_budget(figures, now)
            or _past_pages(figures, self._rules)
            or self._low_best_score(frontier)
            or self._low_expected_harvest()
            or self._advice()
        )

    def pages_left(self, pages: int) -> int:
        return max(0, self._budget.pages - pages)

    def exhausted(self, waiting: int) -> str:
        if waiting:
            return f"nothing left to fetch: the {waiting:,} waiting links are on hosts that were set aside"
        return "frontier empty: every link found has been dealt with"

    def _over_budget(self, figures: Figures, now: float) -> str:
        budget = self._budget
        if figures.pages >= budget.pages:
            return f"page budget: {figures.pages:,} of {budget.pages:,} pages fetched"
        used = (now if self._paused_at is None else self._paused_at) - self._started
        if budget.seconds and used >= budget.seconds:
            return f"time budget: {budget.seconds:g} s used up"
        if budget.bytes and figures.bytes >= budget.bytes:
            return f"byte budget: {figures.bytes:,} bytes downloaded, {budget.bytes:,} allowed"
        return ""

    def _low_best_score(self, frontier: Frontier) -> str:
        """Whether no waiting link is worth fetching. If none is waiting, fetches in progress may find more."""
        least = self._rules.best_score
        if not least:
            return ""
        if self._turns_to_skip:
            self._turns_to_skip -= 1
            return ""
        best = frontier.best_score()
        if best is None or best >= least:
            self._turns_to_skip = frontier.hosts // HOSTS_A_TURN
            return ""
        return f"best score: {best:.3g} is the best of {frontier.waiting:,} waiting links, {least:g} is required"

    def _low_expected_harvest(self) -> str:
        """Whether too little is expected. Without a forecast the rule does not apply."""
        least = self._rules.expected_harvest
        forecast = self._forecast() if least else None
        if forecast is None or forecast.share.value >= least:
            return ""
        harvest, share = forecast.harvest, forecast.share
        return (
            f"expected harvest: about {harvest.value:,.0f} of the next {forecast.pages:,} pages would be relevant "
            f"({harvest.low:,.0f}–{harvest.high:,.0f} in 9 of 10 cases), {share.value:.2%}; {least:.2%} is required"
        )


def _past_pages(figures: Figures, rules: StopRules) -> str:
    """The rules about the pages fetched so far."""
    if rules.relevant and figures.relevant >= rules.relevant:
        return f"enough found: {figures.relevant:,} relevant pages, {rules.relevant:,} were asked for"
    if rules.irrelevant and figures.irrelevant >= rules.irrelevant:
        return f"irrelevant pages: {figures.irrelevant:,} fetched, {rules.irrelevant:,} allowed"
    if rules.irrelevant_in_a_row and figures.since_relevant >= rules.irrelevant_in_a_row:
        return (
            f"irrelevant pages in a row: {figures.since_relevant:,} since the last relevant one, "
            f"{rules.irrelevant_in_a_row:,} allowed"
        )
    if figures.precision is not None and figures.precision < rules.precision:
        return (
            f"precision: {figures.precision:.1%} of the last {rules.window:,} pages are relevant, "
            f"{rules.precision:.1%} is required"
        )
    is_large = figures.relevant >= rules.community_size
    if rules.community and is_large and figures.inward > rules.community * figures.links:
        return (
            f"community closed: {figures.inward:,} of {figures.links:,} links on {figures.relevant:,} relevant "
            f"pages lead to each other, more than {rules.community:.0%}"
        )
    return ""
