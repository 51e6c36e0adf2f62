"""The loops over all evidence: compiled with the package, where there was a compiler; or else by numba, where that is
installed; or else as they are, in Python.

All do the same operations in the same order, and give the same bits; `sums` and `features` are the reference. numba
takes most of a second to load, in every process that crawls; Python takes some milliseconds for each page.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from lycosa.lib import native

IN_SUMS = ("visit", "restate", "count_words", "tell_hubs")
IN_FEATURES = ("look", "keep", "score", "score_again", "hand_on", "tell", "predict")


@cache
def loops() -> Any:
    return native.load("lycosa.strategies.hunter._loops") or twins()


@cache
def twins() -> Any:
    from lycosa.strategies.hunter import features, sums  # when it is needed: numba takes long to load

    found = {name: getattr(sums, name) for name in IN_SUMS} | {name: getattr(features, name) for name in IN_FEATURES}
    return SimpleNamespace(**found)
