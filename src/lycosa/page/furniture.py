"""What is known of the furniture of each host: how many of its latest pages had which blocks.

A block is furniture if it stood on more than a third of the pages that its host has shown lately, by two pages or more:
on all of the first three, on 12 of 30. Texts that belong to one page rarely make the same block on another, however
often their words recur.

The memory is bounded, whatever the web sends:

- A page tells of at most 1,024 blocks (`own_text.MAX_HASHES`).
- A host is known by its latest pages, 64 to 128 of them: at 128 all counts are halved, and what stood on a single page
  is forgotten. A host that turns to another section thus has other furniture after some forty pages.
- A host has at most 2,048 blocks; where more would be needed, the rarest are forgotten, and those of the newest page
  kept.
- There are at most 10,000 hosts, and half a million blocks of 8 bytes each on all of them. Beyond that, hosts are
  forgotten, first the one whose latest page was longest ago.

A page that has only blocks its host has shown before is not counted: it is a copy, or an error message.
"""

from __future__ import annotations

import struct
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib import native

SHARE = 1 / 3
"""Share of a host's pages on which a block must have stood to be furniture,"""
MORE_PAGES = 2
"""plus this number of pages."""
WINDOW = 128
"""Number of pages at which the counts of a host are halved."""
MAX_BLOCKS = 2_048
"""Maximum number of blocks of a host."""
MAX_BLOCKS_IN_ALL = 500_000
MAX_HOSTS = 10_000
_NUMBER = np.dtype("u4")
_IS_LITTLE = sys.byteorder == "little"
_FORMAT = 1
_ENTRY = struct.Struct("<qI")
"""A page in the journal: its host, and the length of the hashes that follow."""


class _Host(NamedTuple):
    """What is known of a host. Never changed, only replaced."""

    pages: int
    hashes: NDArray[np.uint32]
    """In ascending order."""
    counts: NDArray[np.uint32]
    """Number of pages on which each block stood."""


_compiled: Any = native.load("lycosa.page._furniture")
_NEW_HOST = _Host(0, np.zeros(0, _NUMBER), np.zeros(0, _NUMBER))


