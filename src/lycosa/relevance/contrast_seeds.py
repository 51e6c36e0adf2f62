"""Do the examples of a topic speak of one thing, or of two?

Seeds of two unrelated topics make a judge that knows neither: its weights are the mean of both. So the examples are cut
in two by average linkage of their cosines (words weighed by the shipped table alone), and they are two things if

    each part has two pages or more,
    mean cosine between the parts ≤ APART, and
    mean cosine within the parts ≥ CLOSER · mean cosine between them.

Measured on wikispeedia: of sets of five pages of one topic 2 (development topics) and 3 (the others) in a hundred warn,
mostly of wide topics; of sets of four to eight pages of two topics from different branches of the taxonomy, 63 and 51.
So silence does not say that the seeds are of one thing. Both halves were looked at when the constants were chosen. One
page apart from the rest is not told: it is as often a page with little text as an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.relevance.contrast_vector import PageVector, table_row

APART = 0.085
CLOSER = 2.0
FEWEST = 4
MOST = 40
"""Examples that are looked at."""


class Parting(NamedTuple):
    """The examples by place, in two parts, each with the numbers of the words that tell it from the other."""

    first: list[int]
    second: list[int]
    first_words: NDArray[np.int64]
    second_words: NDArray[np.int64]


def parting(examples: Sequence[PageVector], *, words: int = 200) -> Parting | None:
    """How the examples fall apart; None where they do not."""
    if len(examples) < FEWEST:
        return None
    rows = np.stack([table_row(page) for page in examples[:MOST]])
    cosines = rows @ rows.T
    first, second = _two_parts(cosines)
    if min(len(first), len(second)) < 2:
        return None
    between = float(cosines[np.ix_(first, second)].mean())
    within = (_within(cosines, first) + _within(cosines, second)) / 2
    if between > APART or within < CLOSER * between:
        return None
    contrast = rows[first].mean(axis=0) - rows[second].mean(axis=0)
    order = np.argsort(contrast, kind="stable")
    return Parting(first, second, order[::-1][:words], order[:words])


def _two_parts(cosines: NDArray[Any]) -> tuple[list[int], list[int]]:
    """Average linkage: the two nearest parts become one until two are left."""
    parts = [[place] for place in range(len(cosines))]
    sums = cosines.astype(np.float64)
    while len(parts) > 2:
        sizes = np.array([len(part) for part in parts])
        means = sums / np.outer(sizes, sizes)
        np.fill_diagonal(means, -np.inf)
        into, other = sorted(np.unravel_index(int(means.argmax()), means.shape))
        parts[into] += parts.pop(other)
        sums[into] += sums[other]
        sums[:, into] += sums[:, other]
        sums = np.delete(np.delete(sums, other, 0), other, 1)
    first, second = (sorted(part) for part in parts)
    return first, second


def _within(cosines: NDArray[Any], part: list[int]) -> float:
    inner = cosines[np.ix_(part, part)]
    return float((inner.sum() - np.trace(inner)) / (len(part) * (len(part) - 1)))
