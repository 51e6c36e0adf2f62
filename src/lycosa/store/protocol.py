"""What the crawl asks of a store. Two kinds of use: the crawl writes batches, people read tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lycosa.model import Lease, Visit
from lycosa.store.rows import Batch, HostRow, RobotsRow


class Waiting(NamedTuple):
    """The waiting links as columns, for loading the frontier at once."""

    ids: NDArray[np.int64]
    hosts: NDArray[np.int64]
    scores: NDArray[np.float64]


class Totals(NamedTuple):
    """Where a crawl stands."""

    links: int
    pages: int
    relevant: int
    waiting: int


class Store(Protocol):
    """A crawl's memory. One process writes; `write` is one transaction."""

    path: Path

    def begin_run(self, *, started_at: float, pid: int, version: str, config: str) -> int: ...

    def end_run(self, run: int, *, ended_at: float, stop_reason: str) -> None: ...

    def was_cut_off(self) -> bool:
        """Whether the last run never ended: the process was killed."""
        ...

    def write(self, batch: Batch) -> None: ...

    def leases(self, ids: Sequence[int]) -> list[Lease]:
        """The waiting links with these numbers, in this order."""
        ...

    def url_of(self, link: int) -> str: ...

    def hashes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(hash, id) of every link ever seen."""
        ...

    def fingerprints(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(fingerprint, id) of every page that has text."""
        ...

    def waiting(self) -> Waiting: ...

    def hosts(self) -> Iterator[HostRow]: ...

    def addresses(self) -> dict[str, float]: ...

    def robots(self) -> Iterator[RobotsRow]: ...

    def state(self, name: str) -> bytes | None: ...

    def totals(self) -> Totals: ...

    def visits(self) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
        """All visits to pages in the order of their commits, each with the numbers of its links; pages are light."""
        ...

    def recent_relevance(self, count: int) -> list[tuple[float, bool]]:
        """(relevance, is_relevant) of the last so many pages, oldest first."""
        ...

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Column names and rows of a read-only query."""
        ...

    def close(self) -> None: ...
