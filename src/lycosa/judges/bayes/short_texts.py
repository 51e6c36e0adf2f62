"""How well a few words fit each topic: the anchor of a link, the words of a URL, a heading.

The features of naive Bayes are the words that tell topics apart on whole pages; most words of an anchor are none of
them, and of those that are, each decides alone, by counts that may be small. So short texts have a table of their own:
all words that several examples contain, and how often they occur in the examples of each topic. With n(c,t) the
occurrences of a word in the examples at or below a topic, n(t) those in all examples, and π(c) the topic's share of the
examples,

    share(c,t) = (n(c,t) + m·π(c)) / (n(t) + m)
    z(c,d) = Σ_t logit share(c,t) − logit π(c)                    over the different words of the text
    fit = σ(logit π(c) + (slope · z + shift · n(d)) / n(d)^α)

A word seen a few times says little beyond what is likely anyway, and a text without a known word says π(c). Slope,
shift and α are fitted to the titles of the examples, each scored as if its own page had not been counted, which these
counts allow exactly: a title is what an anchor that leads to the page would say. Of a page without a title its first
words are taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.bayes.features import CONTAINING, WEIGHT, Pairs, best, term_weights
from lycosa.judges.bayes.tree import Tree
from lycosa.judges.calibration import logistic_fit, sigmoid
from lycosa.judges.saved_arrays import array_to_lines, lines_to_array
from lycosa.lib.text import term_counts
from lycosa.model import Page

Floats = NDArray[np.float64]

MOST_WORDS = 60_000
LEAST_DOCUMENTS = 2
"""Minimum number of examples that contain a word: a word of one page tells of that page."""
PRIOR_WORDS = 3.0
"""m; chosen, like LEAST_DOCUMENTS, on the development topics of `bench/short_texts.py`."""
FIRST_WORDS = 4
_START = (0.7, 0.0)
"""Slope and shift before they are fitted; α is then ½."""
_EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
_PULL = 1.0
_MAX_PAIRS = 100_000
"""Maximum number of pairs of a title and a topic that the curve is fitted to."""


class ScoredTitle(NamedTuple):
    """A title, scored as if its page had not been counted."""

    z: Floats
    words: int
    topics: NDArray[np.int64]
    """Those it belongs to."""


class ShortTexts:
    SAVED = ("short_words", "short_keys", "short_counts", "short_curve")

    def __init__(self, tree: Tree) -> None:
        self._below = tree.below().astype(np.float64)
        self._path = tree.path
        self._width = len(self._below)
        self._row_of: dict[str, int] = {}
        self._keys = np.zeros(0, np.int64)
        """row · width + column of each count, ascending; columns are those of the tree's root."""
        self._counts = np.zeros(0, np.float32)
        self._curve = (0.5, *_START)
        """α, slope, shift."""

    def learn(self, pairs: Pairs, names: Sequence[str]) -> None:
        """Take over the counts of all words; `pairs` have a class for each column of the root."""
        weights = pairs.sums[:, CONTAINING]
        containing = np.bincount(pairs.terms, weights=weights, minlength=len(names)).astype(np.float64)
        words = best(containing, MOST_WORDS)
        words = words[containing[words] >= LEAST_DOCUMENTS]
        row = np.full(len(names), -1, np.int64)
        row[words] = np.arange(len(words))
        is_kept = row[pairs.terms] >= 0
        keys = row[pairs.terms[is_kept]] * self._width + pairs.classes[is_kept]
        order = np.argsort(keys)
        self._keys, self._counts = keys[order], pairs.sums[is_kept, WEIGHT][order]
        self._row_of = {names[number]: at for at, number in enumerate(words.tolist())}

    def derive(self, documents: Floats) -> None:
        """To be called after any change; `documents`: number of examples by column of the root."""
        by_topic = documents @ self._below
        self._prior = by_topic / max(documents.sum(), 1.0)
        is_open = (by_topic > 0) & (self._prior < 1.0)
        # Of a topic without examples, and of one with all of them, words can say nothing.
        safe = np.where(is_open, self._prior, 0.5)
        self._prior_logit = np.where(is_open, np.log(safe / (1.0 - safe)), np.where(by_topic > 0, np.inf, -np.inf))

    def count(self, terms: Mapping[str, int], topics: Iterable[int], sign: int, *, is_damped: bool) -> None:
        """Add (`sign` 1) or remove (−1) an example of these topics, by their numbers in the tree."""
        rows, values = self._known(terms, is_damped=is_damped)
        columns = [self._path[topic][-1][1] for topic in topics]
        keys = np.concatenate([self._keys, *(rows * self._width + column for column in columns)])
        counts = np.concatenate([self._counts, *(sign * values for _ in columns)])
        self._keys, places = np.unique(keys, return_inverse=True)
        summed = np.bincount(places, weights=counts, minlength=len(self._keys)).astype(np.float32)
        self._counts = np.maximum(summed, 0.0)

    def of(self, page: Page) -> Floats:
        """By topic, in [0, 1]; π of a text without known words."""
        rows, _ = self._known(page.terms, is_damped=False)
        if not len(rows):
            return np.array(self._prior)
        return self._fit(self._evidence(self._table(rows)), len(rows))

    def calibrate(self, titles: Sequence[ScoredTitle]) -> None:
        """Fit the curve to the titles of examples."""
        if not titles:
            return
        titles = titles[:: -(-len(titles) * self._below.shape[1] // _MAX_PAIRS)]
        z, lengths = np.array([title.z for title in titles]), np.array([float(title.words) for title in titles])
        is_member = np.zeros(z.shape, np.bool_)
        for row, title in enumerate(titles):
            is_member[row, title.topics] = True
        rows, topics = np.isfinite(z + self._prior_logit).nonzero()
        found = (np.inf, self._curve)
        for exponent in _EXPONENTS:
            divisor = lengths[rows] ** exponent
            columns = np.stack([z[rows, topics] / divisor, lengths[rows] / divisor], axis=1)
            (slope, shift), loss = logistic_fit(
                columns, is_member[rows, topics], offset=self._prior_logit[topics], start=_START, pull=_PULL
            )
            found = min(found, (loss, (exponent, max(slope, 0.0), shift)))
        self._curve = found[1]

    def scored_title(self, page: Page, topics: Sequence[int], *, is_damped: bool) -> ScoredTitle | None:
        """Of an example of these topics, by their numbers in the tree; None if no other page has its words."""
        words = term_counts(page.title, language=page.stemmed_in) or dict(islice(page.terms.items(), FIRST_WORDS))
        own_counts = {word: page.terms.get(word, 0) for word in words}
        rows, own = self._known(own_counts, is_damped=is_damped)
        table = self._table(rows)
        columns = [self._path[topic][-1][1] for topic in topics]
        table[:, columns] = np.maximum(table[:, columns] - own[:, None], 0.0)
        known = table.sum(axis=1) > 0
        if not known.any():
            return None
        members = np.flatnonzero(self._below[columns].any(axis=0))
        return ScoredTitle(self._evidence(table[known]), int(known.sum()), members)

    def _known(self, terms: Mapping[str, int], *, is_damped: bool) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rows of the words that have one, ascending, and their weights."""
        found = sorted((row, times) for term, times in terms.items() if (row := self._row_of.get(term, -1)) >= 0)
        rows = np.array([row for row, _ in found], np.int64)
        return rows, term_weights(np.array([times for _, times in found], np.float32), is_damped=is_damped)

    def _table(self, rows: NDArray[np.int64]) -> Floats:
        """Words × columns of the root: how often."""
        table = np.zeros((len(rows), self._width))
        first = np.searchsorted(self._keys, rows * self._width)
        last = np.searchsorted(self._keys, (rows + 1) * self._width)
        for at, (low, high) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            table[at, self._keys[low:high] % self._width] = self._counts[low:high]
        return table

    def _evidence(self, table: Floats) -> Floats:
        """z by topic."""
        share = (table @ self._below + PRIOR_WORDS * self._prior) / (table.sum(axis=1)[:, None] + PRIOR_WORDS)
        share = share.clip(1e-9, 1.0 - 1e-9)
        logit = np.log(share / (1.0 - share)).sum(axis=0) - len(table) * self._prior_logit
        return np.asarray(np.where(np.isfinite(self._prior_logit), logit, 0.0))

    def _fit(self, z: Floats, words: int) -> Floats:
        exponent, slope, shift = self._curve
        return sigmoid(self._prior_logit + (slope * z + shift * words) / words**exponent)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "short_words": lines_to_array(self._row_of),
            "short_keys": self._keys,
            "short_counts": self._counts,
            "short_curve": np.array(self._curve),
        }

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """ValueError if they are inconsistent."""
        words, keys = array_to_lines(arrays["short_words"]), arrays["short_keys"].astype(np.int64)
        counts, curve = arrays["short_counts"].astype(np.float32), arrays["short_curve"].astype(np.float64)
        is_ascending = not len(keys) or (keys[0] >= 0 and bool((np.diff(keys) > 0).all()))
        if not is_ascending or (len(keys) and keys[-1] >= len(words) * self._width) or counts.shape != keys.shape:
            raise ValueError("the counts for short texts do not fit their words")
        if curve.shape != (3,) or not (np.isfinite(curve).all() and np.isfinite(counts).all()) or (counts < 0).any():
            raise ValueError("the counts and the curve for short texts must be finite numbers")
        self._row_of = {word: row for row, word in enumerate(words)}
        self._keys, self._counts = keys, counts
        self._curve = (float(curve[0]), float(curve[1]), float(curve[2]))
