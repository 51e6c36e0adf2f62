"""Classifiers by name, each imported only when it is used."""

from __future__ import annotations

from importlib import import_module

from lycosa.errors import ConfigError
from lycosa.judges.classifier import Classifier
from lycosa.lib.nearest import did_you_mean

_HOMES = {
    "bayes": ("bayes.bayes", "BayesClassifier"),
    "svm": ("svm", "SvmClassifier"),
    "knn": ("knn", "KnnClassifier"),
    "keywords": ("weighted_keywords", "WeightedKeywordsClassifier"),
}
CLASSIFIER_NAMES = tuple(_HOMES)


def classifier_class(name: str) -> type[Classifier]:
    if name not in _HOMES:
        hint = f"{did_you_mean(name, CLASSIFIER_NAMES)}there are {', '.join(CLASSIFIER_NAMES)}"
        raise ConfigError(f"there is no judge {name!r}; {hint}")
    module, kind = _HOMES[name]
    found: type[Classifier] = getattr(import_module(f"lycosa.judges.{module}"), kind)
    return found
