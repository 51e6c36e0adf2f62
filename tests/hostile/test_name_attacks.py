"""Names that take for ever to resolve: they keep neither other names nor other fetches waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from conftest import Rig
from lycosa.fetch.dns import MOST_SLOW, Resolver
from lycosa.frontier.schedule import UNRESOLVED_SLOTS
from lycosa.model import Fetched, Kind, Lease, Outcome


class Names:
    """Names that begin with `slow` are not answered before `answer` is set."""

    def __init__(self) -> None:
        self.answer = threading.Event()
        self.running = 0

    def __call__(self, host: str, port: int) -> list[str]:
        if host.startswith("slow"):
            self.running += 1
            self.answer.wait(60)
        return ["192.0.2.1"]


def test_slow_names_do_not_keep_others_waiting(monkeypatch):
    monkeypatch.setattr("lycosa.fetch.dns.SLOW", 0.05)
    names = Names()

    async def go() -> tuple[bool, int]:
        resolver = Resolver(look_up=names, max_threads=2, timeout=30.0)
        slow = [asyncio.create_task(resolver.resolve(f"slow-{number}.test", 80)) for number in range(20)]
        await asyncio.sleep(0)
        async with asyncio.timeout(20):
            found = await resolver.resolve("quick.test", 80)
        is_slow_waiting = not any(task.done() for task in slow)
        names.answer.set()
        await asyncio.gather(*slow)
        left = resolver._slow
        await resolver.close()
        return bool(found.addresses) and is_slow_waiting, left

    assert asyncio.run(go()) == (True, 0)


def test_there_is_an_end_to_slow_ones(monkeypatch):
    monkeypatch.setattr("lycosa.fetch.dns.SLOW", 0.001)
    names = Names()

    async def go() -> int:
        resolver = Resolver(look_up=names, max_threads=2, timeout=0.5)
        slow = [asyncio.create_task(resolver.resolve(f"slow-{number}.test", 80)) for number in range(100)]
        await asyncio.wait(slow, timeout=0.4)
        most = names.running
        names.answer.set()
        await asyncio.gather(*slow)
        await resolver.close()
        return most

    assert asyncio.run(go()) <= MOST_SLOW + 2


@pytest.mark.parametrize("is_counted", [True, False])
def test_a_fetch_that_waits_for_a_name_takes_no_place(rig: Callable[..., Rig], html, is_counted):
    """With two places, and four names that do not resolve before all else is done."""
    fair = {f"http://fair.test/{number}": html() for number in range(6)}
    slow = [f"http://slow-{number}.test/" for number in range(4)]
    made = rig({**fair, "http://fair.test/": html(*slow, *fair)})
    fetcher = made.fetcher

    class Waiting:
        awaited_names = 0
        asked = fetcher.asked

        async def fetch(self, lease: Lease) -> Fetched:
            if "slow" in lease.url:
                self.awaited_names += not is_counted
                for _ in range(2000):
                    if len(made.asked) == 7:
                        break
                    await asyncio.sleep(0.001)
                self.awaited_names -= not is_counted
            return await fetcher.fetch(lease)

    waiting = Waiting()
    made.fetcher = waiting  # type: ignore[assignment]
    made.awaited_names = lambda: waiting.awaited_names
    made.crawl("http://fair.test/", width=2, delay=0.0)
    first_slow = next(at for at, url in enumerate(made.asked) if "slow" in url)
    assert (first_slow == 7) is (not is_counted)


def test_names_that_do_not_exist_leave_room_for_hosts_that_are_known(rig: Callable[..., Rig], html):
    """A page that links to hundreds of names comes first; none of them resolves before the fair pages are there."""
    fair = {f"http://fair.test/{number}": html() for number in range(6)}
    names = [f"http://slow-{number}.test/" for number in range(400)]
    made = rig({**fair, "http://fair.test/": html(*fair), "http://trap.test/": html(*names)})
    fetcher = made.fetcher

    class Waiting:
        awaited_names = 0
        asked = fetcher.asked
        most = 0

        async def fetch(self, lease: Lease) -> Fetched:
            if "slow" in lease.url:
                self.awaited_names += 1
                self.most = max(self.most, self.awaited_names)
                for _ in range(5000):
                    if len(made.asked) >= 8:
                        break
                    await asyncio.sleep(0.001)
                self.awaited_names -= 1
                return Fetched(lease, Outcome(Kind.UNREACHABLE, "dns"))
            return await fetcher.fetch(lease)

    waiting = Waiting()
    made.fetcher = waiting  # type: ignore[assignment]
    made.awaited_names = lambda: waiting.awaited_names
    made.crawl("http://trap.test/", "http://fair.test/", width=8, delay=0.0)
    assert len(made.asked) == 8
    assert waiting.most == UNRESOLVED_SLOTS
