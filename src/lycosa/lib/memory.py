"""Memory that was freed goes back to the system; and garbage is looked for less often.

The C library keeps what is freed in the middle of its heap for later. Arrays of a few megabytes that are copied now and
then, as tables that grow or snapshots of them, leave such room behind all over the heap of a process that lives for
days: in a crawl of 100,000 visits it came to a quarter of the process.

Python looks for objects that only refer to each other whenever there are 700 more than it has let go. A page brings
some hundreds, which wait for their transaction and leave without a circle.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections.abc import Callable, Iterator
from functools import partial

GARBAGE = 50_000
"""Objects that are made, beyond those that were let go, before garbage is looked for."""


def memory_returner() -> Callable[[], object]:
    """A function that gives freed memory back to the system; it does nothing where the C library cannot."""
    with contextlib.suppress(AttributeError, OSError):
        trim: Callable[[], object] = partial(ctypes.CDLL(None).malloc_trim, 0)
        return trim
    return lambda: None


@contextlib.contextmanager
def little_garbage() -> Iterator[None]:
    """Meanwhile, garbage is looked for less often, unless somebody has asked for that already."""
    before = gc.get_threshold()
    gc.set_threshold(max(GARBAGE, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
