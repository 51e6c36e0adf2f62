"""A run of a crawl from the command line, and the exit code with which it ends.

0     it ended for a reason of its own: a budget, a stop rule, nothing left
1     nobody reads the output any more
2     an error, said in one line
130   interrupted by Ctrl-C, in order or at once; 143 by SIGTERM. The same command goes on
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

from lycosa.cli.terminal import err
from lycosa.results.report import Report

INTERRUPTED, TERMINATED = 130, 143
CODES = {"interrupted by Ctrl-C": INTERRUPTED, "interrupted by SIGTERM": TERMINATED}


def start(run: Callable[[], Report]) -> Report:
    """Run a crawl; a second Ctrl-C ends the process at once."""
    try:
        return run()
    except (asyncio.CancelledError, KeyboardInterrupt):
        err.print("stopped at once; the same command goes on from the last commit")
        sys.exit(INTERRUPTED)


def leave(report: Report) -> None:
    """End the process with a code that says so if the run was interrupted."""
    if code := CODES.get(report.reason):
        sys.exit(code)
