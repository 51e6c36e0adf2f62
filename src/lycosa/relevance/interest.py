"""A formula as something that can be widened: what tunnelling asks of an interest (paper AR, section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lycosa.relevance.formula import evaluate, parse
from lycosa.relevance.generalise import generalise

if TYPE_CHECKING:
    from lycosa.relevance.topics import FormulaJudge


class FormulaInterest:
    """The formula of a judge, which knows how to score texts by it."""

    def __init__(self, judge: FormulaJudge) -> None:
        self._judge = judge

    def __str__(self) -> str:
        return str(self._judge.formula)

    def relevance(self, scores: Mapping[str, float]) -> float:
        """Of a page with these scores. A topic it has no score for counts as absent."""
        return evaluate(self._judge.formula, {topic: scores.get(topic, 0.0) for topic in self._judge.named})

    def similarity(self, text: str) -> float:
        return self._judge.score_text(text)

    def generalised(self, frequency: Mapping[str, float]) -> FormulaInterest | None:
        wider = generalise(self._judge.formula, self._judge.way, frequency)
        return None if wider is None else FormulaInterest(self._judge.changed(formula=wider, frequency=frequency))

    def named(self, text: str) -> FormulaInterest:
        return FormulaInterest(self._judge.changed(formula=parse(text)))
