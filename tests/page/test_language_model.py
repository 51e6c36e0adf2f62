"""The model that reader processes share says what py3langid says by itself."""

from __future__ import annotations

import os
import subprocess
import sys

import py3langid
import pytest

from lycosa.page import language_model

TEXTS = [
    "Der schnelle braune Fuchs springt über den faulen Hund",
    "Le renard brun saute par-dessus le chien paresseux",
    "быстрая лиса прыгает через собаку",
    "快速的棕色狐狸跳过懒狗",
    "xq zzkr",
    "",
]
CHILD = """
import sys
from lycosa.page import language_model
language_model.load_model = None  # it is in the file
language_model.share(int(sys.argv[1]))
print(*map(language_model.label_of, sys.argv[2:]))
print(type(language_model._classifier()).__name__)
"""


@pytest.fixture
def shared(tmp_path):
    with (tmp_path / "model").open("w+b") as file:
        language_model.share(file.fileno())
        yield file
        language_model.share(-1)


def test_the_same_labels_and_scores(shared):
    assert language_model._classifier() is not py3langid
    for text in TEXTS:
        assert language_model._classifier().classify(text) == py3langid.classify(text)
        assert language_model.label_of(text) == py3langid.classify(text)[0]


def test_another_process_need_not_load_it(shared):
    texts = [text for text in TEXTS if text]
    labels = [language_model.label_of(text) for text in texts]
    command = [sys.executable, "-c", CHILD, str(shared.fileno()), *texts]
    said = subprocess.run(command, pass_fds=[shared.fileno()], capture_output=True, text=True, check=True).stdout
    assert said.split() == [*labels, "LanguageIdentifier"]


def test_a_process_that_died_while_it_wrote_leaves_nothing_to_be_used(shared):
    os.ftruncate(shared.fileno(), 1 << 20)  # all but the head, which comes last
    assert language_model.label_of(TEXTS[0]) == "de"
    assert language_model._classifier() is not py3langid


def test_without_room_for_it_each_process_loads_its_own(tmp_path):
    file = tmp_path / "model"
    file.write_bytes(b"")
    with file.open("rb") as readable:
        language_model.share(readable.fileno())
        assert language_model._classifier() is py3langid
        assert language_model.label_of(TEXTS[0]) == "de"
    language_model.share(-1)
