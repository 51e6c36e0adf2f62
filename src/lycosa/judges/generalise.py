"""Formulas derived from formulas: wider ones to tunnel with, ones for short texts, ones without NOT (paper AR).

`frequency` tells which topic is rare: the share of pages, in [0, 1], that are about a topic, from domain knowledge
(`with_given`) or from the pages crawled so far (AR, section 3.3). A topic missing from it has the frequency 0. The
frequency of a part that is itself a formula is the formula's value over the frequencies. The first of equally frequent
parts counts as the rarest.

AR explains all this for A ∧ B. For other formulas: each alternative of an OR is treated by itself; in an AND of many
parts the rarest, or the most frequent, is chosen as for two; a NOT is never widened by changing what is under it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lycosa.errors import InputError
from lycosa.judges.classifier import ANY, parent_of
from lycosa.judges.formula import And, Formula, Named, Not, Or, evaluate, join, topics_of

RAISED = 2.0
"""Factor by which a step raises the weight of the rarer part."""
ENOUGH = 0.9
"""Share of the total weight at which a part decides nearly alone, and is not raised further."""
CONSIDERABLE = 0.5
"""Minimum score of a page that is about an excluded topic, unless said otherwise."""


class Way(StrEnum):
    """How to generalise A ∧ B (AR, section 3.3), where A is the rarer."""

    DROP = "drop"
    """To A: ignore the more frequent topic."""
    WEIGHT = "weight"
    """To A ∧ B with a larger weight for A."""
    PARENT = "parent"
    """To A′ ∧ B, where A′ is the topic above A. If A is at the top already: to A ∧ B′."""


class ForLinks(StrEnum):
    """What replaces A ∧ B when a URL or an anchor is scored (AR, section 3.2)."""

    RARER = "rarer"
    """The rarer of the two."""
    EITHER = "either"
    """A ∨ B."""


class RarerBy(StrEnum):
    """Which topic of the pages crawled so far is the rarer (AR, section 3.3, names both)."""

    SCORE = "score"
    """The one with the smaller mean score."""
    LOWERING = "lowering"
    """The one that most often had the smallest score of a page, and so lowered the formula's."""


def generalise(formula: Formula, way: Way, frequency: Mapping[str, float]) -> Formula | None:
    """The formula one step wider; None if nothing is left to generalise.

    Differs from AR, which treats formulas without NOT: dropping parts of `A AND NOT B` drops NOT B first, whatever the
    frequencies, as AR itself crawls for A and excludes B afterwards.
    """
    known = _all_frequencies(formula, frequency)
    step = {Way.DROP: _without_most_frequent, Way.WEIGHT: _weighed_to_rarest, Way.PARENT: _with_parent}[way]
    return step(formula, known)


def for_links(formula: Formula, frequency: Mapping[str, float], *, by: ForLinks = ForLinks.RARER) -> Formula:
    """The variant for scoring URLs and anchors: their few words cannot be about several topics at once.

    Nor can a few words show what a page is not about: NOT is left out, unless there is nothing else.
    """
    positive = positive_part(formula)
    return formula if positive is None else _for_short(positive, _all_frequencies(formula, frequency), by)


def with_given(frequency: Mapping[str, float], given: Mapping[str, float]) -> dict[str, float]:
    """Estimated frequencies, replaced by those a person has given. What is above a topic is at least as frequent."""
    known = dict(frequency)
    for topic, share in given.items():
        above = topic
        while (above := parent_of(above)) != ANY:
            known[above] = max(known.get(above, 0.0), share)
    return {**known, **given}


@dataclass(frozen=True, slots=True)
class NotAfter:
    """A formula to be crawled without its NOTs, which are applied to the pages found (AR, section 2.3)."""

    crawl: Formula
    """The formula without what it excludes."""
    formula: Formula
    """The whole formula, with NOT at single topics only."""

    def relevance(self, scores: Mapping[str, float], *, considerable: float = CONSIDERABLE) -> float:
        """What is said of a page: with a considerable score, an excluded topic counts as fully there, else not at all.

        So A ∧ ¬B has the value of A where B is below `considerable`, and otherwise 0. A judge's threshold may be far
        lower, and nearly every page would pass it with 1 − B.
        """
        return evaluate(self.formula, scores, negation=lambda score: float(score < considerable))


