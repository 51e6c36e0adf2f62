"""The nouns of a topic book: what goes in is counted, what comes out is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Added:
    """What became of examples that were handed in."""

    added: int = 0
    """Documents the book did not have."""
    elsewhere: int = 0
    """Documents it had, now under a further topic."""
    duplicates: int = 0
    """Documents it had under these very topics: nothing changed."""
    empty: int = 0
    """Documents without a word: nothing can be learned from them, and they are not kept."""

    def __add__(self, other: Added) -> Added:
        return Added(
            self.added + other.added,
            self.elsewhere + other.elsewhere,
            self.duplicates + other.duplicates,
            self.empty + other.empty,
        )


class ExampleRow(NamedTuple):
    """An example as it is shown to a person."""

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
    """What `Classifier.save` gave; empty in lists of versions."""
