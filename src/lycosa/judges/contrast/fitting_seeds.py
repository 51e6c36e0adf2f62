"""Which seeds of a crawl are examples of its topic, if the topic is given in words.

Seeds may be examples, or just places to start from, such as a directory page. A seed fits if the words alone find it
relevant; one that resembles a fitting seed is akin. If half of the seeds fit, those and their kin are examples.
Otherwise none is: a few mere starting points fit by chance, and taking those as examples leads a crawl astray. Share
of the way from random to oracle on development topics, with any fitting seed as an example → only if half of them fit:

    seeds two links before the topic    .28 → .84 generated web, .52 → .64 wikispeedia
    seeds on the topic                  .87 → .83 wikispeedia, .46 → .35 debian-docs, few of whose pages contain their
                                        topic's own words

To fit the words means little where most pages do, as on the site of one discipline. Pages on one topic are also more
alike than unrelated ones, and seeds that fit must be: their coherence (`two_topics`) is 1.3 to 15 on the topic, and 1.0
to 1.4 off it, once 2.3 (31 crawls for development topics whose seeds fit). Seeds off the topic: four crawls of 40 for
development topics find more, one by .67 of the way, none less; but the minimum was chosen by these very crawls. Seeds
on it, and 46 crawls for test topics with seeds off it: no crawl changes. Tried instead: that seeds fit better than the
crawl's other pages do. That helps as much off the topic, but a crawl from seeds on it soon has just such pages (webs of
one subject .69 → .60).
"""

from __future__ import annotations

from lycosa.judges.contrast.page_vector import PageVector, cosine, vectors_loaded, vectors_taken
from lycosa.judges.contrast.two_topics import coherence
from lycosa.lib.snapshot import Tree

FITTING = 0.2
"""Minimum relevance, by the words alone, of a seed that fits: about a third of the score of a page that contains each
of them four times. 61 to 72 in a hundred pages on wikispeedia's development topics reach it, 5 to 7 of others."""
KIN = 0.12
"""Minimum cosine of seeds that resemble each other: 82 in a hundred pairs on one topic have it, 10 on different."""
MIN_FITTING_SHARE = 0.5
MAX_FITTING = 40
"""Maximum number of fitting seeds that others are compared with."""
MIN_COHERENCE = 1.3
"""Of the fitting seeds, if they are several."""


class FittingSeeds:
    """The seeds added so far, by page number."""

    def __init__(self) -> None:
        self.akin: list[int] = []
        """Seeds that fit, or resemble one that does."""
        self._count = 0
        self._fitting_count = 0
        self._are_alike = True
        """Whether the fitting seeds are; so is a single one."""
        self._fitting: list[PageVector] = []
        self._strangers: dict[int, PageVector] = {}

    @property
    def are_examples(self) -> bool:
        return self._do_fit and self._are_alike

    @property
    def are_in_doubt(self) -> bool:
        """Whether they fit the words, but are no more alike than unrelated pages."""
        return self._do_fit and not self._are_alike

    @property
    def _do_fit(self) -> bool:
        return self._fitting_count >= MIN_FITTING_SHARE * self._count

    def add(self, number: int, seed: PageVector, *, relevance: float) -> None:
        """`relevance` is by the words alone."""
        self._count += 1
        if relevance < FITTING:
            if any(cosine(seed, fitting) >= KIN for fitting in self._fitting):
                self.akin.append(number)
            else:
                self._strangers[number] = seed
            return
        self._fitting_count += 1
        self.akin.append(number)
        if len(self._fitting) < MAX_FITTING:
            self._fitting.append(seed)
            self._are_alike = len(self._fitting) == 1 or coherence(self._fitting) >= MIN_COHERENCE
            found = [other for other, stranger in self._strangers.items() if cosine(seed, stranger) >= KIN]
            self.akin += found
            for other in found:
                del self._strangers[other]

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`."""
        return {
            "akin": list(self.akin),
            "counts": [self._count, self._fitting_count],
            "are_alike": self._are_alike,
            "fitting": vectors_taken(self._fitting),
            "strange": list(self._strangers),
            "strangers": vectors_taken(self._strangers.values()),
        }

    def load(self, saved: Tree) -> None:
        self.akin = saved["akin"]
        self._count, self._fitting_count = saved["counts"]
        self._are_alike = saved["are_alike"]
        self._fitting = vectors_loaded(saved["fitting"])
        self._strangers = dict(zip(saved["strange"], vectors_loaded(saved["strangers"]), strict=True))
