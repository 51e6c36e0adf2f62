"""Which crawls there are, in what state they are, and what they are told."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lycosa.config import Config
from lycosa.crawl.alarms import AlarmSettings, with_thresholds
from lycosa.crawl.commands import LIVE, OF_ONE_RUN, REASONS, checked_pattern
from lycosa.errors import InputError, LycosaError, WorkspaceError
from lycosa.opened import config_of
from lycosa.store.dashboard import DashboardStore
from lycosa.store.opening import open_dashboard, open_store, stop_shards
from lycosa.store.rows import Batch, Command, CommandRow
from lycosa.web.processes import Errands, Runner
from lycosa.web.watch import Watch, figures_of_all
from lycosa.workspace import Workspace

STOPPED = "stopped from the dashboard"
DEEPEST = 2
"""Levels of folders below a given one in which crawls are looked for."""
MOST_FOLDERS = 2_000
MOST_WATCHED = 8
"""Number of crawls whose pages are kept in memory: those that were looked at last."""
RESCAN_AFTER = 2.0
"""Seconds for which the list of directories holds."""


@dataclass(frozen=True, slots=True)
class ListedCrawl:
    """A crawl in one of the directories that the dashboard shows."""

    id: str
    """Its name in URLs."""
    workspace: Workspace

    @contextmanager
    def store(self) -> Iterator[DashboardStore]:
        """For reading only; a connection of this request's own."""
        with closing(open_dashboard(self.workspace)) as store:
            yield store

    def config(self) -> Config:
        return config_of(self.workspace)

    def part_with(self, page: int) -> tuple[Workspace, int]:
        """The crawl that has a page, which is one of a cluster's shards or this one; and the page's number there."""
        if not self.workspace.has_shards:
            return self.workspace, page
        with self.store() as store:
            shard, number = store.shard_of(page)
        return Workspace(self.workspace.shards / f"{shard:04d}"), number

    def command(self, kind: str, target: str = "") -> int:
        """Ask something of the crawl; return the number of the command."""
        if kind in OF_ONE_RUN and self.workspace.holder() is None:
            raise InputError(f"{self.id}: does not run, so there is nothing to {kind}")
        if kind in REASONS:
            checked_pattern(target)
        elif kind == Command.UNDO:
            self._check_undo(target)
        elif kind == Command.ALARMS:
            with_thresholds(AlarmSettings(), json.loads(target))
        elif kind not in OF_ONE_RUN:
            raise InputError(f"there is no command {kind!r}")
        self._send(kind, target)
        with self.store() as store:
            return max((row.id for row in store.commands()), default=0)

    def _send(self, kind: str, target: str) -> None:
        """Any process may write commands. Those for a cluster go to all its shards, but for `stop`, which is up to
        whoever runs them: it ends them in order."""
        if kind == Command.STOP and self.workspace.has_shards:
            stop_shards(self.workspace, STOPPED)
            return
        undone = self._command(target) if kind == Command.UNDO else None
        at = time.time()
        for part in self.workspace.parts():
            with closing(open_store(part)) as store:
                own = [row.id for row in store.commands() if undone and (row.at, row.kind) == (undone.at, undone.kind)]
                if undone is None or own:
                    store.write(Batch(commands=[(at, kind, str(own[0]) if own else target)]))

    def _command(self, number: str) -> CommandRow | None:
        with self.store() as store:
            return next((row for row in store.commands() if str(row.id) == number), None)

    def _check_undo(self, target: str) -> None:
        with self.store() as store:
            known = {str(row.id): row for row in store.commands()}
        row = known.get(target)
        if row is None or row.kind not in REASONS:
            raise InputError(f"command {target!r} cannot be undone: only exclude, drop and raise can")
        if any(other.kind == Command.UNDO and other.target == target for other in known.values()):
            raise InputError(f"command {target} has been undone already")

    def summary(self, watch: Watch) -> dict[str, Any]:
        """What the list of crawls shows."""
        listed: dict[str, Any] = {"id": self.id, "directory": str(self.workspace.directory)}
        try:
            config = self.config()
            with self.store() as store:
                run, event = store.last_run(), store.last_event()
                live = figures_of_all([json.loads(value) for value in store.states(LIVE).values()])
                pages, relevant, spark = watch.harvest(store)
                shards = store.shard_count
        except LycosaError as error:
            return {**listed, "title": self.id, "state": "unreadable", "why": str(error)}
        state, why = self._state(run and run.stop_reason, bool(run), bool(live.get("is_paused")))
        return {
            **listed,
            "title": config.title,
            "strategy": config.strategy,
            "topics": list(config.topics),
            "budget": config.budget.pages,
            "state": state,
            "why": why,
            "pages": pages,
            "relevant": relevant,
            "harvest": relevant / max(1, pages),
            "spark": spark,
            "shards": shards,
            "started_at": run.started_at if run else None,
            "ended_at": run.ended_at if run else None,
            "last_event": event and {"at": event.at, "kind": event.kind, "message": event.message},
        }

    def _state(self, stop_reason: str | None, has_run: bool, is_paused: bool) -> tuple[str, str]:
        if self.workspace.holder() is not None:
            return ("paused", "waits to be resumed") if is_paused else ("running", "")
        if not has_run:
            return "new", "never run"
        if stop_reason is None:
            return "cut off", "killed, or met an error; it goes on from its last commit"
        return "stopped", stop_reason


