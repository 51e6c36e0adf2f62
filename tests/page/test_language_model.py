"""The model that reader processes share says what py3langid says by itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
print(type(language_model._model).__name__)
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(language_model, "_model", None)
    with (tmp_path / "model").open("w+b") as opened:
        yield opened


@pytest.fixture
def shared(file):
    language_model.share(os.dup(file.fileno()))
    return file


def test_the_same_labels_and_scores(shared):
    for text in TEXTS:
        assert language_model._model.classify(text) == py3langid.classify(text)
        assert language_model.label_of(text) == py3langid.classify(text)[0]


def test_another_process_need_not_load_it(shared):
    texts = [text for text in TEXTS if text]
    labels = [language_model.label_of(text) for text in texts]
    command = [sys.executable, "-c", CHILD, str(shared.fileno()), *texts]
    said = subprocess.run(command, pass_fds=[shared.fileno()], capture_output=True, text=True, check=True).stdout
    assert said.split() == [*labels, "LanguageIdentifier"]


def test_a_process_that_died_while_it_wrote_leaves_nothing_to_be_used(file):
    os.ftruncate(file.fileno(), 1 << 20)  # all but the head, which comes last
    language_model.share(os.dup(file.fileno()))
    assert language_model._model is not None
    assert language_model.label_of(TEXTS[0]) == "de"


def test_nobody_who_uses_it_can_change_it(file):
    descriptor = os.dup(file.fileno())
    language_model.share(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):  # it has been closed
        os.fstat(descriptor)
    flags = Path("/proc/self/smaps").read_text().split(file.name, 1)[1].split("VmFlags:", 1)[1].split("\n", 1)[0]
    assert "mw" not in flags.split()  # it may not become writable


def test_without_room_for_it_each_process_loads_its_own(file):
    with Path(file.name).open("rb") as readable:
        language_model.share(os.dup(readable.fileno()))
    assert language_model._model is None
    assert language_model.label_of(TEXTS[0]) == "de"
