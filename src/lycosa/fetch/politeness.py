"""When a host may be contacted again, and when it is set aside.

    pause = max(delay, Crawl-delay, fetch_time_factor × duration of the last fetch, back-off, Retry-After)

counted from the end of a download, per host and per address. The back-off doubles with every failure in a row and is
reset by the first answer. The crawl stores the result, so the pause is kept across restarts.
"""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.lib.bounds import require_at_least
from lycosa.model import Kind, Outcome

OVERLOADED = frozenset({429, 500, 502, 503, 504})
"""HTTP statuses which say that the host is in trouble, or that we are the trouble."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness:
    """How often a host is contacted, and when it is given up."""

    delay: float = 1.0
    """Seconds between the end of one download and the start of the next, per host and per address."""
    fetch_time_factor: float = 1.0
    """Minimum pause as a multiple of the duration of the last download: slow hosts get longer pauses."""
    max_crawl_delay: float = 60.0
    """Maximum Crawl-delay in seconds: a host whose robots.txt asks for more is set aside."""
    max_retry_after: float = 86_400.0
    """Maximum number of seconds for which a Retry-After is honoured."""
    first_backoff: float = 5.0
    """Minimum pause in seconds after a first failure; doubled with each further one in a row."""
    max_backoff: float = 3_600.0
    """Maximum number of seconds to which this pause grows."""
    max_failures: int = 8
    """Number of failures in a row after which a host is set aside."""
    readmit_after: float = 21_600.0
    """Number of seconds after which a host that was set aside for failures is tried again; 0 means never."""
    max_tries: int = 3
    """Maximum number of tries per URL."""
    connections_per_host: int = 1
    """Maximum number of simultaneous requests to a host."""
    connections_per_address: int = 1
    """Maximum number of simultaneous requests to an IP address."""
    max_links_per_host: int = 0
    """Maximum number of URLs accepted per host; 0 means no limit."""
    max_pages_per_host: int = 0
    """Maximum number of pages fetched per host, the best ones first; 0 means no limit."""

    def __post_init__(self) -> None:
        require_at_least(self, "politeness", delay=0, fetch_time_factor=0, max_crawl_delay=0, max_retry_after=0)
        require_at_least(self, "politeness", first_backoff=0, max_backoff=0, max_links_per_host=0)
        require_at_least(self, "politeness", max_pages_per_host=0)
        require_at_least(self, "politeness", max_failures=1, max_tries=1, readmit_after=0)
        require_at_least(self, "politeness", connections_per_host=1, connections_per_address=1)

    def pause(self, *, seconds: float, crawl_delay: float = 0.0, retry_after: float = 0.0, failures: int = 0) -> float:
        """Seconds for which a host is left alone after a download that took `seconds`."""
        pause = max(self.delay, crawl_delay, self.fetch_time_factor * seconds)
        if failures > 0:
            pause = max(pause, min(self.max_backoff, self.first_backoff * 2.0 ** min(failures - 1, 60)))
        return max(pause, min(retry_after, self.max_retry_after))

    def why_set_aside(self, outcome: Outcome, *, crawl_delay: float, failures: int, pages: int = 0) -> str:
        """Why a host is set aside after this outcome; empty if it is not. `failures` is their number in a row, `pages`
        that of the pages fetched from it.

        The Crawl-delay is checked when robots.txt has been fetched, which defers the visit.
        """
        if outcome.kind is Kind.DEFERRED and crawl_delay > self.max_crawl_delay:
            return f"crawl-delay of {crawl_delay:g} s is over the cap of {self.max_crawl_delay:g} s"
        if failures >= self.max_failures:
            return f"{failures} failures in a row, the last: {outcome.reason} {outcome.detail}".strip()
        if self._has_enough(pages):
            return f"enough pages: {pages:,} fetched, {self.max_pages_per_host:,} allowed per host"
        return ""

    def may_readmit(self, *, crawl_delay: float, failures: int, rested: float, pages: int = 0) -> bool:
        """Whether a host that was set aside may be contacted again; `rested` is the time since it could have been."""
        if crawl_delay > self.max_crawl_delay or self._has_enough(pages):
            return False
        return failures < self.max_failures or (0 < self.readmit_after <= rested)

    def _has_enough(self, pages: int) -> bool:
        return 0 < self.max_pages_per_host <= pages


def is_host_failure(outcome: Outcome) -> bool:
    """Whether the outcome is a failure of the host and not just of this URL."""
    return outcome.kind is Kind.UNREACHABLE or outcome.status in OVERLOADED
