"""One crawl while somebody looks at it: a dot per page, figures and events, kept up to date from its store.

The first look at a crawl of a million pages takes seconds, so it begins with a sample, which a person cannot tell from
the whole on a screen, and the whole follows. From then on only what is new is read; everything is read again when
earlier pages were judged anew. Ten people who look at the same crawl share one of these.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.certainty import CERTAINTY, Certainty
from lycosa.crawl.commands import LIVE
from lycosa.crawl.rejudge import JUDGE_VERSION, JUDGED_AGAIN, JUDGED_AT
from lycosa.crawl.resume import THRESHOLD
from lycosa.stopping.outlook import OUTLOOK
from lycosa.store.dashboard import DashboardStore, NumberedEvent
from lycosa.store.opening import open_dashboard
from lycosa.store.rows import Answer, AnswerRow
from lycosa.workspace import Workspace

SAMPLE, SAMPLE_RUN = 4_000, 10
"""Number of pages by which a crawl is shown until all are read, and how many of them follow each other: neighbours are
read together, so that a tenth of the places on the disk are visited."""
SPARKS = 48
SPEED_OVER = 30.0
"""Seconds over which the speed is taken."""
RECENT = 1_000
"""Number of pages over which the current harvest rate is taken."""
COMMITTED_LATE = 2_000
"""Number of pages of a cluster that are read again: shards commit at their own pace, and pages are numbered by the time
at which they were fetched."""
MOST_EVENTS = 5_000
"""Number of events that are kept: the latest."""
RELEVANT, ANSWERED, UNJUDGED = 1, 2, 4
"""Flags of a dot."""


class Dots:
    """A dot per page; place 0 is page 1. Only a prefix is filled while pages are being read."""

    def __init__(self) -> None:
        self.count = 0
        self._relevance = np.zeros(0, dtype=np.float32)
        self._times = np.zeros(0, dtype=np.float64)
        self._flags = np.zeros(0, dtype=np.uint8)

    @property
    def relevance(self) -> NDArray[np.float32]:
        return self._relevance[: self.count]

    @property
    def times(self) -> NDArray[np.float64]:
        return self._times[: self.count]

    @property
    def flags(self) -> NDArray[np.uint8]:
        return self._flags[: self.count]

    def put(self, columns: list[NDArray[np.float64]]) -> None:
        numbers, times, relevance, is_relevant, is_answered = columns
        if not len(numbers):
            return
        last = int(numbers.max())
        if last > len(self._relevance):
            size = max(last, len(self._relevance) * 5 // 4, 1024)
            self._relevance = np.resize(self._relevance, size)
            self._times = np.resize(self._times, size)
            self._flags = np.resize(self._flags, size)
        places = numbers.astype(np.int64) - 1
        self._relevance[places] = np.maximum(relevance, 0)
        self._times[places] = times
        self._flags[places] = (is_relevant > 0) * RELEVANT | (is_answered > 0) * ANSWERED | (relevance < 0) * UNJUDGED
        self.count = max(self.count, last)


def confirmed(answers: Iterable[AnswerRow]) -> dict[str, int]:
    """What the judge itself says of the pages that people have decided, beside what they said."""
    standing = {row.url: row for row in answers if row.answer != Answer.SKIPPED}
    found = {"confirmed": 0, "refuted": 0, "missed": 0, "rightly_left": 0}
    for row in standing.values():
        if row.own_relevance is None or row.is_relevant is None:
            continue
        kind = (
            ("confirmed" if row.is_relevant else "refuted")
            if row.own_is_relevant
            else ("missed" if row.is_relevant else "rightly_left")
        )
        found[kind] += 1
    return found


def figures_of_all(shards: list[dict[str, Any]]) -> dict[str, Any]:
    """What the shards of a cluster have written down (`crawl.commands.LIVE`), together; one is as it is."""
    if len(shards) < 2:
        return shards[0] if shards else {}
    added = ("waiting", "in_flight", "hosts_ready", "hosts_cooling")
    stalled = [f"shard {number}: {each['stalled']}" for number, each in enumerate(shards) if each.get("stalled")]
    return {
        **{name: sum(each.get(name) or 0 for each in shards) for name in added},
        "is_paused": all(each.get("is_paused") for each in shards),
        "stalled": "; ".join(stalled),
        "forecast": None,
    }


class Watch:
    """What is known of one crawl. `refresh` is called by one thread at a time, the rest by any."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.dots = Dots()
        self.is_whole = False
        """All pages have been read; until then `dots` is empty."""
        self.version = 0
        """Rises when earlier pages were judged anew: whoever has drawn them draws them again."""
        self.events: list[NumberedEvent] = []
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.bytes = 0
        self._seen_outcomes: dict[int, int] = {}
        self._seen_events: dict[int, int] = {}
        """By shard (0 for a crawl of one process), the number of the last that was read."""
        self._confirmed: dict[str, int] = {}
        self._signature: tuple[Any, ...] = ()
        self._sampled: tuple[int, Dots] = 0, Dots()
        """Number of pages that there were, and a sample of them."""
        self._lock = threading.Lock()

    def refresh(self) -> dict[str, Any]:
        """Read what is new; return the figures."""
        with self._lock:
            store = open_dashboard(self.workspace)
            try:
                self._read_dots(store)
                self._read_outcomes(store)
                self._read_events(store)
                return self.figures(store)
            finally:
                store.close()

    def _read_dots(self, store: DashboardStore) -> None:
        answers = store.answers()
        self._confirmed = confirmed(answers)
        states = [store.states(name) for name in (JUDGE_VERSION, JUDGED_AGAIN, JUDGED_AT, THRESHOLD)]
        signature = (len(answers), answers[-1].id if answers else 0, states)
        if self.is_whole and signature == self._signature:
            if store.last_number() > self.dots.count:
                again = COMMITTED_LATE if store.shard_count else 0
                self.dots.put(store.dots(after=max(0, self.dots.count - again)))
            return
        fresh = Dots()
        for columns in store.all_dots():
            fresh.put(columns)
        self.dots = fresh
        self._signature = signature
        self.version += 1
        self.is_whole = True

    def _read_outcomes(self, store: DashboardStore) -> None:
        for shard, kind, reason, count, size, last in store.outcome_sums(dict(self._seen_outcomes)):
            self.outcomes[kind, reason] += count
            self.bytes += size
            self._seen_outcomes[shard] = max(self._seen_outcomes.get(shard, 0), last)

    def _read_events(self, store: DashboardStore) -> None:
        for shard, event in store.events_after(self._seen_events, MOST_EVENTS):
            self._seen_events[shard] = max(self._seen_events.get(shard, 0), event.id)
            if store.shard_count:  # each shard counts its own: here they are numbered as they were read
                event = event._replace(id=self.events[-1].id + 1 if self.events else 1)
            self.events.append(event)
        del self.events[:-MOST_EVENTS]

    def harvest(self, store: DashboardStore) -> tuple[int, int, list[float]]:
        """Pages, relevant ones (estimated from a sample until all are read), and the harvest rate over time."""
        pages = store.last_number()
        dots = self.dots if self.is_whole and self.dots.count else self.sample(store)
        if not pages or not dots.count:
            return pages, 0, []
        is_relevant = (dots.flags & RELEVANT) > 0
        parts = np.array_split(is_relevant, min(SPARKS, len(is_relevant)))
        spark = [round(float(part.mean()), 3) for part in parts]
        return pages, round(float(is_relevant.mean()) * pages), spark

    def sample(self, store: DashboardStore) -> Dots:
        """Some pages from everywhere, in order."""
        pages = store.last_number()
        known, sampled = self._sampled
        if pages <= SAMPLE or not known <= pages <= 1.02 * known:
            sampled = self._sample_of(pages, store)
            self._sampled = pages, sampled
        return sampled

    @staticmethod
    def _sample_of(pages: int, store: DashboardStore) -> Dots:
        firsts = np.linspace(1, max(1, pages - SAMPLE_RUN), SAMPLE // SAMPLE_RUN).astype(np.int64)
        chosen = (firsts[:, None] + np.arange(SAMPLE_RUN)).ravel() if pages > SAMPLE else np.arange(1, pages + 1)
        numbers = np.unique(chosen)
        columns = store.some_dots(json.dumps(numbers.tolist()))
        order = np.argsort(columns[0], kind="stable")
        columns = [column[order] for column in columns]
        columns[0] = np.arange(1, len(order) + 1, dtype=np.float64)
        found = Dots()
        found.put(columns)
        return found

    def figures(self, store: DashboardStore) -> dict[str, Any]:
        """What the side of the monitor shows."""
        now = time.time()
        run = store.last_run()
        live = figures_of_all([json.loads(value) for value in store.states(LIVE).values()])
        outlook: dict[str, Any] = json.loads(store.state(OUTLOOK) or b"{}")
        certainty = Certainty.from_bytes(store.state(CERTAINTY))
        holder = self.workspace.holder()
        dots = self.dots
        recent = dots.flags[-RECENT:] & RELEVANT
        hosts, cooling, set_aside = store.host_counts(now)
        is_running = holder is not None
        return {
            "at": now,
            "shards": store.shard_count,
            "pages": dots.count,
            "relevant": int(np.count_nonzero(dots.flags & RELEVANT)),
            "harvest_recent": round(float(np.mean(recent > 0)), 4) if len(recent) else 0.0,
            "mean_relevance": round(float(dots.relevance[-RECENT:].mean()), 4) if dots.count else 0.0,
            "version": self.version,
            "is_running": is_running,
            "is_paused": is_running and bool(live.get("is_paused")),
            "stalled": live.get("stalled", "") if is_running else "",
            "stop_reason": "" if run is None or is_running else run.stop_reason or "cut off",
            "started_at": run.started_at if run else None,
            "speed": self._speed(now) if is_running else 0.0,
            "bytes": self.bytes,
            "waiting": live.get("waiting"),
            "in_flight": live.get("in_flight", 0) if is_running else 0,
            "hosts": hosts,
            "hosts_cooling": live.get("hosts_cooling", cooling) if is_running else cooling,
            "hosts_ready": live.get("hosts_ready", 0) if is_running else 0,
            "hosts_set_aside": set_aside,
            "outcomes": [
                {"kind": kind, "reason": reason, "count": count}
                for (kind, reason), count in self.outcomes.most_common(14)
            ],
            "forecast": live.get("forecast") if is_running else outlook.get("forecast"),
            "confirmed": self._confirmed,
            "certainty": certainty and {**certainty._asdict(), "words": certainty.in_words},
            "last_event": self.events[-1].id if self.events else 0,
        }

    def _speed(self, now: float) -> float:
        """Pages a second of late."""
        times = self.dots.times
        latest = len(times) - int(np.searchsorted(times, now - SPEED_OVER)) if len(times) else 0
        return round(latest / SPEED_OVER, 2)
