"""Loops over arrays as machine code (numba), kept beside the source for the next start.

Where neither that place nor a user's cache can be written, a function is compiled at each start instead: a few seconds.
numba takes half a second to load, so what uses this is imported when it is needed. What is kept is made anew when the
file of the function changes, not when a constant that it imports does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Any:
    """Compiled on first call. No bounds are checked: callers answer for every index."""
    return _compiled(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The same, pasted into its callers."""
    return _compiled(function, inline="always")


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    try:
        return numba.njit(function, cache=True, nogil=True, error_model="numpy", **options)
    except RuntimeError:  # nowhere to keep it
        return numba.njit(function, nogil=True, error_model="numpy", **options)
