"""What the crawl knows about each host: its record, its clock, and why it was set aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lycosa.fetch.fetcher import ROBOTS_UNREACHABLE
from lycosa.fetch.politeness import Politeness, is_host_failure
from lycosa.frontier.frontier import Frontier
from lycosa.frontier.schedule import UNRESOLVED
from lycosa.model import Fetched, Visit
from lycosa.store.rows import TRAP, Batch, HostRow


@dataclass(slots=True)
class Host:
    """One host's record. `failures` counts those in a row, `failed` all of them."""

    id: int
    name: str
    address: str = ""
    ready_at: float = 0.0
    crawl_delay: float = 0.0
    failures: int = 0
    pages: int = 0
    relevant: int = 0
    failed: int = 0
    links: int = 0
    set_aside: str = ""

    def row(self) -> HostRow:
        return HostRow(
            self.id,
            self.name,
            self.address,
            self.ready_at,
            self.crawl_delay,
            self.failures,
            self.pages,
            self.relevant,
            self.failed,
            self.links,
            self.set_aside,
        )


class HostTable:
    """All hosts, by name and by number. Numbers start at 1 and have no gaps."""

    def __init__(
        self, rows: Iterable[HostRow], *, politeness: Politeness, frontier: Frontier, keeps_traps: bool = True
    ) -> None:
        """`keeps_traps`: hosts that were set aside as traps stay so."""
        self._hosts = [Host(*row) for row in sorted(rows)]
        self._ids = {host.name: host.id for host in self._hosts}
        self._politeness = politeness
        self._frontier = frontier
        self._keeps_traps = keeps_traps

    def __len__(self) -> int:
        return len(self._hosts)

    def __iter__(self) -> Iterator[Host]:
        return iter(self._hosts)

    def __getitem__(self, number: int) -> Host:
        return self._hosts[number - 1]

    def named(self, name: str) -> Host:
        """The host of that name, created if it is new."""
        number = self._ids.get(name)
        if number is not None:
            return self._hosts[number - 1]
        host = Host(len(self._hosts) + 1, name)
        self._hosts.append(host)
        self._ids[name] = host.id
        self._frontier.set_address(host.id, UNRESOLVED)
        return host

    def address_of(self, number: int) -> str:
        return self._hosts[number - 1].address

    def restore_clocks(self, addresses: dict[str, float], *, rest_from: float | None) -> None:
        """Set the frontier's clocks as the store has them.

        With `rest_from` (after a kill) every host rests once more in full from then on: what was under way when
        the process died is not on record, so any host may have been asked just before.
        """
        ready = dict(addresses)
        for host in self._hosts:
            if rest_from is not None and host.address:
                rested = rest_from + self._politeness.pause(seconds=0, crawl_delay=host.crawl_delay)
                host.ready_at = max(host.ready_at, rested)
                ready[host.address] = max(ready.get(host.address, 0.0), rested)
            self._frontier.set_address(host.id, host.address or UNRESOLVED)
            self._frontier.cool(host.id, host.ready_at)
            if host.set_aside:
                self._frontier.set_aside(host.id)
        for address, ready_at in ready.items():
            self._frontier.cool_address(address, ready_at)

    def readmit(self, batch: Batch, *, now: float) -> list[str]:
        """Let hosts take part again that were set aside long enough ago, or by a rule that has changed; their names."""
        names = []
        for host in self._hosts:
            if (
                host.set_aside
                and not self._is_trap(host)
                and self._politeness.may_readmit(
                    crawl_delay=host.crawl_delay, failures=host.failures, rested=now - host.ready_at, pages=host.pages
                )
            ):
                host.set_aside = ""
                host.failures = min(host.failures, self._politeness.max_failures - 1)  # the next failure counts
                self._frontier.readmit(host.id)
                batch.hosts[host.id] = host.row()
                names.append(host.name)
        return names

    def _is_trap(self, host: Host) -> bool:
        return self._keeps_traps and host.set_aside.startswith(TRAP)

    def set_aside(self, host: Host, why: str, batch: Batch) -> None:
        host.set_aside = why
        self._frontier.set_aside(host.id)
        batch.hosts[host.id] = host.row()

    def rest_longer(self, host: Host, seconds: float) -> None:
        host.ready_at += seconds
        self._frontier.cool(host.id, host.ready_at)

    def ask_again(self, number: int, batch: Batch, *, now: float) -> None:
        """Forget that a host has failed: it rests no longer than after any request."""
        host = self._hosts[number - 1]
        host.failures = 0
        host.ready_at = min(host.ready_at, now + self._politeness.pause(seconds=0, crawl_delay=host.crawl_delay))
        self._frontier.cool(host.id, host.ready_at)
        may_ask = self._politeness.may_readmit(crawl_delay=host.crawl_delay, failures=0, rested=0, pages=host.pages)
        if host.set_aside and may_ask and not self._is_trap(host):
            host.set_aside = ""
            self._frontier.readmit(host.id)
        batch.hosts[host.id] = host.row()

    def meet(self, host: Host, fetched: Fetched) -> None:
        """The host was found at an address; if a fetcher does not tell which, it has one nevertheless."""
        address = fetched.address
        if address and address != host.address:
            host.address = address
            self._frontier.set_address(host.id, address)
        elif fetched.is_contact and not host.address:
            self._frontier.set_address(host.id, "")

    def keep_clock(self, host: Host, visit: Visit, batch: Batch, *, now: float) -> str:
        """When this host and its address may be asked again; the reason if the host is now set aside."""
        fetched, outcome = visit.fetched, visit.outcome
        is_failure = is_host_failure(outcome) or outcome.reason == ROBOTS_UNREACHABLE
        if is_failure:
            host.failures += 1
            host.failed += 1
        elif fetched.is_contact:
            host.failures = 0
        if fetched.is_contact or is_failure:
            ended = fetched.ended or now
            host.ready_at = ended + self._politeness.pause(
                seconds=fetched.seconds,
                crawl_delay=host.crawl_delay,
                retry_after=outcome.retry_after,
                failures=host.failures,
            )
            self._frontier.cool(host.id, host.ready_at)
            if host.address and fetched.is_contact:
                rest = ended + self._politeness.pause(seconds=fetched.seconds, crawl_delay=host.crawl_delay)
                batch.addresses[host.address] = max(rest, batch.addresses.get(host.address, 0.0))
                self._frontier.cool_address(host.address, batch.addresses[host.address])
        if host.set_aside:
            return ""
        pages = host.pages + (visit.page is not None)  # this one is not counted yet
        host.set_aside = self._politeness.why_set_aside(
            outcome, crawl_delay=host.crawl_delay, failures=host.failures, pages=pages
        )
        if host.set_aside:
            self._frontier.set_aside(host.id)
        return host.set_aside
