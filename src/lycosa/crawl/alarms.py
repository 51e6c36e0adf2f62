"""Alarms (paper FC: "the rate of acquisition falls, or the relevance declines without recovering").

Every few seconds the crawl compares its figures with the thresholds that a person has set. An alarm is an event of the
store (`alarm`), raised once when a threshold is crossed and closed (`alarm over`) when the figure has recovered. The
settings name who is told, too: a webhook gets JSON, a command gets kind and words as its two last arguments.

Thresholds can be changed while the crawl runs (`commands`); webhook and command only by the settings, as they let the
crawl's machine do something.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
import subprocess
import threading
import urllib.request
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from lycosa.crawl.commit import CrawlLedger
from lycosa.errors import ConfigError
from lycosa.lib.bounds import require_at_least, require_at_most
from lycosa.lib.clock import Clock
from lycosa.model import Kind
from lycosa.store.rows import Batch

LOOK_EVERY = 5.0
TELL_WITHIN = 10.0
"""Seconds that a webhook or a command may take."""
ALARMS = "alarms"
"""Name of state in the store: thresholds that were changed while it ran, as JSON."""
FAILURES = frozenset({Kind.HTTP_ERROR.value, Kind.UNREACHABLE.value, Kind.UNREADABLE.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmSettings:
    """When a crawl raises an alarm, and who is told besides its events. 0 turns an alarm off."""

    min_speed: float = 0.0
    """Minimum number of pages a minute, over the last `minutes`."""
    min_relevance: float = 0.0
    """Minimum mean relevance of the latest `pages` pages."""
    max_drift: float = 0.0
    """Maximum share of what is called relevant that the words and examples given would not call so by themselves; only
    with a judge that learns during the crawl, and not before there are `pages` pages."""
    max_errors: float = 0.0
    """Maximum share of failures among the latest `pages` requests."""
    min_disk: float = 0.0
    """Minimum free space where the crawl is stored, in gigabytes."""
    on_stall: bool = False
    """Raise an alarm when the crawl stalls."""
    pages: int = 200
    """Number of latest pages over which relevance and errors are measured; not before there are as many."""
    minutes: float = 5.0
    """Minutes over which the speed is measured; not before they have passed."""
    webhook: str = ""
    """URL that is sent each alarm as JSON: crawl, kind, message."""
    command: str = ""
    """Command that is run for each alarm, without a shell; kind and message are added as its last arguments."""

    def __post_init__(self) -> None:
        require_at_least(self, "alarms", min_speed=0, min_relevance=0, max_drift=0, max_errors=0, min_disk=0, pages=1)
        require_at_most(self, "alarms", min_relevance=1, max_drift=1, max_errors=1)
        if self.minutes <= 0:
            raise ConfigError(f"alarms.minutes is {self.minutes}: it must be greater than 0")
        if self.webhook and not self.webhook.startswith(("http://", "https://")):
            raise ConfigError(f"alarms.webhook is {self.webhook!r}: write a URL, such as https://example.org/hook")


THRESHOLDS = ("min_speed", "min_relevance", "max_drift", "max_errors", "min_disk", "on_stall", "pages", "minutes")
"""What may be changed while the crawl runs."""


def with_thresholds(settings: AlarmSettings, changed: Mapping[str, Any]) -> AlarmSettings:
    """The settings with other thresholds; ConfigError if one is unknown or out of bounds."""
    kinds = {item.name: type(getattr(settings, item.name)) for item in fields(settings)}
    for name, value in changed.items():
        if name not in THRESHOLDS:
            raise ConfigError(f"alarms.{name} cannot be changed here: known are {', '.join(THRESHOLDS)}")
        if not isinstance(value, (int, float)):
            raise ConfigError(f"alarms.{name} is {value!r}: it must be a number")
    return replace(settings, **{name: kinds[name](value) for name, value in changed.items()})


class Condition(NamedTuple):
    """How the crawl is, where its ledger does not say it."""

    drift: Callable[[], float] = float
    """Share of what is called relevant, by a judge that learns."""
    stalled: Callable[[], str] = str
    """Why nothing is fetched."""
    is_paused: Callable[[], bool] = bool


UNKNOWN = Condition()


class Alarms:
    """Looks at the figures. `look` is called after each turn of the loop and mostly does nothing."""

    def __init__(
        self,
        settings: AlarmSettings,
        *,
        ledger: CrawlLedger,
        clock: Clock,
        name: str = "",
        condition: Condition = UNKNOWN,
        tell: Callable[[AlarmSettings, Mapping[str, str]], None] | None = None,
    ) -> None:
        """`name`: of the crawl. `tell`: how others are told; by default in a thread, for which nobody waits."""
        self._ledger = ledger
        self._store = ledger.state.store
        self._clock = clock
        self._name = name
        self._condition = condition
        self._tell = tell or tell_others
        self._looked_at = clock.now()
        self._speeds: deque[tuple[float, int]] = deque()
        self._open: dict[str, str] = {}
        """By kind: the alarms that were raised and are not over."""
        saved = self._store.state(ALARMS)
        self.settings = with_thresholds(settings, json.loads(saved)) if saved else settings

    def change(self, changed: Mapping[str, Any]) -> None:
        """Other thresholds from now on, also in later runs."""
        self.settings = with_thresholds(self.settings, changed)
        kept = {name: getattr(self.settings, name) for name in THRESHOLDS}
        self._store.write(Batch(state={ALARMS: json.dumps(kept).encode()}))

    def look(self) -> None:
        now = self._clock.now()
        if now - self._looked_at < LOOK_EVERY:
            return
        self._looked_at = now
        if self._condition.is_paused():
            self._speeds.clear()  # a pause is no loss of speed
            return
        self._speeds.append((now, self._ledger.pages))
        causes = self._causes(now)
        for kind in [kind for kind in self._open if kind not in causes]:
            self._ledger.note("alarm over", f"{kind}: it has recovered from: {self._open.pop(kind)}")
        for kind, words in causes.items():
            if kind not in self._open:
                self._open[kind] = words
                self._ledger.note("alarm", f"{kind}: {words}")
                if self.settings.webhook or self.settings.command:
                    self._tell(self.settings, {"crawl": self._name, "kind": kind, "message": words})

    def _causes(self, now: float) -> dict[str, str]:
        """What is the matter, by kind."""
        found = {
            "speed": self._slow(now),
            "relevance": self._irrelevant(),
            "drift": self._drifting(),
            "errors": self._failing(),
            "disk": self._full(),
            "stall": self._condition.stalled() if self.settings.on_stall else "",
        }
        return {kind: words for kind, words in found.items() if words}

    def _slow(self, now: float) -> str:
        settings = self.settings
        since = now - 60 * settings.minutes
        while len(self._speeds) > 1 and self._speeds[1][0] <= since:
            self._speeds.popleft()
        began, before = self._speeds[0]
        if not settings.min_speed or began > since:
            return ""
        speed = (self._ledger.pages - before) / ((now - began) / 60)
        if speed >= settings.min_speed:
            return ""
        return f"{speed:.1f} pages a minute over the last {settings.minutes:g} minutes, {settings.min_speed:g} required"

    def _irrelevant(self) -> str:
        settings, recent = self.settings, self._ledger.state.recent
        if not settings.min_relevance or len(recent) < settings.pages:
            return ""
        latest = [relevance for relevance, _ in list(recent)[-settings.pages :]]
        mean = sum(latest) / len(latest)
        if mean >= settings.min_relevance:
            return ""
        return f"mean relevance {mean:.3f} of the last {settings.pages:,} pages, {settings.min_relevance:g} required"

    def _drifting(self) -> str:
        most = self.settings.max_drift
        if not most or self._ledger.pages < self.settings.pages or (drift := self._condition.drift()) <= most:
            return ""
        return (
            f"{drift:.0%} of what is called relevant would not be by the words and examples given, {most:.0%} allowed; "
            "a few answers tell whether it is meant"
        )

    def _failing(self) -> str:
        settings = self.settings
        if not settings.max_errors:
            return ""
        kinds = self._store.latest_kinds(settings.pages)
        share = sum(kind in FAILURES for kind in kinds) / max(1, len(kinds))
        if len(kinds) < settings.pages or share <= settings.max_errors:
            return ""
        return f"{share:.0%} of the last {settings.pages:,} requests failed, {settings.max_errors:.0%} allowed"

    def _full(self) -> str:
        least = self.settings.min_disk
        if not least:
            return ""
        free = shutil.disk_usage(self._store.path.parent).free / 1e9
        return f"{free:.2f} GB free, {least:g} required" if free < least else ""


def tell_others(settings: AlarmSettings, alarm: Mapping[str, str]) -> None:
    """In a thread: the crawl does not wait for anybody."""
    threading.Thread(target=_told, args=(settings, alarm), name="alarm", daemon=True).start()


def _told(settings: AlarmSettings, alarm: Mapping[str, str]) -> None:
    """An answer that does not come is nobody's loss: the event is in the store."""
    if settings.webhook:
        request = urllib.request.Request(  # noqa: S310 - the settings allow http and https only
            settings.webhook, json.dumps(alarm).encode(), {"Content-Type": "application/json"}
        )
        with contextlib.suppress(OSError), urllib.request.urlopen(request, timeout=TELL_WITHIN):  # noqa: S310
            pass
    if settings.command:
        words = [*shlex.split(settings.command), alarm["kind"], alarm["message"]]
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(words, timeout=TELL_WITHIN, check=False, stdin=subprocess.DEVNULL)
