"""All engines, asked at once; each has its own delay, rests after failures, and may be asked so often a day.

An engine that asked to be left alone (Retry-After) is left alone for as long; after other failures it rests longer from
failure to failure. Whatever an engine does, the others' answers count.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lycosa.lib.clock import Clock
from lycosa.seeds.metasearch.engine import (
    ANSWERED,
    CAPTCHA,
    DAILY,
    NOTHING,
    QUOTA,
    RESTING,
    Engine,
    EngineAnswer,
)

log = logging.getLogger(__name__)
DAY = 86_400.0
FIRST_REST, LONGEST_REST = 60.0, 3_600.0
"""Seconds that an engine rests after a failure: doubled with each further one in a row."""
MAX_RETRY_AFTER = DAY
FINE = frozenset({ANSWERED, NOTHING})


class Asked(NamedTuple):
    """One engine's answer to one query."""

    engine: str
    query: str
    answer: EngineAnswer
    seconds: float
    ready_at: float
    """When the engine may be asked again."""

    @property
    def is_fine(self) -> bool:
        return self.answer.outcome in FINE


@dataclass(slots=True)
class EngineClock:
    """What is known of an engine: when it may be asked again, and how often it was asked today."""

    delay: float = 0.0
    daily: int = 0
    ready_at: float = 0.0
    failures: int = 0
    today: dict[int, int] = field(default_factory=dict)
    """Requests by day, of which only the latest is kept."""

    def why_not(self, now: float) -> str:
        if self.daily and self.today.get(int(now // DAY), 0) >= self.daily:
            return DAILY
        return RESTING if self.ready_at - now > self.delay else ""

    def note(self, answer: EngineAnswer, now: float) -> None:
        if not answer.is_contact:
            return
        day = int(now // DAY)
        self.today = {day: self.today.get(day, 0) + 1}
        rest = self.delay
        if answer.outcome in FINE:
            self.failures = 0
        else:
            self.failures += 1
            grown = min(LONGEST_REST, FIRST_REST * 2.0 ** min(self.failures - 1, 20))
            rest = max(rest, LONGEST_REST if answer.outcome in (CAPTCHA, QUOTA) else grown)
            if answer.retry_after:
                rest = max(self.delay, min(answer.retry_after, MAX_RETRY_AFTER))
        self.ready_at = now + rest


Together = Callable[[Iterable[Coroutine[Any, Any, Asked]]], Awaitable[list[Asked]]]


async def side_by_side(asking: Iterable[Coroutine[Any, Any, Asked]]) -> list[Asked]:
    return list(await asyncio.gather(*asking))


async def one_by_one(asking: Iterable[Coroutine[Any, Any, Asked]]) -> list[Asked]:
    """Without an event loop: for replays."""
    return [await each for each in asking]


class Panel:
    def __init__(
        self,
        engines: Sequence[Engine],
        *,
        clocks: dict[str, EngineClock],
        clock: Clock,
        together: Together = side_by_side,
    ) -> None:
        """`clocks`: by name of the engine, as earlier runs left them."""
        self._engines = engines
        self._clocks = clocks
        self._clock = clock
        self._together = together

    @property
    def names(self) -> list[str]:
        return [engine.name for engine in self._engines]

    async def ask(self, queries: Sequence[str], count: int) -> list[Asked]:
        """Each query to each engine: engines side by side, an engine's queries one after the other."""
        asked: list[Asked] = []
        for query in queries:
            asked += await self._together([self._ask(engine, query, count) for engine in self._engines])
        return asked

    async def _ask(self, engine: Engine, query: str, count: int) -> Asked:
        known = self._clocks.setdefault(engine.name, EngineClock())
        began = self._clock.now()
        if why := known.why_not(began):
            return Asked(engine.name, query, EngineAnswer(outcome=why, is_contact=False), 0.0, known.ready_at)
        if known.ready_at > began:
            await self._clock.sleep(known.ready_at - began)
            began = self._clock.now()
        try:
            answer = await engine.ask(query, count)
        except Exception as fault:
            # Not its message, nor its traceback: the address that was asked may be in it, and a key in the address.
            log.warning("fault in search engine %s: %s", engine.name, type(fault).__name__)
            answer = EngineAnswer(outcome="fault", detail=type(fault).__name__)
        now = self._clock.now()
        known.note(answer, now)
        return Asked(engine.name, query, answer, now - began, known.ready_at)
