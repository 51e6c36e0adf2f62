"""The evolved similarity of a page to the examples: a formula over kinds of evidence, never executed as code.

Its unit is the similarity of an example to the nearest other one, in the median: an evolved formula may have values of
any magnitude, and whoever votes by it (`knn`) needs to know what a high value is.

Of links, only the fields that the formula names are kept and looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.gp.evidence import EvidenceIndex, Floats32
from lycosa.judges.gp.fields import FIELDS, LINK_FIELDS, WORD_FIELDS, FieldsOfPage, evidence_of, fields_of
from lycosa.judges.saved_arrays import AnyArray, array_to_lines, lines_to_array, require
from lycosa.lib.gp.interpret import Interpreter
from lycosa.lib.gp.trees import Expression
from lycosa.model import Page

MAX_NAME = 120
"""Maximum number of characters of an example's name."""
_NUDGE = np.float32(1.01)


class EvolvedSimilarity:
    def __init__(self, tree: Expression, *, unit: float, index: EvidenceIndex, names: Sequence[str]) -> None:
        """`names`: what to call each example, for explanations."""
        self.tree, self.unit, self.names = tree, unit, names
        self.index = index.only(kept_fields(tree))
        self._used = used_evidence(tree, self.index.evidence)
        # A formula may be a number alone; even that has as many values as there are examples.
        self._used_fields = [field for field in self.index.fields if {*evidence_of([field])} & {*self._used}] or FIELDS

    def fit(self, pages: Iterable[Page]) -> EvolvedSimilarity:
        index = EvidenceIndex.fit(pages, self.index.fields)
        return EvolvedSimilarity(self.tree, unit=self.unit, index=index, names=[name_of(page) for page in pages])

    def to_examples(self, page: Page) -> NDArray[np.float64]:
        return self._nearness(fields_of(page, self.index.fields))

    def of_words(self, page: Page) -> NDArray[np.float64]:
        """Of a few words, such as an anchor: they are compared with titles, bodies and URLs alike."""
        return self._nearness(dict.fromkeys(WORD_FIELDS, page.terms))

    def explain(self, page: Page, weights: NDArray[np.float64]) -> Mapping[str, float]:
        """By word: its part in the cosines, whatever the formula makes of them."""
        return self.index.overlap(fields_of(page, self.index.fields), weights)

    def evidence_shares(self, page: Page, examples: NDArray[np.int64]) -> list[dict[str, float]]:
        """For each of these examples: how much of the similarity each kind of evidence accounts for.

        By the growth of the similarity if only that evidence grew by a percent, as shares of the sum of all.
        """
        row = self.index.row(fields_of(page, self.index.fields), self._used_fields)
        chosen = {name: values[examples] for name, values in row.items()}
        base = _value(self.tree, chosen)
        growth = np.array(
            [np.abs(_value(self.tree, {**chosen, name: chosen[name] * _NUDGE}) - base) for name in self._used]
        )
        shares = growth / np.maximum(growth.sum(axis=0), 1e-30)
        return [dict(zip(self._used, column.tolist(), strict=True)) for column in shares.T]

    def _nearness(self, document: FieldsOfPage) -> NDArray[np.float64]:
        if not any(document.values()):
            return np.zeros(self.index.size)
        row = self.index.row(document, self._used_fields)
        return np.maximum(_value(self.tree, row).astype(np.float64) / self.unit, 0.0)

    def to_arrays(self) -> dict[str, AnyArray]:
        return {**self.index.to_arrays(), "names": lines_to_array(self.names)}

    @classmethod
    def from_arrays(cls, tree: Expression, unit: float, arrays: Mapping[str, AnyArray]) -> EvolvedSimilarity:
        index, names = EvidenceIndex.from_arrays(arrays, kept_fields(tree)), array_to_lines(arrays["names"])
        require(len(names) == index.size and bool(np.isfinite(unit)) and unit > 0, "names")
        return cls(tree, unit=unit, index=index, names=names)


def used_evidence(tree: Expression, names: Iterable[str]) -> list[str]:
    """Those of the names that a formula has."""
    used = {node.name for node in tree.nodes()}
    return [name for name in names if name in used]


def kept_fields(tree: Expression) -> tuple[str, ...]:
    """The fields that judging by a formula needs; titles and bodies always, as explanations are by words."""
    return (*FIELDS, *(field for field in LINK_FIELDS if used_evidence(tree, evidence_of([field]))))


def names_of_arrays(tree: Expression) -> tuple[str, ...]:
    return (*EvidenceIndex.names_of_arrays(kept_fields(tree)), "names")


def name_of(page: Page) -> str:
    """Its title or, without one, its address; on one line, never empty."""
    return " ".join((page.title or page.url).split())[:MAX_NAME] or "(no title)"


def _value(tree: Expression, evidence: Mapping[str, Floats32]) -> Floats32:
    return Interpreter(evidence, cache_bytes=0).value(tree)
