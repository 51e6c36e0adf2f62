"""Tunnelling under different judges: what paper AR's finding depends on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from ar_classifiers import BY_HAND, JUDGES, KEYWORDS
from ar_crawls import COMPARED, PARENT
from ar_findings import Figures, final, judges_evidence
from common import NOTES, verdicts

from lycosa.lab.evaluate.summary import over_topics


def section(all_figures: Sequence[Figures]) -> Iterator[str]:
    yield HEAD.format(keywords=KEYWORDS, by_hand=BY_HAND)
    yield "| figure | the paper's finding | here | evidence |\n|---|---|---|---|"
    yield from verdicts(list(judges_evidence(all_figures)))
    yield NOTES
    columns = ("web", "judge", "interests", "called relevant / are, median", *COMPARED, "changes of focus a crawl")
    yield f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    for figures in all_figures:
        for judge in JUDGES:
            if studies := figures.by_judge.get(judge):
                called = np.median([each.structure.over_threshold / each.structure.pages for each in studies])
                shares = [summary([final(each.near[name]) for each in studies]) for name in COMPARED]
                changes = np.mean([len(each.near[PARENT].changes) for each in studies])
                cells = (figures.web.name, judge, str(len(studies)), f"{called:.1f}", *shares, f"{changes:.1f}")
                yield f"| {' | '.join(cells)} |"


def summary(values: Sequence[float]) -> str:
    """Mean ± standard error; nothing of nothing."""
    if not values:
        return ""
    mean, error = over_topics(np.array(values))
    return f"{mean:.3f} ± {error:.3f}"


HEAD = """
## Tunnelling under different judges

The same narrow interests from the same relevant start pages, under four judges: **{by_hand}**, as the paper has them
(of each topic the words of its name and the {keywords} that set its examples apart, all of weight 1); **centroids**,
the mean TF-IDF vectors of the examples; **naive Bayes**; and the **SVM** of all other crawls here. Interests count if
the start pages say something to each of the four. Share found, as above; p values are corrected for this table alone.
"""
