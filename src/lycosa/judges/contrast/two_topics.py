"""Are the examples of a topic about one thing, or about two?

Seeds on two unrelated topics make a judge that knows neither: its weights are the mean of both. So the examples are cut
in two where they are least alike, and the cut is assessed by cosines (words weighed by the shipped table alone).

How near are unrelated pages? The more words they have, the more they share by chance. Pages of k and k′ words drawn at
random from V have a cosine of √(k·k′)/V, and real pages do: V = 2,700 fits encyclopedia pages of 30 to 400 words, and
newsgroup posts (2,300 to 3,300, by length). With means over pairs of pages,

    β       mean of √(k·k′) / V
    w₁, w₂  mean cosine within each part / β there,    w = 2 / (1/w₁ + 1/w₂)
    b       mean cosine between the parts / β there, at least ¾: anything less is chance
    A       = ln(w / b) + ½ ln(1 / b)

The first term says that each part is nearer to itself than to the other; the second, that the two parts are no nearer
to each other than unrelated pages are: parts of a wide topic are still akin. They are two things if
A · min(1, β / 0.07) ≥ 0.65, as short pages fall apart by chance. A single page apart from the rest is not reported.

The cut: pages are ordered by the leading eigenvector of (cosine − β) / √β, centred. Of the cuts that leave two pages or
more on either side, the one with the largest difference between the means within and between the parts is taken. On the
development topics this does as well as trying all cuts.

Measured with 400 words a page, in sets of 4, 5, 8 and 10 pages. The constants were set on half of wikispeedia's topics
and half of 20 newsgroups, then made a little stricter, as there were too many warnings on the others and debian-docs
(at 0.6, and with single pages reported: 5.8, 2.7 and 16.6 false alarms in a hundred):

    warnings in a hundred sets            wikispeedia           newsgroups           debian-docs
                                          development  others   development  others
    one topic                                 1.1        3.0        1.0        1.7       11.1
    two, on different branches, 2+2 to 8+2   53.5       42.8        1.6        2.9       28.6
    two, on one branch                       30.5       17.8        0.8        3.3

Of the 92 false alarms on wikispeedia's other topics, 68 are in "General history" and "General geography". A topic of
debian-docs is up to six manuals, each on its own host, which do fall apart; of 2,860 sets from one host, one warns. Of
the 342 warnings for two topics on different branches of wikispeedia, 301 draw the line in the right place. Newsgroup
posts are too short: there a warning means next to nothing. So silence does not mean that the seeds are about one thing,
and a warning may mean two sites, or two sides of a wide topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.contrast.page_vector import PageVector, table_row

VOCABULARY = 2700.0
"""V."""
LEAST_BETWEEN = 0.75
"""Minimum of b."""
ENOUGH = 0.07
"""β of pages with enough text."""
PARTED = 0.65
"""Minimum A of two things."""
MIN_EXAMPLES = 4
MAX_EXAMPLES = 40

_Matrix = NDArray[np.float64]
_Mask = NDArray[np.bool_]


class Parting(NamedTuple):
    """Positions of the examples in each part, and the numbers of the words that tell it from the other.

    The first part contains the earliest example; examples without words are in neither.
    """

    first: list[int]
    second: list[int]
    first_words: NDArray[np.int64]
    second_words: NDArray[np.int64]


def coherence(pages: Sequence[PageVector]) -> float:
    """How much nearer pages are to each other than unrelated ones: mean cosine / β; 1 if there are too few to tell."""
    pages = [page for page in pages[:MAX_EXAMPLES] if len(page.words)]
    if len(pages) < 2:
        return 1.0
    rows = np.stack([table_row(page) for page in pages])
    everyone = np.ones(len(pages), dtype=np.bool_)
    return _mean_within((rows @ rows.T).astype(np.float64), everyone) / _mean_within(_chance(pages), everyone)


def parting(examples: Sequence[PageVector], *, words: int = 200) -> Parting | None:
    """How the examples fall apart; None if they do not."""
    places = np.array([place for place, page in enumerate(examples[:MAX_EXAMPLES]) if len(page.words)], dtype=np.int64)
    if len(places) < MIN_EXAMPLES:
        return None
    rows = np.stack([table_row(examples[place]) for place in places])
    cosines = (rows @ rows.T).astype(np.float64)
    chance = _chance([examples[place] for place in places])
    part = _weakest_cut(cosines, chance)
    sureness = min(_mean_within(chance, np.ones(len(chance), dtype=np.bool_)) / ENOUGH, 1.0)
    if _apartness(cosines, chance, part) * sureness < PARTED:
        return None
    if not part[0]:
        part = ~part
    contrast = rows[part].mean(axis=0) - rows[~part].mean(axis=0)
    order = np.argsort(contrast, kind="stable")
    return Parting(places[part].tolist(), places[~part].tolist(), order[::-1][:words], order[:words])


def _chance(pages: Sequence[PageVector]) -> _Matrix:
    """√(k·k′) / V for each pair."""
    roots = np.sqrt([len(page.words) for page in pages])
    chance: _Matrix = np.outer(roots, roots) / VOCABULARY
    return chance


def _weakest_cut(cosines: _Matrix, chance: _Matrix) -> _Mask:
    nearness = (cosines - chance) / np.sqrt(chance)
    everyone = np.ones(len(nearness), dtype=np.bool_)
    np.fill_diagonal(nearness, _mean_within(nearness, everyone))  # a page's nearness to itself means nothing
    means = nearness.mean(axis=0)
    order = np.linalg.eigh(nearness - means - means[:, None] + means.mean())[1][:, -1].argsort(kind="stable")
    cuts = [np.isin(np.arange(len(order)), order[:size]) for size in range(2, len(order) - 1)]
    return max(cuts, key=lambda part: _separation(nearness, part))


def _separation(nearness: _Matrix, part: _Mask) -> float:
    """How much nearer pages are within the parts than between them."""
    pairs = [int(side.sum()) * (int(side.sum()) - 1) for side in (part, ~part)]
    within = np.average([_mean_within(nearness, part), _mean_within(nearness, ~part)], weights=pairs)
    return float(within - nearness[np.ix_(part, ~part)].mean())


def _apartness(cosines: _Matrix, chance: _Matrix, part: _Mask) -> float:
    """A, see the module."""
    by_chance = float(chance[np.ix_(part, ~part)].mean())
    between = max(float(cosines[np.ix_(part, ~part)].mean()) / by_chance, LEAST_BETWEEN)
    within = [_mean_within(cosines, side) / _mean_within(chance, side) for side in (part, ~part)]
    if min(within) <= 0.0:
        return 0.0
    mean = 2.0 / sum(1.0 / each for each in within)
    return float(np.log(mean / between) - np.log(between) / 2)


def _mean_within(pairs: _Matrix, part: _Mask) -> float:
    """Mean over pairs of different pages."""
    inner = pairs[np.ix_(part, part)]
    return float((inner.sum() - np.trace(inner)) / (len(inner) * (len(inner) - 1)))
