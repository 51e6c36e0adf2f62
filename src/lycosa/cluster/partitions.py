"""Who fetches what: 1,024 fixed partitions of the web by registrable domain, dealt out to shards, and shards to
crawlers.

The partition of a host is a pure function of its name and never changes. A host is in the partition of its domain, so
that whatever is known of a site (its clocks, robots.txt, traps) is known in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from lycosa.fetch.registrable import registrable_domain
from lycosa.fetch.urls import host_key, parse_seed
from lycosa.workspace import Workspace

PARTITIONS = 1_024
HOSTS_REMEMBERED = 1 << 16


def partition_of(host: str) -> int:
    """The partition, from 0, of a host: `www.example.org`, `example.org:8080`."""
    return _hash(registrable_domain(host)) % PARTITIONS


def dealt(items: int, owners: int, *, what: str) -> list[int]:
    """The owner of each item: all have the same number, or one more; and few change hands with `owners`.

    Rendezvous hashing with bounded loads: an item goes to the owner that it prefers by hash, and that has room. `what`
    names the items, so that two kinds of them are dealt out differently.
    """
    share, extra = divmod(items, owners)
    has = [0] * owners
    found = []
    for item in range(items):
        wishes = sorted(range(owners), key=lambda owner: _hash(f"{what} {item} {owner}"))
        owner = next(owner for owner in wishes if has[owner] < share or (extra and has[owner] == share))
        extra -= has[owner] == share
        has[owner] += 1
        found.append(owner)
    return found


def shards_of_partitions(shards: int) -> list[int]:
    """The shard of each partition."""
    return dealt(PARTITIONS, shards, what="partition")


def shard_by_host(shards: int) -> Callable[[str], int]:
    """A function that says to which shard a host belongs."""
    owners = shards_of_partitions(shards)

    @lru_cache(maxsize=HOSTS_REMEMBERED)
    def shard_of(host: str) -> int:
        return owners[partition_of(host)]

    return shard_of


def shards_of_crawlers(shards: int, crawlers: Sequence[int], now: Mapping[int, int]) -> dict[int, int]:
    """The crawler of each shard, of those that there are: all have the same number of shards, or one more.

    `now`: the crawler of each shard that is running. Only so many leave theirs as have to: because it is no more, or
    has too many. They go where they would like to be by hash, and there is room.
    """
    share, extra = divmod(shards, len(crawlers))
    found: dict[int, int] = {}
    has = dict.fromkeys(crawlers, 0)

    def has_room(crawler: int) -> bool:
        return has[crawler] < share or (extra > 0 and has[crawler] == share)

    for shard in sorted(now, key=lambda shard: _hash(f"shard {shard} {now[shard]}")):
        if now[shard] in has and has_room(now[shard]):
            extra -= has[now[shard]] == share
            has[now[shard]] += 1
            found[shard] = now[shard]
    for shard in range(shards):
        if shard not in found:
            wishes = sorted(crawlers, key=lambda crawler: _hash(f"shard {shard} {crawler}"))
            chosen = next(filter(has_room, wishes))
            extra -= has[chosen] == share
            has[chosen] += 1
            found[shard] = chosen
    return found


def shard_of_url(directory: Path, url: str) -> Path:
    """The directory of the shard to which a URL belongs; that of a crawl by one process as it is."""
    workspace = Workspace(directory)
    if not workspace.has_shards:
        return directory
    count = sum(each.is_dir() for each in workspace.shards.iterdir())
    return workspace.shards / f"{shard_by_host(count)(host_key(parse_seed(url))):04d}"


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