class Furniture:
    """The blocks of each host, by its number. Hashes of blocks come and go as in `own_text.block_hashes`."""

    def __init__(
        self, *, window: int = WINDOW, max_blocks_in_all: int = MAX_BLOCKS_IN_ALL, max_hosts: int = MAX_HOSTS
    ) -> None:
        self._window = window
        self._max_blocks_in_all = max_blocks_in_all
        self._max_hosts = max_hosts
        self._hosts: dict[int, _Host] = {}
        """The one with the latest page last."""
        self.blocks = 0
        """Number of blocks of all hosts."""
        self._journal: list[bytes] = []

    def __len__(self) -> int:
        """Number of hosts."""
        return len(self._hosts)

    def add(self, host: int, blocks: bytes) -> None:
        """Count a page of a host, given the hashes of its blocks."""
        if not blocks:
            return
        shown = np.frombuffer(blocks, _NUMBER)
        self._journal.append(_ENTRY.pack(host, len(blocks)) + (blocks if _IS_LITTLE else shown.astype("<u4").tobytes()))
        known = self._hosts.pop(host, _NEW_HOST)
        self.blocks -= len(known.hashes)
        known = _counted(known, shown)
        if known.pages >= self._window:
            known = _kept(_Host(known.pages // 2, known.hashes, known.counts // 2), least=1)
        self._hosts[host] = known
        self.blocks += len(known.hashes)
        while self.blocks > self._max_blocks_in_all or len(self) > self._max_hosts:
            self.blocks -= len(self._hosts.pop(next(iter(self._hosts))).hashes)

    def of(self, host: int) -> bytes:
        """The hashes of the blocks that are furniture on a host, in ascending order."""
        known = self._hosts.get(host, _NEW_HOST)
        return known.hashes[known.counts >= MORE_PAGES + SHARE * known.pages].tobytes()

    @property
    def journal(self) -> bytes:
        """The pages added since it was last saved."""
        return b"".join(self._journal)

    def save(self) -> bytes:
        """All of it as bytes, the same on all machines; a new journal begins."""
        self._journal.clear()
        hosts = self._hosts.values()
        heads = [(host, known.pages, len(known.hashes)) for host, known in self._hosts.items()]
        columns = [known.hashes for known in hosts] + [known.counts for known in hosts]
        head = np.array([(_FORMAT, len(heads), 0), *heads], "<i8")
        return b"".join([head.tobytes(), *(column.astype("<u4").tobytes() for column in columns)])

    @classmethod
    def restored(cls, saved: bytes | None, journal: bytes | None = None) -> Furniture:
        """What was saved, and what has come since; nothing is known of what a version saved that counted otherwise."""
        furniture = cls()
        if saved and int(np.frombuffer(saved, "<i8", 1)[0]) == _FORMAT:
            furniture._load(saved)
        at, journal = 0, journal or b""
        while at < len(journal):
            host, size = _ENTRY.unpack_from(journal, at)
            at += _ENTRY.size
            furniture.add(host, np.frombuffer(journal[at : at + size], "<u4").astype(_NUMBER).tobytes())
            at += size
        return furniture

    def _load(self, saved: bytes) -> None:
        row = 3 * 8
        count = int(np.frombuffer(saved, "<i8", 2)[1])
        heads = np.frombuffer(saved, "<i8", 3 * count, row).reshape(-1, 3)
        columns = np.frombuffer(saved, "<u4", offset=row * (1 + count)).astype(_NUMBER).reshape(2, -1)
        end = 0
        for host, pages, blocks in heads.tolist():
            start, end = end, end + blocks
            self._hosts[host] = _Host(pages, columns[0, start:end], columns[1, start:end])
        self.blocks = end


def _counted(known: _Host, blocks: NDArray[np.uint32]) -> _Host:
    """The host with one page more."""
    if _compiled is None or len(known.hashes) + len(blocks) > MAX_BLOCKS:
        return counted_in_python(known, blocks)
    merged = np.empty((2, len(known.hashes) + len(blocks)), _NUMBER)
    size = _compiled.add_page(known.hashes, known.counts, blocks, merged)
    if size == len(known.hashes):  # no block is new
        return known
    hashes, counts = merged[:, :size].copy()
    return _Host(known.pages + 1, hashes, counts)


def counted_in_python(known: _Host, blocks: NDArray[np.uint32]) -> _Host:
    """The twin of what is compiled; it also knows what to forget where there are too many blocks."""
    places = np.searchsorted(known.hashes, blocks)
    is_known = np.zeros(len(blocks), np.bool_)
    inside = places < len(known.hashes)
    is_known[inside] = known.hashes[places[inside]] == blocks[inside]
    new = blocks[~is_known]
    if not len(new):
        return known
    counts = known.counts.copy()
    counts[places[is_known]] += 1
    known = _Host(known.pages + 1, known.hashes, counts)
    least = 2
    while len(known.hashes) and len(known.hashes) + len(new) > MAX_BLOCKS:
        known = _kept(known, least=least)
        least += 1
    places = np.searchsorted(known.hashes, new) + np.arange(len(new))
    size = len(known.hashes) + len(new)
    is_old = np.ones(size, np.bool_)
    is_old[places] = False
    hashes, counts = np.empty(size, known.hashes.dtype), np.ones(size, known.counts.dtype)
    hashes[places], hashes[is_old], counts[is_old] = new, known.hashes, known.counts
    return _Host(known.pages, hashes, counts)


def _kept(known: _Host, *, least: int) -> _Host:
    """The host without blocks that stood on fewer than `least` pages."""
    is_kept = known.counts >= least
    return _Host(known.pages, known.hashes[is_kept], known.counts[is_kept])
