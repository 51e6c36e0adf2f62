"""The judges of paper AR's experiments: classifiers of several kinds, taught by the same examples."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from lycosa.judges.classifier import Classifier, Judging
from lycosa.judges.table import classifier_class
from lycosa.judges.weighted_keywords import WeightedKeywordsClassifier
from lycosa.lab.replay.trained_judges import ExampleSet
from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.topics.further_examples import distinctive_words

MOST_TEXTS = 200_000
MAIN = "SVM"
"""The judge of all crawls but those that compare judges."""
JUDGES = {"keywords by hand": "keywords", "centroids": "keywords", "naive Bayes": "bayes", MAIN: "svm"}
"""Each with the name of its classifier, which takes centroids where it is given no keywords."""
BY_HAND = "keywords by hand"
KEYWORDS = 10
"""Words that are chosen for each topic, besides those of its name."""


class Remembering:
    """A classifier that looks at each page and each text once."""

    reasons = None

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier
        self.name = classifier.name
        self.topics_ = classifier.topics_
        self.words_by_hand = classifier.words_by_hand
        self.memberships = self._once(classifier.memberships)

    @cached_property
    def short_texts(self) -> Judging | None:
        judging = self._classifier.short_texts
        return None if judging is None else self._once(judging)

    def strongest(self, page: Page, topic: str, count: int = 10) -> Mapping[str, float]:  # noqa: ARG002 - no one looks
        return {}

    @staticmethod
    def _once(judging: Judging) -> Judging:
        known: dict[str, np.ndarray] = {}

        def judge(page: Page) -> np.ndarray:
            key = page.url or page.text
            found = known.get(key)
            if found is None:
                if len(known) >= MOST_TEXTS:
                    known.clear()
                found = known[key] = judging(page)
            return found

        return judge


def learned(judge: str, examples: ExampleSet) -> bytes:
    """What this judge learns from the examples."""
    if judge == BY_HAND:
        return WeightedKeywordsClassifier(chosen_keywords(examples)).fit([], examples.topics).save()
    classifier: Classifier = classifier_class(JUDGES[judge])()
    return classifier.fit(examples, examples.topics).save()


def loaded(judge: str, saved: bytes) -> Remembering:
    return Remembering(classifier_class(JUDGES[judge]).load(saved))


def chosen_keywords(examples: ExampleSet) -> dict[str, dict[str, float]]:
    """Of each topic the words of its name, and those that set its examples apart from the others, all of weight 1.

    AR (section 4): "simple text classifiers based on semi-automatically selected keywords".
    """
    shown = list(examples)
    chosen = {}
    for topic in examples.topics:
        name = topic.rpartition("/")[2].replace("_", " ")
        words = [*term_counts(name), *distinctive_words(shown, topic, count=KEYWORDS)]
        chosen[topic] = dict.fromkeys(words, 1.0)
    return chosen
