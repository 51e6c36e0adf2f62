"""Judges and classifiers by name, each imported only when it is used; and those of other people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from lycosa.errors import ConfigError
from lycosa.judges.classifier import Classifier
from lycosa.judges.protocol import CompletedJudge, Judge
from lycosa.lib.nearest import did_you_mean
from lycosa.lib.plugins import call, entry_point_names, load

_HOMES = {
    "bayes": ("bayes.bayes", "BayesClassifier"),
    "svm": ("svm", "SvmClassifier"),
    "knn": ("knn", "KnnClassifier"),
    "gp-knn": ("gp.judge", "GpKnnClassifier"),
    "keywords": ("weighted_keywords", "WeightedKeywordsClassifier"),
}
CLASSIFIER_NAMES = tuple(_HOMES)
GROUP = "lycosa.judges"
"""Entry points of other people's judges."""


def own_judge(name: str, available: Mapping[str, Any], *, known: Sequence[str], threshold: float = 0.0) -> Judge:
    """Somebody else's judge, `module:Class` or an entry point, made of what its constructor asks for by name.

    `known`: the names that would also have been right.
    """
    made = load(name, group=GROUP)
    if made is None:
        known = [*known, *entry_point_names(GROUP)]
        raise ConfigError(
            f"judge {name!r} is not known: {did_you_mean(name, known)}known are {', '.join(known)}, and module:Class "
            "for one of your own; a judge that a program made is to be handed to lycosa.Crawl(judge=…) again"
        )
    return CompletedJudge(call(made, available) if callable(made) else made, threshold=threshold)


def classifier_class(name: str) -> type[Classifier]:
    if name not in _HOMES:
        hint = f"{did_you_mean(name, CLASSIFIER_NAMES)}there are {', '.join(CLASSIFIER_NAMES)}"
        raise ConfigError(f"there is no judge {name!r}; {hint}")
    module, kind = _HOMES[name]
    found: type[Classifier] = getattr(import_module(f"lycosa.judges.{module}"), kind)
    return found
