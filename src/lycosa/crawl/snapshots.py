"""Snapshots of what a strategy knows: a crawl that resumes is told only the visits since, instead of all of them.

    look ─▶ take: copies of all arrays ─▶ a thread: file.part, SHA-256, fsync, rename ─▶ look: the store names the file

A snapshot counts only once the store names it, with its SHA-256. So whatever is in the directory, a file that was torn
or damaged, that belongs to another crawl, or that is newer than a database restored from a copy is not used. Neither is
one of another version, or made with another strategy, judge or topic, or before pages were judged anew from outside:
the reason is reported in one line, and the strategy is told all visits.

A snapshot is written when the crawl has grown by a fiftieth, but at most `MOST_TIME` of the time is spent on it; right
after all pages have been judged again, which a resumed crawl would have to repeat; and at the end of a run. There is
one at a time, and while the next one is written, two. To a shard of a cluster, a page that another one has told of is a
page like its own: it would be told again, too.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.resume import NOTHING, Covered
from lycosa.lib.clock import Clock
from lycosa.lib.memory import memory_returner
from lycosa.lib.snapshot import Damaged, Tree, read, size_of, write
from lycosa.store.protocol import Store
from lycosa.store.rows import Batch
from lycosa.strategies.protocol import Strategy

SNAPSHOT = "snapshot"
"""Name of state in the store, and kind of the events."""
FIRST = 1_000
"""Number of pages before the first one, and the least number between two: to be told these takes about a second."""
GROWTH = 50
"""It is time for the next one when the crawl has grown by one part in this many."""
MOST_TIME = 0.02
"""Maximum share of the time, in seconds of CPU a second."""
LARGEST = 4 << 30
"""Bytes beyond which no snapshot is written."""
MIN_FREE = 2
"""Space that must be free on the disk, as a multiple of the snapshot."""
_FILE = re.compile(r"[0-9]{1,12}-[0-9a-f]{12}\.snapshot")
_OURS = re.compile(r"[0-9]{1,12}(-[0-9a-f]{12}\.snapshot|\.part)")

Settings = Mapping[str, Any]
"""By name, what a snapshot depends on besides the visits, as JSON knows it; the names are used in messages."""


class Refused(ValueError):
    """Why the snapshot cannot be used."""


def load(strategy: Strategy, store: Store, directory: Path, settings: Settings) -> Covered:
    """Load the snapshot that the store names into a new strategy; NOTHING if it names none.

    Refused if it cannot be used. The strategy may then be half loaded: go on with another one.
    """
    named, snapshots = store.state(SNAPSHOT), strategy.abilities.snapshots
    if not named or snapshots is None:
        return NOTHING
    gc.collect()  # of an earlier run in this process, whose parts refer to each other: it is as large as what comes
    tree = _read(named, directory)
    is_collecting = gc.isenabled()
    try:
        _check(tree, store, _as_json(settings))
        gc.disable()  # many small objects are made, and none of them is garbage
        snapshots.load(tree["contents"])
        return Covered(tree["pages"], frozenset(tree["answered"]), tree["urls"], tree.get("foreign", 0))
    except Refused:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise Refused(f"it does not fit this version ({type(error).__name__}: {error})") from error
    finally:
        if is_collecting:
            gc.enable()


def _read(named: bytes, directory: Path) -> Tree:
    try:
        row = json.loads(named)
        file, sha256 = str(row["file"]), str(row["sha256"])
    except (ValueError, KeyError, TypeError):
        raise Refused("its entry in the database cannot be read") from None
    if not _FILE.fullmatch(file):
        raise Refused("its entry in the database cannot be read")
    try:
        return read(directory / file, sha256)
    except FileNotFoundError:
        raise Refused(f"{directory / file} is missing") from None
    except Damaged as error:
        raise Refused(str(error)) from error
    except (OSError, MemoryError) as error:
        raise Refused(f"{directory / file} cannot be read: {error}") from error


def _check(tree: Tree, store: Store, settings: dict[str, Any]) -> None:
    """Whether a snapshot belongs to what the store has, and to how the crawl is run now."""
    before = tree["settings"]
    changed = [name for name in (*settings, *before) if settings.get(name) != before.get(name)]
    if changed:
        raise Refused(f"it was made with another {' and '.join(dict.fromkeys(changed))}")
    pages = tree["pages"]
    since = store.pages_since(pages - 1)
    if since.ids[since.numbers == pages].tolist() != [tree["last_page"]]:
        raise Refused(f"it covers {pages:,} pages that are not the first ones of the database")
    if int(tree["urls"]["fill"].sum(dtype=np.int64)) > store.count_links():
        raise Refused("it knows of URLs that are not in the database")
    if tree["judged"] != _judged(store, pages, is_needed=bool(tree["judged"])):
        raise Refused("pages have been judged again since")


def _judged(store: Store, pages: int, *, is_needed: bool) -> str:
    """A digest of what the judge said of the first pages."""
    return hashlib.sha256(store.first_relevance(pages).tobytes()).hexdigest() if is_needed else ""


def _as_json(settings: Settings) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(json.dumps(settings, sort_keys=True))
    return values


class _Writing(threading.Thread):
    """Writes one snapshot, beside the crawl."""

    def __init__(self, tree: Tree, directory: Path) -> None:
        super().__init__(name="snapshot", daemon=True)
        self._tree: Tree | None = tree
        self._directory = directory
        self._pages = int(tree["pages"])
        self.file = self.sha256 = ""
        self.error: OSError | None = None
        self.cpu = 0.0

    def run(self) -> None:
        try:
            self._write()
        except OSError as error:
            self.error = error
        self.cpu = time.thread_time()

    def _write(self) -> None:
        assert self._tree is not None
        self._directory.mkdir(exist_ok=True)
        draft = self._directory / f"{self._pages}.part"
        sha256 = write(draft, self._tree)
        self._tree = None
        file = f"{self._pages}-{sha256[:12]}.snapshot"
        draft.rename(self._directory / file)
        handle = os.open(self._directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        self.file, self.sha256 = file, sha256


class Snapshotting:
    """Writes snapshots of a running crawl. `look` is called after each turn of the loop and mostly does nothing."""

    def __init__(
        self,
        *,
        ledger: CrawlLedger,
        directory: Path,
        settings: Callable[[], Settings],
        clock: Clock,
        covered: Covered = NOTHING,
        judged: Callable[[], int],
        is_judged_by_study: bool = False,
    ) -> None:
        """`settings`: as they are when a snapshot is taken; a judge may have been trained since the crawl began.
        `covered`: by the snapshot the crawl was resumed from. `judged`: a number that changes whenever all pages are
        judged again, which makes an earlier snapshot useless; by a study, or by a trained judge that took over."""
        self._ledger = ledger
        self._directory = directory
        self._settings = settings
        self._clock = clock
        self._judged = judged
        self._is_judged_by_study = is_judged_by_study
        self._snapshots = ledger.state.strategy.abilities.snapshots
        self._told = covered.pages + covered.foreign
        self._judged_at = self._judged()
        self._writing: _Writing | None = None
        self._taken_at = clock.now()
        self._cost = 0.0
        """Seconds of CPU for the last one."""
        self._problem = ""
        self._return_memory = memory_returner()

    def look(self, *, is_last: bool = False) -> None:
        """With `is_last`, the crawl is about to end: the snapshot is written before this returns."""
        if self._snapshots is None:
            return
        self._finish(wait=is_last)
        if self._writing is None and self._is_due(is_last=is_last):
            self._begin()
            self._finish(wait=is_last)

    def _is_due(self, *, is_last: bool) -> bool:
        told = self._ledger.pages + len(self._ledger.state.foreign)
        if told < FIRST or not self._ledger.pages or self._problem:
            return False
        has_news = self._judged() != self._judged_at
        if is_last:
            return told > self._told or has_news
        if told - self._told < max(FIRST, told // GROWTH):
            return has_news and told > self._told
        return has_news or self._cost <= MOST_TIME * (self._clock.now() - self._taken_at)

    def _begin(self) -> None:
        began = time.thread_time()
        self._ledger.write_scores()
        tree = self._tree()
        self._told = tree["pages"] + tree["foreign"]
        self._judged_at, self._taken_at = self._judged(), self._clock.now()
        if problem := self._no_room(size_of(tree)):
            self._complain(problem)
            return
        self._writing = _Writing(tree, self._directory)
        self._cost = time.thread_time() - began
        self._writing.start()

    def _tree(self) -> Tree:
        assert self._snapshots is not None
        store, pages = self._ledger.state.store, self._ledger.pages
        since = store.pages_since(pages - 1)
        return {
            "settings": _as_json(self._settings()),
            "pages": pages,
            "last_page": int(since.ids[0]),
            "answered": [row.id for row in store.answers() if row.after_pages == pages],
            "judged": _judged(store, pages, is_needed=not self._is_judged_by_study),
            "foreign": len(self._ledger.state.foreign),
            "urls": self._ledger.state.urls.take(),
            "contents": self._snapshots.take(),
        }

    def _no_room(self, size: int) -> str:
        if size > LARGEST:
            return f"it would take {size / 1e9:.1f} GB, and the limit is {LARGEST / 1e9:.1f} GB"
        free = shutil.disk_usage(self._directory.parent).free
        if free < MIN_FREE * size:
            return f"it takes {size / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB of the disk are free"
        return ""

    def _finish(self, *, wait: bool) -> None:
        """Have the store name the file that has been written, and remove others."""
        writing = self._writing
        if writing is None or (not wait and writing.is_alive()):
            return
        writing.join()
        self._writing = None
        self._cost += writing.cpu
        self._return_memory()  # what the copies took, and what tables left behind that have grown since
        if writing.error is not None:
            self._complain(str(writing.error))
            return
        named = json.dumps({"file": writing.file, "sha256": writing.sha256}).encode()
        self._ledger.write(Batch(state={SNAPSHOT: named}))
        for path in self._directory.iterdir():
            if _OURS.fullmatch(path.name) and path.name != writing.file:
                path.unlink(missing_ok=True)

    def _complain(self, problem: str) -> None:
        """Once: the crawl goes on without snapshots."""
        self._problem = problem
        self._ledger.note(SNAPSHOT, f"no snapshot is written: {problem}; a resumed crawl is told all visits again")
