"""Which seeds of a crawl are examples of its topic, where words say what the topic is.

Seeds may be examples, or just places to start from, such as a directory page. A seed fits if the words alone find it
relevant; one that resembles a seed that fits is akin. If half of the seeds fit, those and their kin are examples.
Otherwise none is: of places to start from a few fit by chance, and with those for examples a crawl goes astray. Share
of the way from random to oracle on development topics, any seed that fits being an example → half having to fit:

    seeds two links before the topic    .28 → .84 generated web, .52 → .64 wikispeedia
    seeds of the topic                  .87 → .83 wikispeedia, .46 → .35 debian-docs, few of whose pages say their
                                        topic's own words
"""

from __future__ import annotations

from lycosa.judges.contrast.page_vector import PageVector, cosine

FITTING = 0.2
"""A seed fits the words if they alone give it this relevance: about a third of what a page scores that says each of
them four times. Of the pages of wikispeedia's development topics 61 to 72 in a hundred do, of other pages 5 to 7."""
KIN = 0.12
"""Seeds resemble each other from this cosine on: 82 in a hundred pairs of pages of a topic do, 10 of different ones."""
TRUSTED = 0.5
MOST_FITTING = 40
"""Seeds that others are compared with."""


class FittingSeeds:
    """Seeds as they come in, by the numbers of their pages."""

    def __init__(self) -> None:
        self.akin: list[int] = []
        """Those that fit, or resemble one that does."""
        self._count = 0
        self._fitting_count = 0
        self._fitting: list[PageVector] = []
        """The first that fit."""
        self._strangers: dict[int, PageVector] = {}
        """The rest."""

    @property
    def are_examples(self) -> bool:
        return self._fitting_count >= TRUSTED * self._count

    def add(self, number: int, seed: PageVector, *, relevance: float) -> None:
        """`relevance`: by the words alone."""
        self._count += 1
        if relevance < FITTING:
            if any(cosine(seed, fitting) >= KIN for fitting in self._fitting):
                self.akin.append(number)
            else:
                self._strangers[number] = seed
            return
        self._fitting_count += 1
        self.akin.append(number)
        if len(self._fitting) < MOST_FITTING:
            self._fitting.append(seed)
            found = [other for other, stranger in self._strangers.items() if cosine(seed, stranger) >= KIN]
            self.akin += found
            for other in found:
                del self._strangers[other]
