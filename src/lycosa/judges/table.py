"""Judges and classifiers by name, each imported only when it is used; and those of other people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lycosa.errors import ConfigError
from lycosa.judges.classifier import Classifier
from lycosa.judges.protocol import CompletedJudge, Judge
from lycosa.lib.nearest import did_you_mean
from lycosa.lib.plugins import call, entry_point_names, load

CLASSIFIER_NAMES = ("bayes", "svm", "knn", "keywords")
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
