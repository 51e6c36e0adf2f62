"""Memory that was freed goes back to the system.

The C library keeps what is freed in the middle of its heap for later. Arrays of a few megabytes that are copied now and
then, as tables that grow or snapshots of them, leave such room behind all over the heap of a process that lives for
days: in a crawl of 100,000 visits it came to a quarter of the process.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from functools import partial


def memory_returner() -> Callable[[], object]:
    """A function that gives freed memory back to the system; it does nothing where the C library cannot."""
    with contextlib.suppress(AttributeError, OSError):
        trim: Callable[[], object] = partial(ctypes.CDLL(None).malloc_trim, 0)
        return trim
    return lambda: None
