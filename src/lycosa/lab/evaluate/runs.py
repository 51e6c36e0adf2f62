"""The data of an evaluation: what was crawled, what is true, and the scores.

    Run + Truth + Terms ── measure ──▶ Scores (one topic) ── many topics ──▶ Comparison ── summary, report

Everything is an array over pages, in the order of fetching or by the page's number in its world. A `Run` is what one
crawl did; a `Truth` is what is known of the world for one topic, and never shown to a strategy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lab.generated.graph import gather

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
Fingerprints = NDArray[np.uint64]

RANDOM, LOOK_AHEAD, ORACLE = "random", "look-ahead", "oracle"
BOUNDS = (RANDOM, LOOK_AHEAD, ORACLE)
"""Orders that are not strategies: the two bounds of a comparison, and an oracle that knows less (`lab.replay`)."""
NEAR_BITS = 3
"""Near-duplicates have fingerprints that differ in at most this many bits (Manku, Jain and Das Sarma 2007)."""


class Terms(NamedTuple):
    """Term counts of all pages of a world: page p has indices[offsets[p]:offsets[p + 1]], each once."""

    counts: Ints
    indices: Ints
    offsets: Ints
    width: int
    """Size of the vocabulary."""


class TermVector(NamedTuple):
    """Term counts of one text, in the vocabulary of a `Terms`."""

    counts: Ints
    indices: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One crawl of one strategy for one topic; the arrays have one entry per fetched page, in order."""

    strategy: str
    topic: str
    repeat: int
    pages: Ints
    """Numbers of the pages in their world; no page occurs twice."""
    relevance: Floats
    """As judged, in [0, 1]."""
    distance: Ints
    """Links from the nearest seed, on the shortest way."""
    cpu: Floats
    """Seconds used by the strategy alone, up to and including each page."""
    frontier: Ints
    """Links waiting after each page."""
    seeds: Ints
    given: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Pages of the topic that the crawl was given (seeds at distance 0, examples): fetching them does not count."""

    def __post_init__(self) -> None:
        lengths = {len(part) for part in (self.pages, self.relevance, self.distance, self.cpu, self.frontier)}
        if len(lengths) > 1:
            raise ValueError(f"the arrays of a run differ in length: {sorted(lengths)}")


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What is known of a world for one topic, by page."""

    topic: str
    relevant: Bools
    """By label."""
    targets: Bools
    description: TermVector
    hosts: Ints
    fingerprints: Fingerprints
    """64-bit simhashes; 0 where a page has no text."""
    link_offsets: Ints
    """The links of page p are link_targets[link_offsets[p]:link_offsets[p + 1]], each once."""
    link_targets: Ints


class CrawledTask(NamedTuple):
    """The crawls of one repeat of a topic, page by page."""

    seeds: Ints
    given: Ints
    """Pages of the topic that the crawls were given: not in their truth."""
    ways: Mapping[str, Ints]
    """By strategy: the pages fetched, in order."""


class Skipped(NamedTuple):
    """A topic that could not be compared."""

    topic: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Measurements for one topic. Small enough to be sent from a worker process."""

    topic: str
    strategies: tuple[str, ...]
    curves: Mapping[str, Floats32]
    """By metric: strategies × pages, averaged over the repeats."""
    runs: tuple[tuple[str, int], ...]
    """(strategy, repeat) of each row below."""
    fetched: Ints
    """Number of pages each run fetched before its frontier was empty or its budget spent."""
    checkpoints: tuple[int, ...]
    at_checkpoints: Mapping[str, Floats32]
    """By metric: runs × checkpoints."""
    distances: Floats
    """Strategies × links from the seeds: share of the fetched pages."""
    relevances: Floats
    """Strategies × equal intervals of judged relevance: share of the fetched pages."""
    overlaps: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)
    """By strategy: curves of `overlap.overlap_of`; empty if no halves of the seeds were crawled from."""
    targets: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """Pages to be found."""
    crawled: tuple[CrawledTask, ...] = ()
    """By repeat."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Strategies on equal terms: the same topics, seeds, pages and buffer."""

    title: str
    about: Mapping[str, str]
    """Facts about the experiment for the report, in order: world, topics, seeds, …"""
    strategies: tuple[str, ...]
    """In the order of the tables; the first that is not a bound is the baseline of the significance stars."""
    scores: Sequence[Scores]
    pages: int
    lower_bound: str = RANDOM
    upper_bound: str = LOOK_AHEAD
    skipped: Sequence[Skipped] = ()
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """What it was made of: code, world, plan, constants (`lab.replay.manifest`)."""

    def __post_init__(self) -> None:
        for scores in self.scores:
            if scores.strategies != self.strategies:
                raise ValueError(f"topic {scores.topic!r} was measured for other strategies: {scores.strategies}")

    @property
    def bounds(self) -> tuple[str, ...]:
        """Names that are not strategies."""
        return tuple(name for name in self.strategies if name in (self.lower_bound, self.upper_bound, ORACLE))

    @property
    def tested(self) -> tuple[str, ...]:
        """Names whose differences are tested: all but those that know the truth."""
        return tuple(name for name in self.strategies if name == self.lower_bound or name not in self.bounds)

    @property
    def overlaps(self) -> dict[str, list[Mapping[str, Floats]]]:
        """By strategy, one entry per topic: curves of `overlap.overlap_of`."""
        found = {name: [s.overlaps[name] for s in self.scores if name in s.overlaps] for name in self.strategies}
        return {name: curves for name, curves in found.items() if curves}

    def means(self, metric: str) -> dict[str, float]:
        """By strategy: the metric after the last page, such as harvest or recall, as the mean over topics."""
        finals = np.mean([scores.curves[metric][:, -1] for scores in self.scores], axis=0)
        return dict(zip(self.strategies, finals.tolist(), strict=True))

    @property
    def baseline(self) -> str:
        return next((name for name in self.strategies if name not in self.bounds), self.strategies[0])


def rows_of(offsets: Ints, rows: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the entries of these rows of a compressed matrix, and for each entry the index in `rows`."""
    starts = np.asarray(offsets[rows], dtype=np.int64)
    lengths = np.asarray(offsets[np.asarray(rows) + 1], dtype=np.int64) - starts
    return gather(starts, lengths), np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
