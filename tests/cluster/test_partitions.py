"""The partition function is pure and fixed; partitions and shards are dealt out evenly, and few change hands."""

from __future__ import annotations

from collections import Counter

import pytest

from lycosa.cluster.partitions import PARTITIONS, dealt, partition_of, shard_by_host, shards_of_crawlers


def test_the_partition_of_a_host_never_changes():
    """A crawl that is begun relies on these very numbers."""
    found = {host: partition_of(host) for host in ("example.org", "lycosa.test", "bbc.co.uk", "127.0.0.1", "[::1]")}
    assert found == {"example.org": 437, "lycosa.test": 573, "bbc.co.uk": 884, "127.0.0.1": 652, "[::1]": 94}


@pytest.mark.parametrize("host", ["www.example.co.uk", "example.co.uk:8080", "a.b.example.co.uk"])
def test_hosts_of_a_domain_are_in_its_partition(host):
    assert partition_of(host) == partition_of("example.co.uk")
    assert shard_by_host(7)(host) == shard_by_host(7)("example.co.uk")


def test_different_owners_of_a_public_suffix_are_apart():
    assert len({partition_of(f"{name}.github.io") for name in ("anna", "bert", "carla", "dora")}) > 1


def test_hosts_are_spread():
    found = Counter(partition_of(f"site-{number}.test") for number in range(PARTITIONS * 50))
    assert len(found) == PARTITIONS
    assert max(found.values()) < 100


@pytest.mark.parametrize("owners", [1, 2, 3, 4, 10, 100, 300])
def test_everybody_has_a_fair_share(owners):
    found = Counter(dealt(PARTITIONS, owners, what="partition"))
    assert len(found) == owners
    assert max(found.values()) - min(found.values()) <= 1
    assert sum(found.values()) == PARTITIONS


@pytest.mark.parametrize(("before", "after"), [(2, 3), (4, 5), (8, 7), (16, 20)])
def test_few_change_hands(before, after):
    """At best, those that newcomers take over; here at most a tenth of all in addition."""
    old, new = dealt(PARTITIONS, before, what="partition"), dealt(PARTITIONS, after, what="partition")
    moved = sum(first != second for first, second in zip(old, new, strict=True))
    needed = PARTITIONS * abs(after - before) / max(before, after)
    assert moved <= needed + PARTITIONS / 10


class TestShardsOfCrawlers:
    def test_each_has_a_fair_share(self):
        found = shards_of_crawlers(7, [0, 1, 5], {})
        assert sorted(found) == list(range(7))
        assert sorted(Counter(found.values()).values()) == [2, 2, 3]

    @pytest.mark.parametrize(("before", "after", "moves"), [(range(4), range(5), 3), (range(5), [0, 1, 3, 4], 3)])
    def test_only_those_move_that_have_to(self, before, after, moves):
        """Of sixteen shards: those that a newcomer needs, or those of a crawler that is no more."""
        old = shards_of_crawlers(16, list(before), {})
        new = shards_of_crawlers(16, list(after), old)
        assert sum(old[shard] != new[shard] for shard in range(16)) <= moves + 1
        assert max(Counter(new.values()).values()) - min(Counter(new.values()).values()) <= 1

    def test_nobody_moves_if_nothing_changes(self):
        old = shards_of_crawlers(13, [2, 3, 7], {})
        assert shards_of_crawlers(13, [2, 3, 7], old) == old

    def test_the_rest_stays_while_some_are_on_their_way(self):
        """Asked again when one of those that move has ended where it was, the others' places are the same."""
        old = dict.fromkeys(range(6), 0)
        new = shards_of_crawlers(6, [0, 1], old)
        moving = [shard for shard in range(6) if new[shard] == 1]
        left = {shard: crawler for shard, crawler in old.items() if shard != moving[0]}
        assert shards_of_crawlers(6, [0, 1], left) == new