class House:
    """All that the server knows."""

    def __init__(self, directories: Sequence[Path], *, book: Path = Path("topics.db")) -> None:
        self.roots = tuple(path.resolve() for path in directories) or (Path.cwd(),)
        for root in self.roots:
            if not root.is_dir():
                raise WorkspaceError(
                    f"{root}: there is no such directory; give a crawl's directory or a folder of them"
                )
        self.book = book.resolve()
        self.runner = Runner()
        self.lessons = Errands("lycosa.web.learning")
        self.indexing = Errands("lycosa.web.indexing")
        self._found: dict[str, ListedCrawl] = {}
        self._scanned_at = 0.0
        self._watches: OrderedDict[str, Watch] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def nursery(self) -> Path:
        """The folder in which new crawls are made."""
        return next((root for root in self.roots if not Workspace(root).has_crawl), self.roots[0].parent)

    def crawls(self) -> list[ListedCrawl]:
        with self._lock:
            if time.monotonic() - self._scanned_at > RESCAN_AFTER:
                self._found = self._scan()
                self._scanned_at = time.monotonic()
            return list(self._found.values())

    def is_learning(self, crawl: ListedCrawl) -> bool:
        """Whether what people said is being learned; begins what waits."""
        return True in {self.lessons.is_busy(part) for part in crawl.workspace.parts()}  # asks for all of them

    def forget_list(self) -> None:
        """Look for crawls again at the next request."""
        self._scanned_at = 0.0

    def name_of(self, directory: Path) -> str:
        """The name that a crawl in this directory has, or will have when its database is there."""
        for root in self.roots:
            if directory.is_relative_to(root):
                parts = (root.name,) if directory == root else directory.relative_to(root).parts
                return _name(parts)
        return _name((directory.name,))

    def find(self, name: str) -> ListedCrawl | None:
        """A crawl by its name; names lead to directories that were found, never to a path that somebody writes."""
        self.crawls()
        return self._found.get(name)

    def watch(self, crawl: ListedCrawl) -> Watch:
        with self._lock:
            watch = self._watches.get(crawl.id)
            if watch is None:
                watch = self._watches[crawl.id] = Watch(crawl.workspace)
            self._watches.move_to_end(crawl.id)
            while len(self._watches) > MOST_WATCHED:
                self._watches.popitem(last=False)
            return watch

    def _scan(self) -> dict[str, ListedCrawl]:
        found: dict[str, ListedCrawl] = {}
        for root in self.roots:
            for directory in _directories(root):
                name = _name((root.name,) if directory == root else directory.relative_to(root).parts)
                number = 1
                while name in found and found[name].workspace.directory != directory:
                    number += 1
                    name = f"{name.removesuffix(f'-{number - 1}')}-{number}"
                found[name] = ListedCrawl(name, Workspace(directory))
        return found


def _name(parts: Sequence[str]) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", ".".join(parts)).strip("-.") or "crawl"


def _directories(root: Path) -> Iterator[Path]:
    """Crawls at and below a folder, in alphabetical order."""
    level, seen = [root], 0
    for _ in range(DEEPEST + 1):
        below: list[Path] = []
        for folder in level:
            seen += 1
            if seen > MOST_FOLDERS:
                return
            if Workspace(folder).has_crawl:
                yield folder
                continue
            try:
                inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
            except OSError:
                continue
            below += [path for path in inside if not path.name.startswith(".")]
        level = below
