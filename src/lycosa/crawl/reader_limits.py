"""What a reader process may not do: outlive the crawl, and take more than its share of processor and memory.

The crawl kills a reader that takes too long, but a crawl that was itself killed, or stopped, cannot. So the system
ends a reader when its parent ends, and when it has spent more processor time on a page than the time limit for pages.
What a large page needed is given back to the system: a reader lives for days, and meets many.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1
LOOK_EVERY = 1.0
"""Seconds between two looks at the parent, where the system does not tell."""


def die_with_parent(parent: int) -> None:
    """From now on this process ends when `parent` does."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        is_told = libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) == 0
    else:
        is_told = False
    if os.getppid() != parent:  # it ended before we could ask to be told
        os._exit(1)
    if not is_told:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    """Does not help while a parser written in C holds the interpreter."""
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    os._exit(1)


def processor_time(pid: int) -> float:
    """Seconds of processor time that a process has used; where the system does not tell, seconds that have passed."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return time.monotonic()


class ProcessorTime:
    """The limit that the system keeps for this process: beyond it, SIGXCPU ends it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._limit = 0

    def allow(self) -> None:
        """From now on, `seconds` more of processor time."""
        limit = math.ceil(time.process_time() + self._seconds) + 1
        if limit == self._limit:  # which is in whole seconds, while a page takes milliseconds
            return
        self._limit = limit
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        with contextlib.suppress(ValueError, OSError):  # somebody has set a lower limit for all of us
            resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
