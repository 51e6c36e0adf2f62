"""The processes that run crawls: `lycosa crawl -o DIR`, each in a session of its own.

A crawl does not end with the dashboard, and whoever comes later with the command line finds the same crawl. Its words
go to `crawl.log` in the crawl's directory.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

from lycosa.errors import InputError, WorkspaceError
from lycosa.workspace import Workspace

MOST_RUNNING = 16
"""Maximum number of crawls that run at once from here."""
LONGEST_END = 20.0
"""Seconds for which the process of a crawl that has stopped is waited for, if the crawl is to go on."""
LOG = "crawl.log"
LAST_WORDS = 2_000
"""Bytes of the log that tell why a crawl did not start."""


class Runner:
    """The processes that were started here. They do not end with this one."""

    def __init__(self) -> None:
        self._processes: dict[Path, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def begin(self, workspace: Workspace, toml: str, *, book: Path) -> None:
        """Start a new crawl with these settings, which become its own."""
        try:
            workspace.directory.mkdir(parents=True, exist_ok=False)
        except OSError as error:
            raise WorkspaceError(f"{workspace.directory}: cannot be made: {error.strerror or error}") from error
        workspace.write_config(toml)
        self.run(workspace, book=book)

    def run(self, workspace: Workspace, *, book: Path, pages: int = 0) -> None:
        """Start a crawl, or let one go on."""
        words = ["crawl", "-o", str(workspace.directory), "--book", str(book)]
        words += ["--set", f"budget.pages={pages}"] if pages else []
        if workspace.has_shards:
            raise InputError(
                f"{workspace.directory.name}: the crawl of a cluster is started where its crawlers are to run: "
                f"lycosa crawl -o {workspace.directory} --cluster {len(workspace.parts())}"
            )
        self._wait_for_end(workspace)
        with self._lock:
            self._reap()
            if len(self._processes) >= MOST_RUNNING:
                raise InputError(f"{MOST_RUNNING} crawls run already: stop one first")
            if workspace.holder() is not None or workspace.directory in self._processes:
                raise InputError(f"{workspace.directory.name}: runs already")
            with (workspace.directory / LOG).open("ab") as log:
                self._processes[workspace.directory] = subprocess.Popen(
                    [sys.executable, "-m", "lycosa", *words],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )

    def _wait_for_end(self, workspace: Workspace) -> None:
        """A crawl that has stopped may go on at once, but its process takes a moment to go, on a busy machine seconds.
        One that has just been started takes a moment to hold its crawl."""
        until = time.monotonic() + LONGEST_END
        while (process := self._processes.get(workspace.directory)) is not None and process.poll() is None:
            if workspace.holder() is not None or time.monotonic() > until:
                return
            time.sleep(0.05)

    def starting(self) -> list[dict[str, str]]:
        """Crawls that were started here and have no database yet; why, if they never will."""
        with self._lock:
            listed = []
            for directory, process in list(self._processes.items()):
                if Workspace(directory).has_crawl:
                    continue
                code = process.poll()
                state = "starting" if code is None else "failed"
                listed.append(
                    {"directory": str(directory), "state": state, "why": last_words(directory) if code else ""}
                )
            return listed

    def _reap(self) -> None:
        for directory, process in list(self._processes.items()):
            if process.poll() is not None and Workspace(directory).has_crawl:
                del self._processes[directory]


def last_words(directory: Path) -> str:
    """The end of the log of a crawl that was started here."""
    try:
        with (directory / LOG).open("rb") as log:
            log.seek(0, 2)
            log.seek(max(0, log.tell() - LAST_WORDS))
            return log.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""


class Errands:
    """What takes longer than a request may, for each crawl by a process of its own, one at a time: `python -m MODULE
    DIRECTORY`."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._processes: dict[Path, subprocess.Popen[bytes]] = {}
        self._waiting: set[Path] = set()
        self._lock = threading.Lock()

    def begin(self, workspace: Workspace) -> None:
        """Begin, or begin again when the present one is over."""
        with self._lock:
            self._waiting.add(workspace.directory)
        self.is_busy(workspace)

    def is_busy(self, workspace: Workspace) -> bool:
        """Whether one is under way; begins one that waits."""
        directory = workspace.directory
        with self._lock:
            process = self._processes.get(directory)
            if process is not None and process.poll() is None:
                return True
            self._processes.pop(directory, None)
            if directory not in self._waiting:
                return False
            self._waiting.discard(directory)
            with (directory / LOG).open("ab") as log:
                self._processes[directory] = subprocess.Popen(
                    [sys.executable, "-m", self._module, str(directory)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            return True


def command_output(*words: str, seconds: float) -> str:
    """What a command of Lycosa prints, run as a process of its own; InputError with its words if it fails."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "lycosa", *words], capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"this takes longer than {seconds:g} s: use the command line, lycosa {words[0]}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it failed without a word"]
        raise InputError(said[-1].removeprefix("lycosa: "))
    return done.stdout.decode("utf-8", "replace")
