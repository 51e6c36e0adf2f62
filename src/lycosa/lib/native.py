"""Parts of Lycosa that are compiled, if there was a compiler when it was installed.

Every compiled function has a twin in Python that does the same, which is the reference. `LYCOSA_PURE_PYTHON=1` in the
environment goes without compiled parts.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType


def load(name: str) -> ModuleType | None:
    """A compiled module, or None if there is none."""
    if os.environ.get("LYCOSA_PURE_PYTHON"):
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