def without_not(formula: Formula) -> NotAfter:
    """The part to crawl with, and the filter to apply afterwards; InputError if the formula only excludes."""
    crawl = positive_part(formula)
    if crawl is None:
        raise InputError(f"formula '{formula}' only excludes topics: name one to look for, as in 'A AND NOT B'")
    return NotAfter(crawl, not_inward(formula))


def positive_part(formula: Formula) -> Formula | None:
    """What a formula asks for, without what it excludes; None if it only excludes."""
    return _positive(not_inward(formula))


def _all_frequencies(formula: Formula, frequency: Mapping[str, float]) -> dict[str, float]:
    return {topic: frequency.get(topic, 0.0) for topic in topics_of(formula)}


def _by_frequency(parts: Sequence[Formula], frequency: Mapping[str, float]) -> list[int]:
    """Positions of the parts, the rarest first."""
    return sorted(range(len(parts)), key=lambda place: evaluate(parts[place], frequency))


def _without_most_frequent(formula: Formula, frequency: Mapping[str, float]) -> Formula | None:
    match formula:
        case And(parts, weights):
            ordered = _by_frequency(parts, frequency)
            dropped = max(ordered, key=lambda place: (isinstance(parts[place], Not), ordered.index(place)))
            kept = [place for place in range(len(parts)) if place != dropped]
            return join(And, [parts[place] for place in kept], [weights[place] for place in kept if weights])
        case Or():
            return _each(formula, lambda part: _without_most_frequent(part, frequency))
    return None


def _weighed_to_rarest(formula: Formula, frequency: Mapping[str, float]) -> Formula | None:
    match formula:
        case And(parts, weights):
            raised = list(weights) or [1.0] * len(parts)
            rarest = _by_frequency(parts, frequency)[0]
            if raised[rarest] >= ENOUGH * sum(raised):
                return None
            raised[rarest] *= RAISED
            return join(And, parts, raised)
        case Or():
            return _each(formula, lambda part: _weighed_to_rarest(part, frequency))
    return None


def _with_parent(formula: Formula, frequency: Mapping[str, float]) -> Formula | None:
    match formula:
        case Named(topic):
            return Named(parent_of(topic)) if parent_of(topic) != ANY else None
        case And(parts, weights):
            for place in _by_frequency(parts, frequency):
                wider = _with_parent(parts[place], frequency)
                if wider is not None:
                    return join(And, [*parts[:place], wider, *parts[place + 1 :]], weights)
            return None
        case Or():
            return _each(formula, lambda part: _with_parent(part, frequency))
    return None


def _each(formula: Or, step: Callable[[Formula], Formula | None]) -> Formula | None:
    """Every alternative one step wider, if it can be."""
    wider = [step(part) for part in formula.parts]
    if all(part is None for part in wider):
        return None
    return join(Or, [new or old for new, old in zip(wider, formula.parts, strict=True)], formula.weights)


def _for_short(formula: Formula, frequency: Mapping[str, float], by: ForLinks) -> Formula:
    """For a formula without NOT."""
    match formula:
        case And(parts) if by is ForLinks.EITHER:
            return join(Or, [_for_short(part, frequency, by) for part in parts])
        case And(parts):
            return _for_short(parts[_by_frequency(parts, frequency)[0]], frequency, by)
        case Or(parts, weights):
            return join(Or, [_for_short(part, frequency, by) for part in parts], weights)
    return formula


def not_inward(formula: Formula, is_negated: bool = False) -> Formula:
    """The same meaning with NOT at single topics only: De Morgan's laws hold for min and max, weighted too."""
    match formula:
        case Not(part):
            return not_inward(part, not is_negated)
        case And(parts, weights) | Or(parts, weights):
            kind = And if isinstance(formula, And) is not is_negated else Or
            return join(kind, [not_inward(part, is_negated) for part in parts], weights)
    return Not(formula) if is_negated else formula


def _positive(formula: Formula) -> Formula | None:
    """Without its NOTs, which are at single topics; None if nothing is left."""
    match formula:
        case Not():
            return None
        case And(parts, weights) | Or(parts, weights):
            left = [_positive(part) for part in parts]
            kept = [part for part in left if part is not None]
            kept_weights = [weight for part, weight in zip(left, weights, strict=False) if part is not None]
            return join(type(formula), kept, kept_weights) if kept else None
    return formula
