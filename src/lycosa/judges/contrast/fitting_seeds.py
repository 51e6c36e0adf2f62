"""Which seeds of a crawl are examples of its topic, if the topic is given in words.

Seeds may be examples, or just places to start from, such as a directory page. A seed fits if the words alone find it
relevant; one that resembles a fitting seed is akin. If half of the seeds fit, those and their kin are examples.
Otherwise none is: a few mere starting points fit by chance, and taking those as examples leads a crawl astray. Share
of the way from random to oracle on development topics, with any fitting seed as an example → only if half of them fit:

    seeds two links before the topic    .28 → .84 generated web, .52 → .64 wikispeedia
    seeds on the topic                  .87 → .83 wikispeedia, .46 → .35 debian-docs, few of whose pages contain their
                                        topic's own words
"""

from __future__ import annotations

from lycosa.judges.contrast.page_vector import PageVector, cosine, vectors_loaded, vectors_taken
from lycosa.lib.snapshot import Tree

FITTING = 0.2
"""Minimum relevance, by the words alone, of a seed that fits: about a third of the score of a page that contains each
of them four times. 61 to 72 in a hundred pages on wikispeedia's development topics reach it, 5 to 7 of others."""
KIN = 0.12
"""Minimum cosine of seeds that resemble each other: 82 in a hundred pairs on one topic have it, 10 on different."""
MIN_FITTING_SHARE = 0.5
MAX_FITTING = 40
"""Maximum number of fitting seeds that others are compared with."""


class FittingSeeds:
    """The seeds added so far, by page number."""

    def __init__(self) -> None:
        self.akin: list[int] = []
        """Seeds that fit, or resemble one that does."""
        self._count = 0
        self._fitting_count = 0
        self._fitting: list[PageVector] = []
        self._strangers: dict[int, PageVector] = {}

    @property
    def are_examples(self) -> bool:
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
            found = [other for other, stranger in self._strangers.items() if cosine(seed, stranger) >= KIN]
            self.akin += found
            for other in found:
                del self._strangers[other]

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`."""
        return {
            "akin": list(self.akin),
            "counts": [self._count, self._fitting_count],
            "fitting": vectors_taken(self._fitting),
            "strange": list(self._strangers),
            "strangers": vectors_taken(self._strangers.values()),
        }

    def load(self, saved: Tree) -> None:
        self.akin = saved["akin"]
        self._count, self._fitting_count = saved["counts"]
        self._fitting = vectors_loaded(saved["fitting"])
        self._strangers = dict(zip(saved["strange"], vectors_loaded(saved["strangers"]), strict=True))
