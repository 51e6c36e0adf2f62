"""Documents as vectors of weighted words and bi-grams, and their vocabulary.

    weight(t, d) = (1 + ln tf(t, d)) · (ln((1 + N) / (1 + df(t))) + 1),    then each vector is scaled to length 1

Words are those of `page.terms`. Bi-grams (paper GA, section 2: "features are words or bi-grams") are pairs of stems
that follow each other once stop words are removed, from the title and the beginning of the text: that is where a page
says what it is about, and a page of half a million words costs no more than one of two hundred. Pages of recorded
worlds have no text but its first stems (`Page.lead`); if most examples have neither, there are no bi-grams.

Memory while learning is bounded: when the number of distinct terms exceeds `_SLACK` times the vocabulary, those found
in only one document are forgotten (a rare term may thus lose some of its count, a common one cannot).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, repeat
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.classifier import Example
from lycosa.judges.labels import Labels
from lycosa.judges.saved_arrays import AnyArray, array_to_lines, lines_to_array, require
from lycosa.lib.extras import required
from lycosa.lib.text import stems
from lycosa.model import Page

_SLACK = 8
_CHARACTERS = 10
"""Characters of text read for each word that bi-grams are made of: more than words and stop words take up."""


class Vector(NamedTuple):
    columns: NDArray[np.int64]
    values: NDArray[np.float32]


class TermSpace:
    """The column and the weight of each term."""

    def __init__(self, terms: Sequence[str], idf: NDArray[np.float32], *, bigram_window: int) -> None:
        self.terms = terms
        self.idf = idf
        self.bigram_window = bigram_window
        """Number of words at a page's beginning that bi-grams are made of; 0: no bi-grams."""
        self._columns = {term: column for column, term in enumerate(terms)}

    def __len__(self) -> int:
        return len(self.terms)

    def vector(self, page: Page) -> Vector:
        """Of length 1, or empty if the page has no known term."""
        terms = page.terms
        columns = np.fromiter(map(self._columns.get, terms, repeat(-1)), np.int64, len(terms))
        counts = np.fromiter(terms.values(), np.float32, len(terms))
        is_known = columns >= 0
        columns, counts = columns[is_known], counts[is_known]
        if self.bigram_window:
            pairs, pair_counts = self._bigrams(page)
            columns, counts = np.concatenate([columns, pairs]), np.concatenate([counts, pair_counts])
        values = (np.log(np.maximum(counts, 1)) + 1) * self.idf[columns]
        length = np.sqrt(values @ values)
        return Vector(columns, values / length if length else values)

    def _bigrams(self, page: Page) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        # Few bi-grams of a page are in the vocabulary: a loop over those is faster than arrays of all.
        column_of = self._columns.get
        found = Counter(
            [column for pair in bigrams_of(page, self.bigram_window) if (column := column_of(pair, -1)) >= 0]
        )
        return np.array([*found.keys()], np.int64), np.array([*found.values()], np.float32)

    def matrix(self, vectors: Iterable[Vector]) -> Any:
        """A `scipy.sparse.csr_array` with a row for each vector."""
        # Here, as it loads slowly and only training needs it.
        sparse = required("scipy.sparse", extra="learn", what="training this kind of judge")
        data, indices, indptr = array("f"), array("i"), array("i", [0])
        for vector in vectors:
            data.frombytes(vector.values.tobytes())
            indices.frombytes(vector.columns.astype(np.int32).tobytes())
            indptr.append(len(data))
        arrays = (np.array(data, np.float32), np.array(indices, np.int32), np.array(indptr, np.int32))
        return sparse.csr_array(arrays, shape=(len(indptr) - 1, len(self)))

    def to_arrays(self) -> dict[str, AnyArray]:
        return {"terms": lines_to_array(self.terms), "idf": self.idf, "bigram_window": np.array(self.bigram_window)}

    ARRAYS = ("terms", "idf", "bigram_window")

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        terms = array_to_lines(arrays["terms"])
        idf = arrays["idf"].astype(np.float32)
        require(idf.shape == (len(terms),) and bool(np.isfinite(idf).all()), "idf")
        require(arrays["bigram_window"].shape == (), "bigram_window")
        return cls(terms, idf, bigram_window=int(arrays["bigram_window"]))


def labelled(space: TermSpace, examples: Iterable[Example], labels: Labels) -> Iterator[Vector]:
    """The vector of each distinct document that has a known term; its topics are added to `labels`."""
    for page, topics in examples:
        vector = space.vector(page)
        if len(vector.columns) and labels.add(page, topics):
            yield vector


def bigrams_of(page: Page, window: int) -> Iterable[str]:
    """Pairs of neighbouring stems, in order, from the first `window` words that are not stop words."""
    return map(" ".join, pairwise(page.lead[:window] or lead_of(page, window)))


def lead_of(page: Page, window: int) -> list[str]:
    """The first `window` stems of title and text, in order, from as many characters as these usually take."""
    characters = window * _CHARACTERS
    return stems(f"{page.title[:characters]}\n{page.content[:characters]}", language=page.stemmed_in)[:window]


def vocabulary(
    pages: Iterable[Page],
    *,
    words: int,
    bigrams: int = 0,
    bigram_window: int = 0,
    least_words: int = 1,
    least_bigrams: int = 1,
) -> TermSpace:
    """The most frequent terms that occur in enough documents; ties are broken alphabetically.

    `words` and `bigrams` are the largest numbers of each, `least_…` those of the documents they must occur in.
    """
    limits, window = (words, bigrams), bigram_window if bigrams else 0
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    documents = with_text = 0
    for page in pages:
        documents += 1
        with_text += bool(page.content or page.lead)
        counts[0].update(page.terms.keys())
        if window:
            counts[1].update(set(bigrams_of(page, window)))
        for found, limit in zip(counts, limits, strict=True):
            if len(found) > _SLACK * max(limit, 1000):
                for term in [term for term, count in found.items() if count == 1]:
                    del found[term]
    if 2 * with_text < documents:
        window = 0
    chosen: list[tuple[str, int]] = []
    for found, limit, least in zip(counts, limits, (least_words, least_bigrams), strict=True):
        # A line break would split the term when the vocabulary is saved. Stems have none, but may be given.
        frequent = [item for item in found.items() if item[1] >= least and "\n" not in item[0]]
        if found is counts[0] or window:
            chosen += sorted(frequent, key=lambda item: (-item[1], item[0]))[:limit]
    frequencies = np.array([count for _, count in chosen], np.float64)
    idf = np.log((1 + documents) / (1 + frequencies)) + 1
    return TermSpace([term for term, _ in chosen], idf.astype(np.float32), bigram_window=window)
