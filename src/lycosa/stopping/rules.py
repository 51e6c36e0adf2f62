"""When a crawl ends, and why (paper AR, section 3.4). Every rule says its reason in words.

Any number of rules may be on; the first that holds ends the crawl. What is under way then is finished and committed,
and if that changes the verdict (a relevant page after a long drought), the crawl goes on. So a number may be exceeded
by what was under way, except for the page budget, which is kept to the page. As the figures are counted over all runs,
a crawl that stopped by a rule stops at once when it is started again, until the rule is changed.

One rule looks ahead instead of back: `expected_harvest` (`forecast`). Two criteria differ from AR:
- Precision is that of the latest pages, a window, and says nothing before the window is full. AR leaves open over what
  it is taken; over the whole crawl it would answer an hour late.
- A community is for AR (after Flake, Lawrence and Giles, KDD 2000) a subset of the relevant pages that are more closely
  linked to each other than to others, and finding one is costly. Here the relevant pages as a whole are looked at: of
  all links on them to other pages, what share leads to one of them? A page not fetched yet is an outsider, so a crawl
  that still finds much to follow is not closed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.lib.bounds import require_at_least
from lycosa.stopping.figures import Figures
from lycosa.stopping.forecast import PAGES, Forecast

HOSTS_A_TURN = 64
"""The best waiting score takes a look at every host: so many of them may be looked at for each turn of the loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a crawl may use up, counted over all its runs where it says so."""

    pages: int = 1_000
    """Pages fetched, over all runs."""
    seconds: float = 0.0
    """Time of this run; 0 means no limit."""
    bytes: int = 0
    """Bytes downloaded, over all runs: bodies of answers as they came over the wire; 0 means no limit."""

    def __post_init__(self) -> None:
        require_at_least(self, "budget", pages=1, seconds=0, bytes=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRules:
    """When a crawl has found enough, or will not find much more. 0 turns a rule off; all count over all runs."""

    relevant: int = 0
    """Stop when so many relevant pages are found."""
    irrelevant: int = 0
    """Stop when so many irrelevant pages are fetched."""
    irrelevant_in_a_row: int = 0
    """Stop when so many irrelevant pages are fetched since the last relevant one."""
    precision: float = 0.0
    """Stop when a smaller share of the latest pages is relevant; not before the window is full."""
    window: int = 500
    """How many pages the latest are."""
    best_score: float = 0.0
    """Stop when no waiting link (on a host that is not set aside) has a score of at least this."""
    community: float = 0.0
    """Stop when more than this share of the links of relevant pages leads to relevant pages: 0.5 is a community."""
    community_size: int = 100
    """Fewer relevant pages are no community."""
    expected_harvest: float = 0.0
    """Stop when less than this share of the next fetches is expected to be relevant."""
    forecast_pages: int = PAGES
    """How many the next fetches are, for the rule above and for what progress shows."""
    is_generalised: bool = False
    """Stop when tunnelling has to widen the focus and nothing is left to widen."""

    def __post_init__(self) -> None:
        require_at_least(self, "stop", relevant=0, irrelevant=0, irrelevant_in_a_row=0, precision=0, window=1)
        require_at_least(self, "stop", best_score=0, community=0, community_size=1)
        require_at_least(self, "stop", expected_harvest=0, forecast_pages=1)
        if self.precision > 1:
            raise ConfigError(f"stop.precision is {self.precision}: it is a share, 1 at most")
        if self.expected_harvest > 1:
            raise ConfigError(f"stop.expected_harvest is {self.expected_harvest}: it is a share, 1 at most")
        if self.community >= 1:
            raise ConfigError(f"stop.community is {self.community}: it is a share that can be exceeded, less than 1")


NO_RULES = StopRules()


def no_advice() -> str:
    return ""


def no_forecast() -> None:
    return None


class Stop:
    """The stop rules of one run.

    `advice` is asked at every turn: a reason of the focus's own (it has been generalised as far as it goes), or "".
    So is `forecast` where there is a rule for it; who answers sees to it that this is cheap (`forecaster`).
    """

    def __init__(
        self,
        budget: Budget,
        *,
        started: float,
        rules: StopRules = NO_RULES,
        advice: Callable[[], str] = no_advice,
        forecast: Callable[[], Forecast | None] = no_forecast,
    ) -> None:
        self._budget = budget
        self._rules = rules
        self._started = started
        self._advice = advice
        self._forecast = forecast
        self._request = ""
        self._turns_off = 0
        """Turns of the loop until the best waiting score is looked at again."""

    def request(self, reason: str) -> None:
        """Somebody asks for an end: what is under way is finished and committed first."""
        self._request = reason

    def reason(self, figures: Figures, frontier: Frontier, *, now: float) -> str:
        """Why to stop now, or an empty string."""
        return (
            self._request
            or self._spent(figures, now)
            or _found(figures, self._rules)
            or self._poor(frontier)
            or self._hopeless()
            or self._advice()
        )

    def pages_left(self, pages: int) -> int:
        return max(0, self._budget.pages - pages)

    def exhausted(self, waiting: int) -> str:
        if waiting:
            return f"nothing left to fetch: the {waiting:,} waiting links are on hosts that were set aside"
        return "frontier empty: every link found has been dealt with"

    def _spent(self, figures: Figures, now: float) -> str:
        budget = self._budget
        if figures.pages >= budget.pages:
            return f"page budget: {figures.pages:,} of {budget.pages:,} pages fetched"
        if budget.seconds and now - self._started >= budget.seconds:
            return f"time budget: {budget.seconds:g} s used up"
        if budget.bytes and figures.bytes >= budget.bytes:
            return f"byte budget: {figures.bytes:,} bytes downloaded, {budget.bytes:,} allowed"
        return ""

    def _poor(self, frontier: Frontier) -> str:
        """Whether what waits is worth a fetch. Nothing waiting is not poor: what is under way may bring more."""
        least = self._rules.best_score
        if not least:
            return ""
        if self._turns_off:
            self._turns_off -= 1
            return ""
        best = frontier.best_score()
        if best is None or best >= least:
            self._turns_off = frontier.hosts // HOSTS_A_TURN
            return ""
        return f"best score: {best:.3g} is the best of {frontier.waiting:,} waiting links, {least:g} is asked for"

    def _hopeless(self) -> str:
        """Whether too little is to be expected. As long as nothing can be said, nothing is."""
        least = self._rules.expected_harvest
        forecast = self._forecast() if least else None
        if forecast is None or forecast.share.value >= least:
            return ""
        harvest, share = forecast.harvest, forecast.share
        return (
            f"expected harvest: about {harvest.value:,.0f} of the next {forecast.pages:,} pages would be relevant "
            f"({harvest.low:,.0f}–{harvest.high:,.0f} in 9 of 10 cases), {share.value:.2%}; {least:.2%} is asked for"
        )


def _found(figures: Figures, rules: StopRules) -> str:
    """What the pages fetched so far say."""
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
            f"{rules.precision:.1%} is asked for"
        )
    is_large = figures.relevant >= rules.community_size
    if rules.community and is_large and figures.inward > rules.community * figures.links:
        return (
            f"community closed: {figures.inward:,} of {figures.links:,} links on {figures.relevant:,} relevant "
            f"pages lead to each other, more than {rules.community:.0%}"
        )
    return ""
