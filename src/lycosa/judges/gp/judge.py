"""The classifier gp-knn: the examples nearest to a page by an evolved similarity vote on its topics (paper GP).

Votes, memberships, posteriors and their calibration are those of `knn`; only the similarity differs, and that it is
learned. A formula that is given (`formula`), by a person or from an earlier training, is taken as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError, LycosaError
from lycosa.judges.calibration import Platt, Temperature
from lycosa.judges.classifier import ANY, Judging, Reasons
from lycosa.judges.gp.evidence import EvidenceIndex
from lycosa.judges.gp.fields import LINK_EVIDENCE, PAPER, chosen_fields, evidence_of
from lycosa.judges.gp.fitness import fitness_measure
from lycosa.judges.gp.learning import (
    SIMILARITIES,
    Checkpoints,
    EvolvedFormula,
    SimilarityLearning,
    Told,
    evolved_similarity,
    given_similarity,
    tell_nobody,
)
from lycosa.judges.gp.similarity import EvolvedSimilarity, name_of, names_of_arrays, used_evidence
from lycosa.judges.knn import KnnClassifier, KnnSettings
from lycosa.judges.saved_arrays import AnyArray, pack, require, settings_from, topics_from, unpack
from lycosa.lib.bounds import require_at_least
from lycosa.lib.gp.evolution import ProgramSettings
from lycosa.lib.gp.text import parsed
from lycosa.model import Page

_KIND = "gp-knn 1"
_SHOWN_EXAMPLES = 3
_SHOWN_EVIDENCE = 2


@dataclass(frozen=True, slots=True)
class GpKnnSettings(KnnSettings):
    k: int = 10
    doubt: float = 0.25
    max_held_out: int = 500
    population: int = 100
    generations: int = 30
    measure: str = "macro-f1"
    """The fitness: macro-f1, or the paper's."""
    max_queries: int = 500
    """Maximum number of examples that a similarity is tried on while it evolves, and of those that choose."""
    seed: int = 1
    formula: str = ""
    """A similarity to be used instead of an evolved one."""
    evidence: str = PAPER
    """What similarities are made of: the paper's six kinds, or those of links as well (`fields`)."""

    def __post_init__(self) -> None:
        KnnSettings.__post_init__(self)
        require_at_least(self, "gp-knn", population=2, generations=0, max_queries=1)
        fitness_measure(self.measure)
        known = evidence_of(chosen_fields(self.evidence))
        if self.formula:
            for name in used_evidence(parsed(self.formula, SIMILARITIES), LINK_EVIDENCE):
                if name not in known:
                    raise ConfigError(
                        f"the formula has {name}, but gp-knn.evidence is {self.evidence!r}, which has no links; set it "
                        "to 'links' (--evidence links)"
                    )

    @property
    def fields(self) -> tuple[str, ...]:
        return chosen_fields(self.evidence)

    @property
    def learning(self) -> SimilarityLearning:
        program = ProgramSettings(population=self.population, generations=self.generations)
        return SimilarityLearning(
            program=program, k=self.k, measure=self.measure, max_queries=self.max_queries, seed=self.seed
        )


