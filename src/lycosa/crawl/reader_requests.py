"""What a reader process is sent: pages as marshalled tuples, and their bodies in memory that both processes see.

A body sent through a socket is copied into the kernel and out of it again, and a dozen of them, waiting for their
reader, fill the socket's buffer. So bodies are copied into a file in memory, which the reader has mapped, and the
socket carries their places. Readers have parsed hostile bytes: once the crawl has mapped the file, nobody else can do
so but for reading (a seal of Linux 5.1). A body for which there is no room travels with its tuple, as all do where the
system has no such files.
"""

from __future__ import annotations

import contextlib
import fcntl
import marshal
import mmap
import os
from collections import deque
from typing import Any, NamedTuple

from lycosa.model import Response
from lycosa.page.usage import USAGE_HEADERS

NEEDED_HEADERS = frozenset({"content-type", "content-encoding", *USAGE_HEADERS})
ROOM = 2 << 20
"""Bytes for the bodies that wait for one reader."""
NOWHERE = -1
"""The place of a body that travels with its tuple."""
_SEAL_FUTURE_WRITE = 0x10
"""`fcntl.F_SEAL_FUTURE_WRITE`, for which older Pythons have no name."""


class Request(NamedTuple):
    """A page to be read."""

    response: Response
    furniture: bytes
    """What is known of the page's host (`Furniture.of`)."""
    known: Response | None = None
    """The version of the page that was fetched before."""

    def packed(self, place: int = NOWHERE) -> bytes:
        """`place`: where the reader finds the body."""
        body = self.response.body
        where = body if place == NOWHERE else (place, place + len(body))
        known = None if self.known is None else (*_sent(self.known), self.known.body)
        return marshal.dumps((*_sent(self.response), where, self.furniture, known))


def _sent(response: Response) -> tuple[str, int, list[tuple[str, str]]]:
    headers = [pair for pair in response.headers if pair[0] in NEEDED_HEADERS]
    return response.url, response.status, headers


class Bodies:
    """The crawl's side of the memory for the bodies that wait for one reader, which takes them in order."""

    def __init__(self, file: int, memory: mmap.mmap) -> None:
        self.file = file
        """What the reader maps; to be closed once the reader has been started."""
        self._memory = memory
        self._spans: deque[tuple[int, int]] = deque()
        """Where each is, and where it ends. They follow each other, and begin again at the front of the memory."""

    @classmethod
    def create(cls) -> Bodies | None:
        """None where the system has no such memory."""
        with contextlib.suppress(AttributeError, OSError):
            file = os.memfd_create("lycosa-bodies", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            try:
                os.ftruncate(file, ROOM)
                memory = mmap.mmap(file, ROOM)
                fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | _SEAL_FUTURE_WRITE)
            except BaseException:
                os.close(file)
                raise
            return cls(file, memory)
        return None

    def add(self, body: bytes) -> int:
        """Where it is now; NOWHERE if there is no room for it."""
        place = self._room_for(len(body))
        if place != NOWHERE:
            self._memory[place : place + len(body)] = body
            self._spans.append((place, place + len(body)))
        return place

    def _room_for(self, length: int) -> int:
        if not 0 < length <= ROOM:
            return NOWHERE
        if not self._spans:
            return 0  # where it was just written before, and the processor remembers
        (oldest, _), (newest, end) = self._spans[0], self._spans[-1]
        if newest < oldest:
            return end if end + length <= oldest else NOWHERE
        if end + length <= ROOM:
            return end
        return 0 if length <= oldest else NOWHERE

    def took(self, place: int) -> None:
        """The reader needs the oldest body no more, which was at this place."""
        if place != NOWHERE:
            self._spans.popleft()

    def close(self) -> None:
        self._memory.close()


# The reader's side.


def mapped(file: int) -> mmap.mmap | None:
    """The memory for bodies, for reading; None if there is none (a negative number). The file is closed."""
    if file < 0:
        return None
    try:
        return mmap.mmap(file, ROOM, prot=mmap.PROT_READ)
    finally:
        os.close(file)


def unpacked(given: tuple[Any, ...], memory: mmap.mmap | None) -> Request:
    """What was packed, of which `given` is the tuple."""
    url, status, headers, where, furniture, known = given
    if not isinstance(where, bytes):
        assert memory is not None, "only a reader that has mapped it is told a place"
        where = memory[slice(*where)]
    return Request(Response(url, status, headers, where), furniture, Response(*known) if known else None)
