"""One process with all its children: how long it took, how much CPU, how much memory at its peak."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

INTERVAL = 0.05
"""Seconds between two looks at the memory."""
LOOKS_PER_CENSUS = 10
"""Looking for new children goes through all processes of the machine: not at every look."""


@dataclass(frozen=True, slots=True)
class Usage:
    seconds: float
    """From start to end, imports and all."""
    cpu: float
    """Seconds of CPU, user and system, of the process and the children it waited for."""
    peak: int
    """Bytes: the greatest sum of resident sizes met. Pages that processes share count for each of them."""
    child: int
    """Bytes: the greatest mean share of memory of its children (PSS): what n processes share counts for an nth."""
    output: str
    problem: str
    """Why it did not end well; empty if it did."""


def run(command: Sequence[str], *, scratch: Path, longest: float) -> Usage:
    """Run to the end, or until `longest` seconds are over."""
    output, errors = scratch / "stdout", scratch / "stderr"
    with output.open("wb") as out, errors.open("wb") as err:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        memory = _MemoryWatch(process.pid, longest=longest)
        memory.start()
        # Popen.wait would throw the account away; this one speaks for waited-for children as well.
        _, status, account = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        memory.end()
    problem = ""
    if memory.is_overdue:
        problem = f"ended by us after {longest:g} s"
    elif process.returncode:
        said = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        problem = f"exit code {process.returncode}: {said[-1] if said else 'no message'}"
    return Usage(
        seconds=seconds,
        cpu=account.ru_utime + account.ru_stime,
        peak=memory.peak,
        child=memory.child,
        output=output.read_text(encoding="utf-8", errors="replace"),
        problem=problem,
    )


class _MemoryWatch(threading.Thread):
    """Looks at the resident sizes again and again."""

    def __init__(self, pid: int, *, longest: float) -> None:
        super().__init__(daemon=True)
        self._root = psutil.Process(pid)
        self._due = time.monotonic() + longest
        self._is_over = threading.Event()
        self.peak = self.child = 0
        self.is_overdue = False

    def run(self) -> None:
        family = [self._root]
        looks = 0
        while not self._is_over.wait(INTERVAL):
            try:
                if looks % LOOKS_PER_CENSUS == 0:
                    family = [self._root, *self._root.children(recursive=True)]
                    shares = [_share(process) for process in family[1:]]
                    self.child = max(self.child, sum(shares) // max(1, len(shares)))
                if time.monotonic() > self._due:
                    self.is_overdue = True
                    self._root.kill()
            except psutil.NoSuchProcess:
                continue
            looks += 1
            self.peak = max(self.peak, sum(map(_resident, family)))

    def end(self) -> None:
        self._is_over.set()
        self.join()


def _share(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
