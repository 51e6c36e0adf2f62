"""What is kept in JOBDIR from one run to the next: the waiting requests, and all that the hunter knows.

    JOBDIR/lycosa/requests*    the requests, by Scrapy's own SCHEDULER_DISK_QUEUE
    JOBDIR/lycosa/knowledge    the hunter (`lib.snapshot`): no code is run to read it
    JOBDIR/lycosa/job.json     which topic and version it is of, and the SHA-256 of `knowledge`

As with Scrapy's own scheduler it is written when a job is stopped (Ctrl-C once), and what is written replaces what was
there when it is complete.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scrapy import Request

from lycosa import __version__
from lycosa.errors import InputError
from lycosa.lib.snapshot import Damaged, Tree, read, write

NUMBER = "lycosa_link"
"""Key in the meta of a stored request: the number of its link; 0 if it has none."""
FORMAT = 1


class Job:
    def __init__(self, directory: Path, settings: Mapping[str, Any], new_queue: Callable[[str], Any]) -> None:
        """`settings`: what the hunter's knowledge depends on, as JSON knows it; `new_queue`: a disk queue at a path."""
        self._directory = directory / "lycosa"
        self._settings = {"format": FORMAT, "version": __version__, **settings}
        self._new_queue = new_queue

    def knowledge(self) -> Tree | None:
        """What was known when the job was stopped; None if it begins."""
        named = self._directory / "job.json"
        if not named.exists():
            return None
        try:
            job = json.loads(named.read_text(encoding="utf-8"))
            before = dict(job["settings"])
            self._refuse_others(before)
            return read(self._directory / "knowledge", str(job["sha256"]))
        except (OSError, ValueError, KeyError, TypeError, Damaged) as error:
            raise InputError(
                f"{self._directory}: this job cannot be resumed: {error}; choose another JOBDIR"
            ) from error

    def _refuse_others(self, before: Mapping[str, Any]) -> None:
        for name, value in self._settings.items():
            if before.get(name) != value:
                raise ValueError(f"it was begun with {name} {before.get(name)!r}, and is to go on with {value!r}")

    def requests(self) -> Iterator[tuple[int, Request]]:
        """The requests that waited, with the numbers of their links. They stay on disk until the job is saved again."""
        copy = self._directory.with_name("lycosa.reading")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self._directory, copy)  # popping removes them
        queue = self._new_queue(str(copy / "requests"))
        try:
            while (request := queue.pop()) is not None:
                yield int(request.meta.pop(NUMBER, 0)), request
        finally:
            queue.close()
            shutil.rmtree(copy, ignore_errors=True)

    def save(self, knowledge: Tree, requests: Iterable[tuple[int, Request]]) -> list[Request]:
        """Write all of it; return the requests that cannot be written: their callbacks are no methods of the spider."""
        draft = self._directory.with_name("lycosa.part")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        left_out = []
        queue = self._new_queue(str(draft / "requests"))
        for number, request in requests:
            try:
                queue.push(request.replace(meta={**request.meta, NUMBER: number}))
            except ValueError:
                left_out.append(request)
        queue.close()
        sha256 = write(draft / "knowledge", knowledge)
        job = {"settings": self._settings, "sha256": sha256}
        (draft / "job.json").write_text(json.dumps(job, indent=1), encoding="utf-8")
        old = self._directory.with_name("lycosa.old")
        shutil.rmtree(old, ignore_errors=True)
        if self._directory.exists():
            self._directory.rename(old)
        draft.rename(self._directory)
        shutil.rmtree(old, ignore_errors=True)
        return left_out
