"""Training the judge gp-knn from a book: what a person may choose, and where an interrupted evolution goes on from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lycosa.judges.gp.formula_file import SavedFormula, write_formula
from lycosa.judges.gp.judge import GpKnnClassifier, GpKnnSettings
from lycosa.judges.gp.learning import Told
from lycosa.topics.book import TopicBook
from lycosa.topics.training import TrainingReport

DEFAULTS = GpKnnSettings()
GP_KNN = GpKnnClassifier.name


@dataclass(frozen=True, slots=True, kw_only=True)
class EvolutionChoice:
    population: int = DEFAULTS.population
    generations: int = DEFAULTS.generations
    evidence: str | None = None
    """What similarities are made of; None: what the given formula's file says, or the default."""
    given: SavedFormula | None = None
    """A formula that is used instead of an evolved one."""

    @property
    def settings(self) -> GpKnnSettings:
        if self.given is None:
            evidence = self.evidence or DEFAULTS.evidence
            return GpKnnSettings(population=self.population, generations=self.generations, evidence=evidence)
        evidence = self.evidence or self.given.evidence or DEFAULTS.evidence
        return GpKnnSettings(formula=self.given.formula, k=self.given.k or DEFAULTS.k, evidence=evidence)


class CheckpointFolder:
    """Generations as JSON files in a folder beside the book, which is removed when the judge is trained."""

    def __init__(self, book: Path) -> None:
        self.path = book.with_name(f"{book.name}.evolving")

    def load(self, key: str) -> object:
        try:
            found: object = json.loads(self._file(key).read_bytes())
        except (OSError, ValueError):  # there is none, or it is damaged: evolution begins anew
            return None
        return found

    def save(self, key: str, data: Mapping[str, Any]) -> None:
        self.path.mkdir(exist_ok=True)
        draft = self._file(key).with_suffix(".new")
        draft.write_text(json.dumps(data), encoding="utf-8")
        draft.replace(self._file(key))

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def _file(self, key: str) -> Path:
        return self.path / f"{key}.json"


def evolving_classifier(book: Path, choice: EvolutionChoice, progress: Told) -> GpKnnClassifier:
    return GpKnnClassifier(choice.settings, progress=progress, checkpoints=CheckpointFolder(book))


class WrittenFormula(NamedTuple):
    path: Path
    formula: str
    note: str
    """Where it comes from, and how good it is."""


def saved_formula(book: TopicBook, version: int, report: TrainingReport) -> WrittenFormula:
    """The formula of a trained judge, written to a file beside the book.

    Each version has a file of its own, so that no edited one is lost.
    """
    classifier = GpKnnClassifier.load(book.load_judge(version).model)
    path = book.path.with_name(f"{book.path.stem}.gp-knn-{version}.toml")
    formula, note = classifier.evolved_.formula, _note(classifier, report.macro_f1)
    settings = classifier.settings
    write_formula(path, formula, k=settings.k, evidence=settings.evidence, notes=[note])
    return WrittenFormula(path, formula, note)


def _note(classifier: GpKnnClassifier, macro_f1: float) -> str:
    evolved, settings = classifier.evolved_, classifier.settings
    evolution = f"evolved in {evolved.generations} generations of {settings.population}"
    chosen = "" if evolved.validation is None else f", {evolved.validation:.1%} on those that chose it"
    return (
        f"{'given' if settings.formula else evolution}: macro-F1 {evolved.training:.1%} on the examples it was tried on"
        f"{chosen}; {macro_f1:.1%} on examples it never saw (cross-validation)"
    )
