"""How sure a verdict is that rests on words alone.

Without examples, the two groups that `mixture` finds may be anything: pages on the topic and pages off it, or pages
that use its words for two other things. Whether they are what they should be shows in something else that was not used
to find them. With the meaning of pages (`judges.meaning`), that is how far apart the groups are in it; without, how far
apart they are in what the person's words alone say (z₁). With odds as the mixture has them, z₂ from the study, and
means over all pages, each counted in a group as likely as it belongs there,

    g      = (mean of the group on the topic − mean of the other) / spread
    trust  = g − 0.6 for meaning, g − 1 for z₁, kept within 0 and 1
    logit P(topic) = a + trust · b · odds + c · z₂ + d · cosine                    odds kept within ±4

So an unconfirmed split says nothing, and what is left is z₂ and the cosine, by which few pages are likely; a confirmed
one says how many pages are on the topic, from one of a hundred to nearly all.

a to d are by logistic regression on the pages of 50 crawls for development topics of wikispeedia and webs of one
subject, and of draws of any prevalence (`bench/trust.py`) from development topics of wikispeedia and a generated web,
each crawl and draw with the same weight. With one web left out, on its crawls, before → without meaning, with it:

                 AUC                    calibration error     precision             recall
    wikispeedia  .779 → .806, .870      .20 → .13, .09        .29 → .31, .43        .51 → .30, .27
    one subject  .689 → .749, .761      .20 → .14, .12        .40 → .50, .45        .42 → .26, .26

Of six definitions of trust by meaning and three by z₁ (differences of cosines, other bounds), with and without trust as
a summand, these were taken by the same figures, which are therefore a little too good. By meaning the others have AUCs
within .005 and recalls of .17 to .28
on wikispeedia; by z₁, AUCs of .74 to .82 there. A regression without trust has an AUC of .881 on wikispeedia, but calls
.64 relevant where .95 are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.contrast.by_meaning import UsualMeaning

MOST_ODDS = 4.0
LEAST_SPREAD = 0.02
"""Of z₁."""

Values = NDArray[np.float64]


class _Coefficients(NamedTuple):
    least_gap: float
    """g at which trust begins."""
    intercept: float
    odds: float
    near: float
    meaning: float


BY_MEANING = _Coefficients(0.6, intercept=-3.85, odds=0.5, near=0.25, meaning=6.8)
BY_WORDS_ALONE = _Coefficients(1.0, intercept=-2.35, odds=0.8, near=0.8, meaning=0.0)


class Hedge(NamedTuple):
    """From the odds of the mixture to those that are said."""

    intercept: float
    odds: float
    """Trust included."""
    near: float
    meaning: float
    usual_meaning: float
    """Of pages whose own is not known."""

    @classmethod
    def by_meaning(cls, odds: NDArray[Any], cosines: NDArray[Any]) -> Hedge:
        usual = UsualMeaning.of(cosines)
        known = ~np.isnan(cosines)
        return cls._of(BY_MEANING, _gap(odds[known], cosines[known], usual.spread), usual.mean)

    @classmethod
    def by_words(cls, odds: NDArray[Any], z: NDArray[Any]) -> Hedge:
        """`z` by the person's words alone."""
        return cls._of(BY_WORDS_ALONE, _gap(odds, z, max(float(z.std()), LEAST_SPREAD)), 0.0)

    @classmethod
    def _of(cls, method: _Coefficients, gap: float, usual: float) -> Hedge:
        trust = min(max(gap - method.least_gap, 0.0), 1.0)
        return cls(method.intercept, trust * method.odds, method.near, method.meaning, usual)

    def said(self, odds: NDArray[Any], near: NDArray[Any], meaning: NDArray[Any]) -> Values:
        """Log-odds, by page. `near`: z₂."""
        cosines = np.where(np.isnan(meaning), self.usual_meaning, meaning.astype(np.float64))
        kept = np.minimum(np.maximum(odds.astype(np.float64), -MOST_ODDS), MOST_ODDS)
        said: Values = self.intercept + self.odds * kept + self.near * near + self.meaning * cosines
        return said


def _gap(odds: NDArray[Any], values: NDArray[Any], spread: float) -> float:
    inside = 1.0 / (1.0 + np.exp(-np.clip(odds.astype(np.float64), -30.0, 30.0)))
    groups = [float(share @ values) / max(float(share.sum()), 1e-9) for share in (inside, 1.0 - inside)]
    return (groups[0] - groups[1]) / spread
