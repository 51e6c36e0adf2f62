"""Classifiers by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lycosa.errors import ConfigError
from lycosa.judges.table import CLASSIFIER_NAMES, classifier_class


@pytest.mark.parametrize("name", CLASSIFIER_NAMES)
def test_names_are_those_of_the_classes(name):
    assert classifier_class(name).name == name


def test_an_unknown_name_gets_the_nearest_and_all():
    with pytest.raises(ConfigError, match=r"no judge 'bays'; did you mean 'bayes'\? there are bayes, svm"):
        classifier_class("bays")


@pytest.mark.parametrize("module", ["topics.judges", "topics.feedback", "judges.contrast.judge", "judges.topic_judges"])
def test_looking_up_a_name_loads_no_heavy_library(module):
    loaded = "set(sys.modules) & {'scipy', 'sklearn', 'numba'}"
    code = f"import sys, lycosa.{module}, lycosa.judges.table; sys.exit(bool({loaded}))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
