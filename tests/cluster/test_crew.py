"""Crawlers come and go: shards move to those that are there, no other shard is touched, and each runs once."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from fake_ray import FakeRay

pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'lycosa[postgres]'")
from lycosa.cluster import crew
from lycosa.cluster.crawler import CrawlerTask
from lycosa.cluster.crew import SETTLE, Crew
from lycosa.errors import LycosaError, StoreError

SHARDS = 6


class Orders:
    """The part of the store that a crew speaks to; shards listen to it."""

    def __init__(self) -> None:
        self.leaving = {shard: threading.Event() for shard in range(SHARDS)}
        self.moved: list[int] = []
        self.stopped = ""

    def leave(self, shard: int) -> None:
        self.moved.append(shard)
        self.leaving[shard].set()

    def stay(self, shard: int) -> None:
        self.leaving[shard].clear()

    def stop(self, reason: str) -> None:
        self.stopped = reason
        for each in self.leaving.values():
            each.set()


class House:
    """A crew whose shards wait until they are asked to leave, or fail as they are told to."""

    def __init__(self, monkeypatch, *, crawlers: int, places: int | None) -> None:
        self.ray, self.store, self.now = FakeRay(places), Orders(), 0.0
        self.begun: list[int] = []
        self.faults: dict[int, list[BaseException]] = {}
        self.events: list[str] = []
        self.pages = 0
        monkeypatch.setattr(crew, "run_shard", self.run_shard)
        monkeypatch.setattr(crew, "TICK", 0.02)
        task = CrawlerTask("", "", SHARDS, "")
        self.crew = Crew(self.ray, self.store, task, crawlers=crawlers, tell=self.event, now=lambda: self.now)
        self.crew.begin()

    def run_shard(self, task: CrawlerTask, shard: int) -> str:
        self.begun.append(shard)
        if self.faults.get(shard):
            raise self.faults[shard].pop()
        self.store.leaving[shard].wait(20)
        return "left"

    def event(self, kind: str, message: str) -> None:
        self.events.append(f"{kind}: {message}")

    def look(self, until=lambda: True, *, seconds: float = 0.0) -> None:
        """Look until something is so, `seconds` later by the crew's clock."""
        self.now += seconds
        for _ in range(500):
            self.crew.look(pages=self.pages, is_ending=False)
            if until() or self.crew.error:
                return
        raise AssertionError(f"it never came to this; begun: {self.begun}, {self.events}")

    @property
    def homes(self) -> dict[int, int]:
        return dict(self.crew._homes)

    @property
    def shares(self) -> list[int]:
        return sorted(Counter(self.homes.values()).values())


@pytest.fixture
def house(monkeypatch):
    made: list[House] = []

    def make(*, crawlers: int, places: int | None = None) -> House:
        made.append(House(monkeypatch, crawlers=crawlers, places=places))
        return made[-1]

    yield make
    for each in made:
        each.store.stop("the test is over")


def test_all_that_may_come_have_come(house):
    found = house(crawlers=3)
    found.look(lambda: len(found.homes) == SHARDS)
    assert found.shares == [2, 2, 2]
    assert sorted(found.begun) == list(range(SHARDS))
    assert found.crew.crawlers == 3


def test_those_without_a_place_are_waited_for_only_a_while(house):
    found = house(crawlers=3, places=2)
    found.look(lambda: len(found.crew._here) == 2)
    found.look()
    assert not found.homes
    found.look(lambda: len(found.homes) == SHARDS, seconds=SETTLE)
    assert found.shares == [3, 3]


def test_a_node_that_joins_gets_shards_of_others(house):
    found = house(crawlers=3, places=2)
    found.look(lambda: len(found.crew._here) == 2)
    found.look(lambda: len(found.homes) == SHARDS, seconds=SETTLE)
    before = found.homes
    found.ray.join(1)
    found.look(lambda: found.shares == [2, 2, 2])
    moved = [shard for shard in range(SHARDS) if found.homes[shard] != before[shard]]
    assert len(moved) == 2
    assert sorted(found.store.moved) == sorted(moved)
    found.look(lambda: len(found.begun) == SHARDS + 2)
    assert Counter(found.begun) == Counter([*range(SHARDS), *moved])
    assert not any(each.is_set() for each in found.store.leaving.values())


def test_shards_of_a_lost_node_go_to_others(house):
    found = house(crawlers=3)
    found.look(lambda: len(found.homes) == SHARDS)
    before, lost = found.homes, found.crew._actors[1]
    found.ray.free = 0
    found.ray.lose(lost)
    found.look(lambda: len(found.homes) == 4)
    found.look()
    assert len(found.homes) == 4  # another may come in its place
    found.look(lambda: len(found.homes) == SHARDS, seconds=SETTLE)
    assert all(found.homes[shard] == home for shard, home in before.items() if home != 1)
    assert found.shares == [3, 3]
    assert found.store.moved == []
    assert sum("crawler 1 died, and is replaced: the node is lost" in each for each in found.events) == 1


def test_one_that_is_replaced_at_once_gets_its_shards_back(house):
    found = house(crawlers=3)
    found.look(lambda: len(found.homes) == SHARDS)
    before = found.homes
    found.ray.lose(found.crew._actors[1])
    found.look(lambda: len(found.homes) < SHARDS)
    found.look(lambda: len(found.homes) == SHARDS)
    assert found.homes == before
    assert found.store.moved == []


def test_no_place_at_all_is_said(house):
    found = house(crawlers=2, places=0)
    found.look()
    assert not found.events
    found.look(seconds=SETTLE)
    assert found.events == [each for each in found.events if "no crawler has found a place" in each] != []
    found.ray.join(2)
    found.look(lambda: len(found.homes) == SHARDS)


def test_a_shard_that_fails_begins_again_and_no_other_does(house):
    found = house(crawlers=2)
    found.faults[4] = [MemoryError("no room")]
    found.look(lambda: len(found.begun) == SHARDS + 1)
    assert Counter(found.begun)[4] == 2
    assert any("shard 4 has failed, and begins again: MemoryError: no room" in each for each in found.events)


def test_a_shard_that_always_fails_ends_the_crawl(house):
    found = house(crawlers=2)
    found.faults[4] = [MemoryError("no room") for _ in range(crew.MOST_DEATHS + 1)]
    found.look(lambda: False)
    assert isinstance(found.crew.error, LycosaError)
    assert f"shard 4 has died {crew.MOST_DEATHS + 1} times in a row" in str(found.crew.error)
    assert "shard 4 has died" in found.store.stopped


def test_an_error_that_says_what_is_wrong_ends_the_crawl(house):
    found = house(crawlers=2)
    found.faults[2] = [StoreError("the disk of the server is full")]
    found.look(lambda: False)
    assert str(found.crew.error) == "the disk of the server is full"
    assert "the disk of the server is full" in found.store.stopped
