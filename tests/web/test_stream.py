"""Figures as they change, to everybody who watches; each crawl is looked at once, however many watch it."""

from __future__ import annotations

import asyncio
import json

from lycosa.web import server
from lycosa.web.crawls import House
from lycosa.web.server import Broadcast


async def figures_of(messages) -> dict[str, object]:
    """The next figures."""
    async for message in messages:
        for part in message.split("\n\n"):
            if part.startswith("event: figures"):
                return json.loads(part.partition("data: ")[2])
    raise AssertionError("it ended")


def test_everybody_hears_also_who_comes_late_to_a_crawl_that_rests(made, monkeypatch):
    monkeypatch.setattr(server, "UPDATE_EVERY", 0.01)

    async def go() -> None:
        house = House([made])
        (crawl,) = house.crawls()
        looks = []
        watch = house.watch(crawl)
        refresh = watch.refresh
        watch.refresh = lambda: (looks.append(1), refresh())[1]
        broadcast = Broadcast(house)
        first = broadcast.follow(crawl)
        assert (await figures_of(first))["pages"] == 24
        await asyncio.sleep(0.05)  # nothing changes any more
        late = [broadcast.follow(crawl) for _ in range(9)]
        heard = await asyncio.wait_for(asyncio.gather(*map(figures_of, late)), 5)
        assert [each["pages"] for each in heard] == [24] * 9
        assert broadcast.watchers == 10
        before = len(looks)
        await asyncio.sleep(0.3)
        assert 1 <= len(looks) - before <= 31  # one task, not ten
        for each in (first, *late):
            await each.aclose()
        assert broadcast.watchers == 0
        await asyncio.sleep(0.05)
        rested = len(looks)
        await asyncio.sleep(0.1)
        assert len(looks) == rested  # nobody watches, nobody looks

    asyncio.run(go())
