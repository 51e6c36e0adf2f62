"""Values of a topic book: counts of what was added, rows for display, trained judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from operator import add
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Added:
    """What became of examples that were to be added."""

    added: int = 0
    """Documents the book did not have."""
    elsewhere: int = 0
    """Documents it had, now under a further topic."""
    duplicates: int = 0
    """Documents it had under the same topics: nothing changed."""
    empty: int = 0
    """Documents without a word, which are not kept: nothing can be learned from them."""

    def __add__(self, other: Added) -> Added:
        return Added(*map(add, astuple(self), astuple(other)))


class ExampleRow(NamedTuple):
    id: int
    source: str
    title: str
    language: str
    words: int
    topics: tuple[str, ...]


class TrainedJudge(NamedTuple):
    version: int
    kind: str
    trained_at: float
    settings: Mapping[str, Any]
    report: Mapping[str, Any]
    model: bytes = b""
    """The output of `Classifier.save`; empty in lists of versions."""
