"""Whether to fetch a link now, or to wait for a better one.

Hosts rest between fetches. A crawl that always makes as many simultaneous fetches as it may soon takes the best link of
every ready host, however poor, while the hosts with the good links are resting: links are then ordered only within
hosts. So a link is handed out only if its score is at least a certain share of the best score on hosts that are ready
or will be soon.

With 120 hosts that rest for a second, 16 simultaneous fetches and a share of 0.25, 51 to 55 % of the hunter's pages
were relevant instead of 22 to 26 %, at 4 to 17 % fewer relevant pages per hour and less than half the fetches (three
topics of one generated web, on which 0.25 was chosen). Scores must be predictions: for others a share is meaningless.
"""

from __future__ import annotations

from lycosa.frontier import keys
from lycosa.frontier.keys import LINK_BITS
from lycosa.frontier.schedule import BUSY, COOLING, PARKED, READY, Schedule, ScheduledHost

SOON = 10.0
"""Number of seconds for which a better link is worth waiting."""
LOOK_EVERY = 0.25
"""Seconds between two searches for the best score over all hosts, if there are few hosts."""
HOSTS_A_SECOND = 20_000
"""Number of hosts that may be searched per second, if there are many."""
MAX_PREDICTION = 1.0
"""Highest possible prediction: the scores of seeds are higher, but do not make other links wait."""


class Patience:
    def __init__(self, share: float, schedule: Schedule) -> None:
        self._share = share
        self._schedule = schedule
        self._best = 0.0
        self._next_look = float("-inf")

    def holds_back(self, host: ScheduledHost) -> bool:
        """Whether the best link of this host, the best of all ready ones, has to wait for a better one elsewhere."""
        return _score(host) < self._share * self.best()

    def best(self) -> float:
        """The best score on hosts that are ready or will be soon."""
        schedule = self._schedule
        if schedule.now >= self._next_look:
            self._look()
            self._next_look = schedule.now + max(LOOK_EVERY, len(schedule.hosts) / HOSTS_A_SECOND)
        return self._best

    def _look(self) -> None:
        soon = self._schedule.now + SOON
        near = (host for host in self._schedule.hosts if host is not None and _is_near(host, soon))
        self._best = max((min(_score(host), MAX_PREDICTION) for host in near), default=0.0)


def _is_near(host: ScheduledHost, soon: float) -> bool:
    if not host.head:
        return False
    return host.state in (READY, PARKED, BUSY) or (host.state == COOLING and host.until <= soon)


def _score(host: ScheduledHost) -> float:
    """The score of its best link. One that failed is worth nothing as long as another may be waited for."""
    place = host.head[0] >> LINK_BITS
    if keys.is_tried(place):
        return 0.0
    return MAX_PREDICTION if keys.is_favoured(place) else keys.score(place)
