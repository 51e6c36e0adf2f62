"""The hunter's predictions for the pages it visited, and their results, for `stopping.forecast`."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.snapshot import Tree
from lycosa.stopping.forecast import History, Waiting
from lycosa.strategies.hunter.evidence import Evidence


class Predictions:
    def __init__(self) -> None:
        self._expected = array("d")
        self._is_relevant = array("b")
        self._met = array("q")
        self._tries = array("q")

    def add(self, *, expected: float, is_relevant: bool, met: int, tried: int) -> None:
        """Add a visit. `expected` is NaN for seeds; `met` is the number of links found before it, `tried` the number
        handed out according to the notes."""
        self._expected.append(expected)
        self._is_relevant.append(is_relevant)
        self._met.append(met)
        self._tries.append(tried)

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`."""
        return {
            "expected": np.array(self._expected, dtype=np.float64),
            "is_relevant": np.array(self._is_relevant, dtype=np.bool_),
            "met": np.array(self._met, dtype=np.int64),
            "tries": np.array(self._tries, dtype=np.int64),
        }

    def load(self, saved: Tree) -> None:
        self._expected = array("d", saved["expected"].astype(np.float64).tobytes())
        self._is_relevant = array("b", saved["is_relevant"].astype(np.int8).tobytes())
        self._met = array("q", saved["met"].astype(np.int64).tobytes())
        self._tries = array("q", saved["tries"].astype(np.int64).tobytes())

    def history(self, evidence: Evidence, is_relevant: NDArray[np.bool_] | None = None) -> History:
        """`is_relevant`: what is known by now of each page; None: as when it was added."""
        links = evidence.pages.link[1 : evidence.count + 1].astype(np.int64)
        return History(
            np.array(self._expected),
            np.array(self._is_relevant if is_relevant is None else is_relevant, dtype=np.float64),
            np.searchsorted(self._met, links, side="right"),
            evidence.links.cited[links].astype(np.int64),
            np.array(self._tries, dtype=np.int64),
        )

    def waiting(self, evidence: Evidence, links: NDArray[np.int64], expected: NDArray[np.float32]) -> Waiting:
        return Waiting(
            expected.astype(np.float64),
            np.searchsorted(self._met, links, side="right"),
            evidence.links.cited[links].astype(np.int64),
        )
