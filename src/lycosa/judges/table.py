"""Classifiers by name, each imported only when it is used."""

from __future__ import annotations

from lycosa.errors import ConfigError
from lycosa.judges.classifier import Classifier
from lycosa.lib.nearest import did_you_mean

CLASSIFIER_NAMES = ("bayes", "svm", "knn", "keywords")


def classifier_class(name: str) -> type[Classifier]:
    match name:
        case "bayes":
            from lycosa.judges.bayes.bayes import BayesClassifier

            return BayesClassifier
        case "svm":
            from lycosa.judges.svm import SvmClassifier

            return SvmClassifier
        case "knn":
            from lycosa.judges.knn import KnnClassifier

            return KnnClassifier
        case "keywords":
            from lycosa.judges.weighted_keywords import WeightedKeywordsClassifier

            return WeightedKeywordsClassifier
    hint = f"{did_you_mean(name, CLASSIFIER_NAMES)}there are {', '.join(CLASSIFIER_NAMES)}"
    raise ConfigError(f"there is no judge {name!r}; {hint}")
