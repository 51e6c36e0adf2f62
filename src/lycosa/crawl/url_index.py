"""One number per URL the crawl has seen, and how a link found on a page enters the frontier.

Numbers count canonical URLs in order of discovery, without gaps. The index keeps 64-bit hashes only (`lib.hashindex`);
the URLs themselves are in the store.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.hosts import HostTable
from lycosa.crawl.link_rules import FoundLink, LinkRules, favour, joining, rising
from lycosa.fetch.urls import host_key, url_hash
from lycosa.frontier.frontier import Frontier
from lycosa.frontier.keys import FAVOURED, MOST_TRIES, UNTRIED
from lycosa.frontier.links import LinkState
from lycosa.lib.hashindex import HashIndex
from lycosa.lib.snapshot import Tree
from lycosa.model import Lease, Link, Page
from lycosa.store.protocol import Store
from lycosa.store.rows import (
    EXCLUDED_BY_PERSON,
    NOFOLLOW,
    NOT_WORTH,
    RAISED,
    RAISED_BY_PERSON,
    REVISIT,
    Batch,
    LinkRow,
    State,
    StateRow,
)


def no_pattern(_url: str) -> str:
    return ""


def _nowhere_else(_url: str) -> bool:
    return False


class UrlIndex:
    """Numbers for URLs, and the way from a page's links into the frontier."""

    def __init__(
        self,
        store: Store,
        *,
        frontier: Frontier,
        hosts: HostTable,
        rules: LinkRules,
        revisits: set[int],
        dormant: Iterable[int],
        known: Tree | None = None,
    ) -> None:
        """`revisits`: fetched pages that wait to be fetched again; others add to it. `dormant`: links that wait once
        they are found again. `known`: what `take` returned at an earlier time."""
        self.rules = rules
        self._revisits = revisits
        self._frontier = frontier
        self._hosts = hosts
        self._index = HashIndex() if known is None else HashIndex.loaded(known)
        self._index.add(*store.hashes(after=len(self._index)))
        self._next = store.count_links() + 1
        self.shut_out: Callable[[str], str] = no_pattern
        """The pattern by which a person has excluded a URL; empty if none has."""
        self.is_elsewhere: Callable[[str], bool] = _nowhere_else
        """Whether a URL belongs to another shard of the cluster."""
        self.raised: set[int] = set()
        """Links that a person has put before all others."""
        self._dormant = set(dormant)
        """Links that wait once they are found again and may be followed (`link_rules`)."""

    def take(self) -> Tree:
        """The numbers of all URLs, for a snapshot."""
        return self._index.take()

    def number(self, page: Page) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Numbers of the page's links, then of its rejected URLs; and which of them are new."""
        return self._index.find_or_add(np.frombuffer(page.link_hashes, dtype=np.int64), self._next)

    def find(self, url: str) -> int | None:
        """The number of a canonical URL; None if the crawl has not seen it."""
        number = int(self._index.find(np.array([url_hash(url)]))[0])
        return number if number > 0 else None

    def add_seed(self, url: str, score: float, batch: Batch) -> bool:
        """Whether it is new."""
        return self._add(url, None, FoundLink(0, 0, score), batch)

    def add_redirect(self, url: str, lease: Lease, target: FoundLink, batch: Batch) -> bool:
        """Whether the URL is new. `lease`: the link that redirects to it."""
        return self._add(url, lease, target, batch)

    def add_guess(self, url: str, lease: Lease, score_of: Callable[[int], float], batch: Batch) -> bool:
        """Queue a URL that nobody links to, if it is new. `lease`: the page from whose URL it was derived.

        `score_of` is told its number, and says what it is worth.
        """
        distance, host = lease.distance + 1, self._hosts.named(host_key(url))
        if (
            self.find(url) is not None
            or self.shut_out(url)
            or self.rules.why_not(distance=distance, links_of_host=host.links)
        ):
            return False
        return self._add(url, lease, FoundLink(distance, 0, score_of(self._next)), batch)

    def add_found(self, url: str, score: float, batch: Batch) -> tuple[int, bool]:
        """Queue a URL that a search found, or move it up if it waits; its number, and whether it is new.

        It is one step away from what was given, like a link on a seed.
        """
        is_new = self._add(url, None, FoundLink(1, 0, score), batch)
        number = self.find(url)
        assert number is not None
        if not is_new:
            self._raise(np.array([number]), np.array([True]), np.array([score]), batch)
        return number, is_new

    def add_foreign(self, url: str, distance: int, batch: Batch) -> int:
        """The number of a page that another shard has fetched."""
        self._add(url, None, FoundLink(distance, 0, 0.0), batch)
        number = self.find(url)
        assert number is not None
        return number

    def add_sent(self, url: str, target: FoundLink, batch: Batch) -> None:
        """Queue a link that another shard has found."""
        self._add(url, None, target, batch)

    def _add(self, url: str, parent: Lease | None, target: FoundLink, batch: Batch) -> bool:
        value = url_hash(url)
        number, is_new = self._index.find_or_add_one(value, self._next)
        if not is_new:
            if not target.reason and number in self._dormant and not self.shut_out(url):
                self._wake(number, target.score, batch)
                self._push(batch, [number], [self._hosts.named(host_key(url)).id], [target.score])
            return False
        row = self._row(number, value, Link(url), parent, target, batch)
        batch.hosts[row.host_id] = self._hosts[row.host_id].row()
        if row.state == State.WAITING:
            self._push(batch, [row.id], [row.host_id], [target.score])
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
        count = len(page.links)
        ids, hosts, values = self._woken(page, numbers[:count], is_new[:count], scores, batch)
        met: set[int] = set()
        for at in np.flatnonzero(is_new).tolist():
            if at < count:
                link, score = page.links[at], float(scores[at])
                reason = "" if self._may_follow(page, link) else NOFOLLOW
                if math.isnan(score):
                    score, reason = 0.0, reason or NOT_WORTH
            else:
                url, reason = rejected[at - count]
                link, score = Link(url), 0.0
            target = FoundLink(lease.distance + 1, 0, score, reason)
            row = self._row(int(numbers[at]), int(hashes[at]), link, lease, target, batch)
            met.add(row.host_id)
            if row.state == State.WAITING:
                ids.append(row.id)
                hosts.append(row.host_id)
                values.append(score)
        for host in met:
            batch.hosts[host] = self._hosts[host].row()
        if ids:
            self._push(batch, ids, hosts, values)
        self._raise(numbers[:count], ~is_new[:count], scores, batch)

    def _may_follow(self, page: Page, link: Link) -> bool:
        return self.rules.follow_nofollow or not (page.is_nofollow or NOFOLLOW in link.rel)

    def _row(
        self, number: int, value: int, link: Link, parent: Lease | None, found: FoundLink, batch: Batch
    ) -> LinkRow:
        """The row of a new URL, which waits or is turned away for a reason. The row of its host is the caller's to
        write: once for all links of a page."""
        assert number == self._next, f"link {number} out of turn, expected {self._next}"
        self._next += 1
        host = self._hosts.named(host_key(link.url))
        if self.is_elsewhere(link.url):
            batch.hosts[host.id] = host.row()
            row = LinkRow(
                number,
                link.url,
                value,
                host.id,
                State.ELSEWHERE,
                found.score,
                found.distance,
                found.redirects,
                0,
                parent.id if parent else None,
                link.anchor,
                found.reason,
                "",
            )
            batch.links.append(row)
            return row
        pattern = self.shut_out(link.url)
        reason = found.reason or (EXCLUDED_BY_PERSON if pattern else "")
        reason = reason or self.rules.why_not(distance=found.distance, links_of_host=host.links)
        if reason in (NOFOLLOW, NOT_WORTH):
            self._dormant.add(number)
        host.links += not reason
        row = LinkRow(
            number,
            link.url,
            value,
            host.id,
            State.EXCLUDED if reason else State.WAITING,
            found.score,
            found.distance,
            found.redirects,
            0,
            parent.id if parent else None,
            link.anchor,
            reason,
            pattern if reason == EXCLUDED_BY_PERSON else "",
        )
        batch.links.append(row)
        return row

    def _push(self, batch: Batch, links: Sequence[int], hosts: Sequence[int], scores: Sequence[float]) -> None:
        dropped = self._frontier.push_many(
            np.array(links, dtype=np.int64), np.array(hosts, dtype=np.int64), np.array(scores, dtype=np.float64)
        )
        self.drop(dropped, batch)

    def favour(self, hubs: Mapping[int, int], batch: Batch) -> int:
        """Of these links, each with the number of hubs that cite it, put those first that wait; return how many are new
        there. Links that were put first before, and are not among these, wait again for their own turn."""
        found = favour(self._frontier, list(hubs), kept=self._revisits | self.raised)
        for link in found.first.tolist():
            count = hubs[link]
            batch.states.append(StateRow(State.WAITING, 0, RAISED, f"{count} hub{'s' * (count > 1)}", link))
        batch.states.extend(StateRow(State.WAITING, 0, "", "", link) for link in found.last.tolist())
        return found.added

    def revisit(self, pages: Sequence[LinkRow], batch: Batch) -> None:
        """Queue fetched pages once more, before all others."""
        batch.states.extend(StateRow(State.WAITING, 0, REVISIT, "", page.id) for page in pages)
        self._revisits.update(page.id for page in pages)
        self._frontier.set_tiers(np.array([page.id for page in pages], dtype=np.int64), FAVOURED)
        columns = ([page.id for page in pages], [page.host_id for page in pages], [page.score for page in pages])
        self._push(batch, *columns)

    def put_first(self, links: Iterable[int], batch: Batch, *, detail: str, reason: str = RAISED_BY_PERSON) -> int:
        """Put waiting links before all others, as a person asks; return how many wait and were never tried."""
        frontier = self._frontier
        first = np.array([link for link in links if frontier.state_of(link) is LinkState.WAITING], dtype=np.int64)
        first = first[~frontier.is_tried(first)]
        frontier.set_tiers(first, FAVOURED)
        if reason == RAISED_BY_PERSON:
            self.raised.update(first.tolist())
        batch.states.extend(StateRow(State.WAITING, 0, reason, detail, link) for link in first.tolist())
        return len(first)

    def put_back(self, links: Iterable[int], batch: Batch) -> int:
        """Links that a person had put first wait for their own turn again; return how many still wait."""
        waiting = [link for link in links if self._frontier.state_of(link) is LinkState.WAITING]
        self._frontier.set_tiers(np.array(waiting, dtype=np.int64), UNTRIED)
        self.raised.difference_update(waiting)
        batch.states.extend(StateRow(State.WAITING, 0, "", "", link) for link in waiting)
        return len(waiting)

    def take_out(self, links: Iterable[int], batch: Batch, *, state: str, reason: str, detail: str) -> int:
        """Waiting links leave the frontier, as a person asks; return how many did. Dropped ones are dormant."""
        count = 0
        for link in links:
            tries = self._frontier.tier_of(link)
            if not self._frontier.drop(link, forget=state == State.DROPPED):
                continue
            count += 1
            tries = 0 if tries == FAVOURED else tries
            if link in self._revisits:  # it has been fetched, and stays so
                self._revisits.discard(link)
                batch.states.append(StateRow(State.DONE, 0, reason, detail, link))
                continue
            if state == State.DROPPED:
                self._dormant.add(link)
            batch.states.append(StateRow(state, tries, reason, detail, link))
        return count

    def take_in(self, links: Iterable[LinkRow], batch: Batch) -> int:
        """Links that a person had taken out wait again with the scores they had; return how many."""
        rows = [row for row in links if row.state in (State.EXCLUDED, State.DROPPED) and not self.shut_out(row.url)]
        for row in rows:
            self._dormant.discard(row.id)
            batch.states.append(StateRow(State.WAITING, row.tries, "", "", row.id))
        self._push(batch, [row.id for row in rows], [row.host_id for row in rows], [row.score for row in rows])
        for row in rows:
            if row.tries:
                self._frontier.set_tiers(np.array([row.id]), min(row.tries, MOST_TRIES))
        return len(rows)

    def queue_again(self, links: Sequence[tuple[int, int]], score: float, batch: Batch) -> None:
        """Queue links that failed, (link, host) each, as if they had not been tried."""
        for link, _ in links:
            batch.states.append(StateRow(State.WAITING, 0, "", "", link))
            batch.scores.append((score, link))
        if links:
            self._push(batch, [link for link, _ in links], [host for _, host in links], [score] * len(links))

    def drop(self, links: Iterable[int], batch: Batch) -> None:
        """The frontier's buffer had no room for these: dormant until they are found again."""
        for link in links:
            if link in self._revisits:  # it has been fetched, and need not be again
                self._revisits.discard(link)
                batch.states.append(StateRow(State.DONE, 0, "buffer full", "", int(link)))
                continue
            self._dormant.add(int(link))
            batch.states.append(StateRow(State.DROPPED, self._frontier.tier_of(link), "buffer full", "", int(link)))

    def _wake(self, number: int, score: float, batch: Batch) -> None:
        """A dormant link waits again; the caller pushes it."""
        self._dormant.discard(number)
        batch.states.append(StateRow(State.WAITING, self._frontier.tier_of(number), "", "", number))
        batch.scores.append((score, number))

    def _woken(
        self,
        page: Page,
        numbers: NDArray[np.int64],
        is_new: NDArray[np.bool_],
        scores: NDArray[np.float64],
        batch: Batch,
    ) -> tuple[list[int], list[int], list[float]]:
        """Numbers, hosts and scores of the dormant links on the page that may be followed now."""
        ids: list[int] = []
        hosts: list[int] = []
        values: list[float] = []
        if not self._dormant:
            return ids, hosts, values
        may_follow = np.fromiter((self._may_follow(page, link) for link in page.links), np.bool_, len(page.links))
        for at in np.flatnonzero(joining(self._frontier, numbers, scores, may_follow) & ~is_new).tolist():
            number = int(numbers[at])
            if number in self._dormant and not self.shut_out(
                page.links[at].url
            ):  # not so if it was turned away for good
                ids.append(number)
                hosts.append(self._hosts.named(host_key(page.links[at].url)).id)
                values.append(float(scores[at]))
                self._wake(number, values[-1], batch)
        return ids, hosts, values

    def _raise(
        self, links: NDArray[np.int64], is_meant: NDArray[np.bool_], scores: NDArray[np.float64], batch: Batch
    ) -> None:
        """Waiting links found on a better page move up."""
        better = is_meant & rising(self._frontier, links, scores)
        if better.any():
            self._frontier.rescore(links[better], scores[better])
            batch.scores.extend(zip(scores[better].tolist(), links[better].tolist(), strict=True))
