"""Loops over arrays compiled to machine code by numba, and cached beside the source for the next start.

numba is an extra (`lycosa[evolve]`, `lycosa[learn]`). Without it the functions are what they are: Python, with the same
results, a hundred times as slow. Callers for whom that is too slow ask for numba first (`extras`).

If neither that directory nor the user's cache is writable, functions are compiled at each start: a few seconds. Loading
numba takes half a second, so modules that use this one are imported only when needed. A cached function is recompiled
when its own file changes, but not when a constant that it imports changes.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

numba: Any
try:
    numba = import_module("numba")
except ImportError:
    numba = None


def compiled(function: Callable[..., Any]) -> Any:
    """The function, compiled on its first call. Array bounds are not checked: callers must pass valid indices."""
    return _compiled(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The function, compiled and inlined into its callers."""
    return _compiled(function, inline="always")


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    if numba is None:
        return function
    try:
        return numba.njit(function, cache=True, nogil=True, error_model="numpy", **options)
    except RuntimeError:  # no writable cache directory
        return numba.njit(function, nogil=True, error_model="numpy", **options)