class GpKnnClassifier(KnnClassifier):
    name = "gp-knn"

    settings: GpKnnSettings
    evolved_: EvolvedFormula
    """The similarity, and how good it was while it was learned."""

    def __init__(
        self,
        settings: GpKnnSettings | None = None,
        *,
        progress: Told = tell_nobody,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        """`checkpoints`: where an evolution that is interrupted goes on from."""
        super().__init__(settings or GpKnnSettings())
        self._progress, self._checkpoints = progress, checkpoints

    def _learn_similarity(self, pages: Iterable[Page]) -> None:
        index = EvidenceIndex.fit(pages, self.settings.fields)
        if self.settings.formula:
            tree = parsed(self.settings.formula, SIMILARITIES)
            found = given_similarity(tree, index, self._by_class, self.settings.learning)
        else:
            found = evolved_similarity(
                index,
                self._by_class,
                self.settings.learning,
                progress=self._progress,
                checkpoints=self._checkpoints,
            )
        # What is learned goes to other processes; whom to tell, and where to save, does not.
        self._progress, self._checkpoints = tell_nobody, None
        self.evolved_ = found
        names = [name_of(page) for page in pages]
        self.similarity = EvolvedSimilarity(found.tree, unit=found.nearest, index=index, names=names)

    @property
    def _evolved_similarity(self) -> EvolvedSimilarity:
        assert isinstance(self.similarity, EvolvedSimilarity)
        return self.similarity

    @property
    def short_texts(self) -> Judging | None:  # type: ignore[override]  # declared, not set
        return self._of_words

    def _of_words(self, page: Page) -> NDArray[np.float64]:
        near = self._nearest(self._evolved_similarity.of_words(page))
        return np.where(self._has_examples, self._curve.apply(self._topic_votes(near)), 0.0)

    @property
    def reasons(self) -> Reasons | None:  # type: ignore[override]
        return self._reasons

    def _reasons(self, page: Page) -> Sequence[str]:
        """The nearest examples, and which evidence says so."""
        near = self._neighbours(page)
        order = np.argsort(-near.shares, kind="stable")[:_SHOWN_EXAMPLES]
        examples = near.examples[order]
        shares = self._evolved_similarity.evidence_shares(page, examples)
        return [
            f"{share:.0%} of the votes: “{self._evolved_similarity.names[example]}” ({self._topics_of(example)}), by "
            + ", ".join(f"{name} {part:.0%}" for name, part in _largest(parts))
            for share, example, parts in zip(near.shares[order].tolist(), examples.tolist(), shares, strict=True)
        ]

    def _topics_of(self, example: int) -> str:
        own = (self.classes_[column] for column in np.flatnonzero(self._by_class[example]).tolist())
        return ", ".join("no topic" if topic == ANY else topic for topic in own)

    def with_formula_kept(self) -> GpKnnSettings:
        """Settings by which other examples are learned with the same similarity."""
        return replace(self.settings, formula=self.evolved_.formula)

    def save(self) -> bytes:
        evolved = self.evolved_
        learned: dict[str, Any] = {**asdict(evolved), "formula": evolved.formula}
        del learned["tree"]
        meta = {
            "settings": asdict(self.settings),
            "topics": self.topics_,
            "classes": self.classes_,
            "evolved": learned,
        }
        arrays: dict[str, AnyArray] = {
            "by_class": self._by_class,
            "curve": self._curve.to_array(),
            "temperature": self._temperature.to_array(),
        }
        return pack(_KIND, meta, {**arrays, **self.similarity.to_arrays()})

    @classmethod
    def load(cls, data: bytes) -> Self:
        meta, _ = unpack(_KIND, data, ())
        loaded = cls(settings_from(GpKnnSettings, meta))
        loaded.evolved_ = _evolved(meta.get("evolved"))
        _, arrays = unpack(_KIND, data, ("by_class", "curve", "temperature", *names_of_arrays(loaded.evolved_.tree)))
        loaded.similarity = EvolvedSimilarity.from_arrays(loaded.evolved_.tree, loaded.evolved_.nearest, arrays)
        loaded.topics_, classes = topics_from(meta)
        by_class = arrays["by_class"]
        rows = loaded._evolved_similarity.index.size
        require(by_class.dtype == np.bool_ and by_class.shape == (rows, len(classes)), "classes")
        loaded._set_classes(classes, by_class)
        loaded._curve = Platt.from_array(arrays["curve"])
        loaded._temperature = Temperature.from_array(arrays["temperature"])
        return loaded


def _evolved(data: Any) -> EvolvedFormula:
    try:
        values = dict(data)
        return EvolvedFormula(parsed(values.pop("formula"), SIMILARITIES), **values)
    except (TypeError, ValueError, KeyError, LycosaError) as error:
        raise ValueError(f"a saved classifier with an invalid formula: {error}") from error


def _largest(parts: dict[str, float]) -> list[tuple[str, float]]:
    spoke = [(name, part) for name, part in parts.items() if part >= 0.005]
    return sorted(spoke, key=lambda item: -item[1])[:_SHOWN_EVIDENCE] or [("nothing that speaks alone", 1.0)]
