"""Which URLs the crawl has seen, and under which number; how a found link gets into the frontier.

One number per canonical URL, in order of discovery, without gaps. The book keeps 64-bit hashes only
(`lib.hashindex`); the URLs themselves are in the store.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.hosts import HostBook
from lycosa.fetch.urls import host_key, url_hash
from lycosa.frontier.frontier import Frontier
from lycosa.lib.hashindex import HashIndex
from lycosa.model import Lease, Link, Page
from lycosa.store.protocol import Store
from lycosa.store.rows import NOFOLLOW, NOT_WORTH, REVISIT, Batch, LinkRow, State, StateRow

TOO_FAR = "too far"


class LinkBook:
    """Numbers for URLs, and the way from a page's links into the frontier."""

    def __init__(
        self,
        store: Store,
        *,
        frontier: Frontier,
        hosts: HostBook,
        follow_nofollow: bool,
        max_links_per_host: int,
        max_distance: int | None = None,
    ) -> None:
        self._frontier = frontier
        self._hosts = hosts
        self._follow_nofollow = follow_nofollow
        self._max_links_per_host = max_links_per_host
        self._max_distance = max_distance
        self._index = HashIndex()
        self._index.add(*store.hashes())
        self._next = store.totals().links + 1
        self._dormant = store.dormant_links()
        """Links that come to life when found again: dropped from a full buffer, nofollow or not worth it so far."""

    def number(self, page: Page) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Numbers of the page's links, then of its rejected URLs; and which of them are new."""
        return self._index.find_or_add(np.frombuffer(page.link_hashes, dtype=np.int64), self._next)

    def add(
        self, url: str, batch: Batch, *, parent: Lease | None, redirects: int, score: float, reason: str = ""
    ) -> bool:
        """A seed, or the target of a redirect. True if it is new."""
        value = url_hash(url)
        numbers, is_new = self._index.find_or_add(np.array([value]), self._next)
        if not is_new[0]:
            if not reason:
                self._wake(int(numbers[0]), url, score, batch)
            return False
        distance = parent.distance if parent else 0
        row = self._row(int(numbers[0]), value, Link(url), parent, distance, redirects, score, reason, batch)
        if row.state == State.WAITING:
            self._push(batch, [row.id], [row.host_id], [score])
        return True

    def expand(
        self,
        lease: Lease,
        page: Page,
        numbers: NDArray[np.int64],
        is_new: NDArray[np.bool_],
        scores: NDArray[np.float64],
        batch: Batch,
    ) -> None:
        """New links join the frontier, known ones move up, rejected ones are written down with their reason."""
        hashes = np.frombuffer(page.link_hashes, dtype=np.int64)
        rejected = list(page.rejected.items())
        ids, hosts, values = self._woken(page, numbers, is_new, scores, batch)
        for at in np.flatnonzero(is_new).tolist():
            if at < len(page.links):
                link, score = page.links[at], float(scores[at])
                reason = "" if self._may_follow(page, link) else NOFOLLOW
                if math.isnan(score):
                    score, reason = 0.0, reason or NOT_WORTH
            else:
                url, reason = rejected[at - len(page.links)]
                link, score = Link(url), 0.0
            row = self._row(int(numbers[at]), int(hashes[at]), link, lease, lease.distance + 1, 0, score, reason, batch)
            if row.state == State.WAITING:
                ids.append(row.id)
                hosts.append(row.host_id)
                values.append(score)
        if ids:
            self._push(batch, ids, hosts, values)
        self._raise(numbers[: len(page.links)], ~is_new[: len(page.links)], scores, batch)

    def _may_follow(self, page: Page, link: Link) -> bool:
        return self._follow_nofollow or not (page.is_nofollow or NOFOLLOW in link.rel)

    def _row(
        self,
        number: int,
        value: int,
        link: Link,
        parent: Lease | None,
        distance: int,
        redirects: int,
        score: float,
        reason: str,
        batch: Batch,
    ) -> LinkRow:
        """A new URL's row: waiting, or turned away for a reason."""
        assert number == self._next, f"link {number} out of turn, expected {self._next}"
        self._next += 1
        host = self._hosts.named(host_key(link.url))
        if not reason and self._max_distance is not None and distance > self._max_distance:
            reason = TOO_FAR
        if not reason and 0 < self._max_links_per_host <= host.links:
            reason = "host cap"
        if reason in (NOFOLLOW, NOT_WORTH):
            self._dormant.add(number)
        host.links += not reason
        batch.hosts[host.id] = host.row()
        state = State.EXCLUDED if reason else State.WAITING
        parent_id = parent.id if parent else None
        row = LinkRow(
            number, link.url, value, host.id, state, score, distance, redirects, 0, parent_id, link.anchor, reason, ""
        )
        batch.links.append(row)
        return row

    def _push(self, batch: Batch, links: Sequence[int], hosts: Sequence[int], scores: Sequence[float]) -> None:
        dropped = self._frontier.push_many(
            np.array(links, dtype=np.int64), np.array(hosts, dtype=np.int64), np.array(scores, dtype=np.float64)
        )
        self.drop(dropped, batch)

    def raise_to(self, links: NDArray[np.int64], score: float, batch: Batch) -> int:
        """These links, as far as they wait with a smaller score, get this one; how many."""
        scores = np.full(len(links), score)
        is_better = scores.astype(np.float32) > self._frontier.scores(links)
        self._raise(links, is_better, scores, batch)
        return int(is_better.sum())

    def revisit(self, pages: Sequence[tuple[int, int]], score: float, batch: Batch) -> None:
        """Pages that were fetched, (link, host) each, wait once more."""
        for link, _ in pages:
            batch.states.append(StateRow(State.WAITING, 0, REVISIT, "", link))
            batch.scores.append((score, link))
        self._push(batch, [link for link, _ in pages], [host for _, host in pages], [score] * len(pages))

    def drop(self, links: Iterable[int], batch: Batch) -> None:
        """The frontier's buffer had no room for these: dormant until they are found again."""
        for link in links:
            self._dormant.add(int(link))
            batch.states.append(StateRow(State.DROPPED, 0, "buffer full", "", int(link)))

    def _wake(self, number: int, url: str, score: float, batch: Batch) -> None:
        """A dormant link was found again: it waits. Nothing happens to any other."""
        if number not in self._dormant:
            return
        self._dormant.discard(number)
        batch.states.append(StateRow(State.WAITING, 0, "", "", number))
        batch.scores.append((score, number))
        self._push(batch, [number], [self._hosts.named(host_key(url)).id], [score])

    def _woken(
        self,
        page: Page,
        numbers: NDArray[np.int64],
        is_new: NDArray[np.bool_],
        scores: NDArray[np.float64],
        batch: Batch,
    ) -> tuple[list[int], list[int], list[float]]:
        """Dormant links that were found again and may be followed now: numbers, hosts and scores. They wait again."""
        ids: list[int] = []
        hosts: list[int] = []
        values: list[float] = []
        if not self._dormant:
            return ids, hosts, values
        for at, link in enumerate(page.links):
            number = int(numbers[at])
            if is_new[at] or number not in self._dormant or math.isnan(scores[at]) or not self._may_follow(page, link):
                continue
            ids.append(number)
            hosts.append(self._hosts.named(host_key(link.url)).id)
            values.append(float(scores[at]))
            self._dormant.discard(number)
            batch.states.append(StateRow(State.WAITING, 0, "", "", number))
            batch.scores.append((values[-1], number))
        return ids, hosts, values

    def _raise(
        self, targets: NDArray[np.int64], is_known: NDArray[np.bool_], scores: NDArray[np.float64], batch: Batch
    ) -> None:
        """Waiting links found on a better page move up."""
        # To the precision the frontier has. Links that do not wait have no score there: NaN, which nothing exceeds.
        better = is_known & (scores.astype(np.float32) > self._frontier.scores(targets))
        if better.any():
            self._frontier.rescore(targets[better], scores[better])
            batch.scores.extend(zip(scores[better].tolist(), targets[better].tolist(), strict=True))
