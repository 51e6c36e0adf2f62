"""What tunnelling needs from an interest: a wider one (paper AR, section 3.3).

A formula is widened by `generalise`. Good topics (paper FC) are widened by climbing: each is replaced by the topic
above it, as AR generalises along the taxonomy; those at the top stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lycosa.judges.classifier import parent_of
from lycosa.judges.formula import evaluate, parse, topics_of
from lycosa.judges.generalise import RarerBy, generalise, with_given

if TYPE_CHECKING:
    from lycosa.judges.topic_judges import FormulaJudge, TopicJudge


class FormulaInterest:
    """The formula that guides the crawl; a NOT that is applied afterwards has no part in it, however wide it gets."""

    def __init__(self, judge: FormulaJudge) -> None:
        self._judge = judge
        self._topics = topics_of(judge.focus)

    def __str__(self) -> str:
        return str(self._judge.focus)

    @property
    def topics(self) -> Sequence[str]:
        return self._judge.named

    @property
    def rarer_by(self) -> str:
        return self._judge.rarer_by

    def relevance(self, scores: Mapping[str, float]) -> float:
        """Relevance of a page with these scores. A topic without a score counts as absent."""
        return evaluate(self._judge.focus, {topic: scores.get(topic, 0.0) for topic in self._topics})

    def similarity(self, text: str) -> float:
        return self._judge.score_text(text)

    def generalised(self, frequency: Mapping[str, float]) -> FormulaInterest | None:
        wider = generalise(self._judge.focus, self._judge.way, with_given(frequency, self._judge.given))
        return None if wider is None else FormulaInterest(self._judge.changed(formula=wider, frequency=frequency))

    def named(self, text: str, frequency: Mapping[str, float] | None = None) -> FormulaInterest:
        return FormulaInterest(self._judge.changed(formula=parse(text), frequency=frequency or None))


class TopicInterest:
    def __init__(self, judge: TopicJudge) -> None:
        self._judge = judge

    def __str__(self) -> str:
        return " + ".join(self._judge.good)

    @property
    def topics(self) -> Sequence[str]:
        return self._judge.good

    @property
    def rarer_by(self) -> str:
        return RarerBy.SCORE

    def relevance(self, scores: Mapping[str, float]) -> float:
        return min(1.0, sum(scores.get(topic, 0.0) for topic in self._judge.good))

    def similarity(self, text: str) -> float:
        return self._judge.score_text(text)

    def generalised(self, frequency: Mapping[str, float]) -> TopicInterest | None:  # noqa: ARG002 - all topics climb
        wider = dict.fromkeys(parent_of(topic) or topic for topic in self._judge.good)
        # A topic may have climbed above another one: no good topic may be below another.
        apart = tuple(topic for topic in wider if not any(topic.startswith(f"{other}/") for other in wider))
        return None if apart == self._judge.good else TopicInterest(self._judge.changed(apart))

    def named(self, text: str, frequency: Mapping[str, float] | None = None) -> TopicInterest:  # noqa: ARG002 - they do not matter
        return TopicInterest(self._judge.changed(tuple(text.split(" + "))))
