"""Time as a dependency: a replayed crawl gets a clock that does not wait, a live one a clock that nobody sets.

Delays and deadlines must not depend on what somebody, or a time server, sets the machine's clock to. So the time of a
process is the wall-clock time at its start plus the seconds since, which only ever grow.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch, never less than before: times are stored, and are read by the next process."""
        ...

    async def sleep(self, seconds: float) -> None: ...


def wall_seconds() -> float:
    """Seconds since the epoch, by the machine's clock."""
    return time.time()


def steady_seconds() -> float:
    """Seconds since some moment, including those that the machine slept, where the system counts them."""
    kind = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if kind is None else time.clock_gettime(kind)


class SystemClock:
    def __init__(
        self, *, wall: Callable[[], float] = wall_seconds, steady: Callable[[], float] = steady_seconds
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._start = wall() - steady()

    def now(self) -> float:
        return self._start + self._steady()

    def jumped(self) -> float:
        """Seconds by which the machine's clock has been set since this clock was made: less than 0 if back."""
        return self._wall() - self.now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class VirtualClock:
    """A clock that advances only when someone sleeps."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self._now += max(0.0, seconds)
