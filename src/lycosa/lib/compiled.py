"""Loops over arrays compiled to machine code by numba, and cached beside the source for the next start.

If neither that directory nor the user's cache is writable, functions are compiled at each start: a few seconds. Loading
numba takes half a second, so modules that use this one are imported only when needed. A cached function is recompiled
when its own file changes, but not when a constant that it imports changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Any:
    """The function, compiled on its first call. Array bounds are not checked: callers must pass valid indices."""
    return _compiled(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The function, compiled and inlined into its callers."""
    return _compiled(function, inline="always")


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    try:
        return numba.njit(function, cache=True, nogil=True, error_model="numpy", **options)
    except RuntimeError:  # no writable cache directory
        return numba.njit(function, nogil=True, error_model="numpy", **options)
