"""When a host may be asked again.

    delay = max(configured, Crawl-delay, k × time of the last fetch) × back-off,  at least Retry-After

counted from the end of a download, per host and per address. The back-off doubles with every failure in
a row and ends with the first answer. The crawl stores what comes out of here, so a restart breaks no promise.
"""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.lib.bounds import require_at_least
from lycosa.model import Kind, Outcome

OVERLOADED = frozenset({429, 500, 502, 503, 504})
"""Answers that say the host is in trouble, or that we are the trouble."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness:
    """How much of a host's time we take."""

    delay: float = 1.0
    """Seconds between the end of one download and the start of the next, per host and per address."""
    fetch_time_factor: float = 1.0
    """Stay away at least this many times as long as the last download took: slow hosts get more rest."""
    max_crawl_delay: float = 60.0
    """A host that asks for more in robots.txt is set aside."""
    max_retry_after: float = 86_400.0
    """A longer Retry-After is cut to this."""
    first_backoff: float = 5.0
    """Seconds to stay away after a first failure; doubled with each further one."""
    max_backoff: float = 3_600.0
    """The longest rest after failures."""
    max_failures: int = 8
    """Failures in a row after which a host is set aside."""
    max_tries: int = 3
    """How often one URL is tried."""
    connections_per_host: int = 1
    """Requests to a host at the same time."""
    connections_per_address: int = 1
    """Requests to an address at the same time."""
    max_links_per_host: int = 0
    """At most so many URLs of a host are taken on; 0 means no limit."""

    def __post_init__(self) -> None:
        require_at_least(self, "politeness", delay=0, fetch_time_factor=0, max_crawl_delay=0, max_retry_after=0)
        require_at_least(self, "politeness", first_backoff=0, max_backoff=0, max_links_per_host=0)
        require_at_least(self, "politeness", max_failures=1, max_tries=1)
        require_at_least(self, "politeness", connections_per_host=1, connections_per_address=1)

    def pause(self, *, seconds: float, crawl_delay: float = 0.0, retry_after: float = 0.0, failures: int = 0) -> float:
        """Seconds a host is left alone after a download that took `seconds`."""
        pause = max(self.delay, crawl_delay, self.fetch_time_factor * seconds)
        if failures > 0:
            pause = max(pause, min(self.max_backoff, self.first_backoff * 2.0 ** min(failures - 1, 60)))
        return max(pause, min(retry_after, self.max_retry_after))

    def why_set_aside(self, outcome: Outcome, *, crawl_delay: float, failures: int) -> str:
        """Why a host is not asked again after this outcome; empty if it is. `failures` counts those in a row.

        A Crawl-delay is only held against a host when it is new: robots.txt is fetched in a visit that is deferred.
        """
        if outcome.kind is Kind.DEFERRED and crawl_delay > self.max_crawl_delay:
            return f"crawl-delay of {crawl_delay:g} s is over the cap of {self.max_crawl_delay:g} s"
        if failures >= self.max_failures:
            return f"{failures} failures in a row, the last: {outcome.reason} {outcome.detail}".strip()
        return ""


def is_host_failure(outcome: Outcome) -> bool:
    """Whether the host, and not just this URL, is in trouble."""
    return outcome.kind is Kind.UNREACHABLE or outcome.status in OVERLOADED
