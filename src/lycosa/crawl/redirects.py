"""What becomes of the target of a redirect: it waits in the frontier like any other link.

It is as far from the seeds as the link that led to it, and worth as much; a chain of redirects ends after a maximum.
Live crawls and replays follow the same rule.
"""

from __future__ import annotations

from lycosa.crawl.link_rules import FoundLink
from lycosa.model import Lease

TOO_MANY = "too many redirects"


def redirect_target(lease: Lease, *, max_redirects: int, reason: str = "") -> FoundLink:
    """The target of the redirect that this lease met. `reason`: why the URL rules turn it away, if they do."""
    if not reason and lease.redirects >= max_redirects:
        reason = TOO_MANY
    return FoundLink(lease.distance, lease.redirects + 1, lease.score, reason)
