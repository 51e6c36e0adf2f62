"""Sessions, and how the focus is widened and narrowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from lycosa.errors import ConfigError
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.saved_state import seal, unseal
from lycosa.strategies.table import strategy
from lycosa.strategies.tunnelling import Tunnelling, TunnellingSettings

FETCHED = Outcome(Kind.FETCHED, "http 200", status=200)
WIDER = {"sailing": "sports", "sports": "tourism"}


class Topic:
    """An interest in one topic, which is widened along a line."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return self._name

    def relevance(self, scores: Mapping[str, float]) -> float:
        return scores.get(self._name, 0.0)

    def similarity(self, text: str) -> float:
        return float(text == self._name)

    def generalised(self, frequency: Mapping[str, float]) -> Topic | None:
        assert 0 <= frequency["sailing"] <= 1
        return Topic(WIDER[self._name]) if self._name in WIDER else None

    def named(self, text: str, frequency: Mapping[str, float] | None = None) -> Topic:
        return Topic(text)

    @property
    def topics(self) -> tuple[str, ...]:
        return (self._name,)

    rarer_by = "score"


def made(**settings: float) -> Tunnelling:
    parts = StrategyParts(interest=Topic("sailing"))
    found = strategy(
        "tunnel+best-first", parts, {"tunnel.session": 4, **{f"tunnel.{k}": v for k, v in settings.items()}}
    )
    assert isinstance(found, Tunnelling)
    return found


def visit(*, is_relevant: bool) -> Visit:
    lease = Lease(1, "http://a.test/", 1, 1.0, 0, 0, 0)
    sailing = 0.9 if is_relevant else 0.0
    judgement = Judgement(sailing, is_relevant, {"sailing": sailing, "sports": 0.4, "tourism": 0.7})
    return Visit(Fetched(lease, FETCHED), FETCHED, Page(lease.url), judgement)


def session(tunnel: Tunnelling, relevant: int) -> tuple[str, float]:
    """Four pages, so many of them relevant: the change, and the score of a link on an irrelevant page after it."""
    for number in range(4):
        tunnel.tell(visit(is_relevant=number < relevant), np.array([2]))
    return tunnel.take_change(), float(tunnel.again(visit(is_relevant=False), np.array([2]))[0])


def test_widened_step_by_step_and_narrowed_again() -> None:
    tunnel = made()
    assert session(tunnel, 4) == ("", 0.0)
    change, score = session(tunnel, 1)
    assert change == "widened to sports: 25.0% of the last 4 pages were relevant, 62.5% of all"
    assert score == 0.4
    change, score = session(tunnel, 0)
    assert (change.split(":")[0], score) == ("widened to tourism", 0.7)
    assert session(tunnel, 1) == ("", 0.7)  # between a and b: 1/4 against 6/16
    change, score = session(tunnel, 4)
    assert (change.split(":")[0], score) == ("narrowed to sports", 0.4)
    change, score = session(tunnel, 4)
    assert (change.split(":")[0], score) == ("narrowed to sailing", 0.0)
    assert session(tunnel, 4) == ("", 0.0)


def test_links_are_scored_by_the_focus_of_the_moment() -> None:
    tunnel = made()
    session(tunnel, 4)
    session(tunnel, 0)
    assert tunnel.tell(visit(is_relevant=False), np.array([3])).tolist() == [0.4]


def test_nothing_left_to_widen_is_advice_to_stop() -> None:
    tunnel = made()
    for relevant in (4, 0, 0):
        session(tunnel, relevant)
    assert tunnel.abilities.advice() == ""
    assert session(tunnel, 0)[0] == ""
    told = "focus fully generalised: 0.0% of the last 4 pages were relevant, 25.0% of all"
    assert tunnel.abilities.advice().startswith(told)
    session(tunnel, 4)
    assert tunnel.abilities.advice() == ""


def test_without_rescoring_waiting_links_stay() -> None:
    tunnel = made(is_rescoring=False)
    session(tunnel, 4)
    change, score = session(tunnel, 0)
    assert change.startswith("widened")
    assert np.isnan(score)


def test_a_change_that_was_not_taken_survives_a_kill() -> None:
    first, second = made(), made()
    session(first, 4)
    for _ in range(4):
        first.tell(visit(is_relevant=False), np.array([2]))
    second.restore(first.save())
    assert second.take_change() == first.take_change() != ""
    assert session(second, 4) == session(first, 4)
    assert second.save() == first.save()


def test_words_alone_are_not_widened() -> None:
    tunnel = strategy("tunnel+best-first", StrategyParts(), {"tunnel.session": 2})
    for is_relevant in (True, True, False, False):
        tunnel.tell(visit(is_relevant=is_relevant), np.array([2]))
    assert tunnel.take_change() == ""


@pytest.mark.parametrize(
    "wrong", [{"widen_below": 0.9, "narrow_above": 0.5}, {"narrow_above": 1.1}, {"session": 0}, {"widen_below": 0.0}]
)
def test_impossible_settings(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="tunnel"):
        TunnellingSettings(**wrong)


class Both:
    """An interest in two topics that tells by which frequencies it was widened."""

    topics = ("sailing", "sports")

    def __init__(self, rarer_by: str, text: str = "both", frequency: Mapping[str, float] | None = None) -> None:
        self.rarer_by, self._text, self.frequency = rarer_by, text, frequency

    def __str__(self) -> str:
        return self._text

    def relevance(self, scores: Mapping[str, float]) -> float:
        return min(scores.values(), default=0.0)

    def similarity(self, text: str) -> float:
        return 1.0 if self.frequency else 0.25

    def generalised(self, frequency: Mapping[str, float]) -> Both:
        return Both(self.rarer_by, "wider", frequency)

    def named(self, text: str, frequency: Mapping[str, float] | None = None) -> Both:
        return Both(self.rarer_by, text, frequency)


def tunnelled(rarer_by: str, inner: str = "best-first", **constants: float) -> Tunnelling:
    """After eight pages: sports has the smaller scores on most, sailing the smaller mean."""
    settings = {"tunnel.session": 4, **{f"tunnel.{name}": value for name, value in constants.items()}}
    found = strategy(f"tunnel+{inner}", StrategyParts(interest=Both(rarer_by), similarity=lambda _: 0.25), settings)
    assert isinstance(found, Tunnelling)
    for number in range(8):
        scores = {"sailing": 0.3, "sports": 0.2} if number % 4 else {"sailing": 0.1, "sports": 0.9}
        judgement = Judgement(0.2, number < 4, scores)
        found.tell(replace(visit(is_relevant=False), judgement=judgement), np.zeros(0, np.int64))
    return found


def frequency_of(tunnel: Tunnelling) -> Mapping[str, float]:
    focus = tunnel._focus.now
    assert isinstance(focus, Both)
    assert focus.frequency is not None
    return focus.frequency


def test_the_rarer_topic_by_either_of_the_papers_notions() -> None:
    assert frequency_of(tunnelled("score")) == pytest.approx({"sailing": 0.25, "sports": 0.375})
    assert frequency_of(tunnelled("lowering")) == {"sailing": 0.75, "sports": 0.25}


def test_what_a_focus_was_widened_by_survives_a_kill() -> None:
    first = tunnelled("lowering")
    parts = StrategyParts(interest=Both("lowering"))
    second = strategy("tunnel+best-first", parts, {"tunnel.session": 4})
    assert isinstance(second, Tunnelling)
    second.restore(first.save())
    assert frequency_of(second) == frequency_of(first)
    assert second.save() == first.save()


def test_a_state_of_before_is_still_read() -> None:
    first = tunnelled("score")
    head, (inner,) = unseal(first.name, first.save())
    older = {name: value for name, value in head.items() if name not in ("estimates", "lowered")}
    second = strategy("tunnel+best-first", StrategyParts(interest=Both("score")), {"tunnel.session": 4})
    assert isinstance(second, Tunnelling)
    second.restore(seal(first.name, older, inner))
    assert str(second._focus.now) == "wider"


@pytest.mark.parametrize(("is_narrow", "anchor"), [(False, 1.0), (True, 0.25)])
def test_anchors_may_stay_narrow(is_narrow: bool, anchor: float) -> None:
    tunnel = tunnelled("score", "ariadne", has_narrow_anchors=is_narrow)
    page = Page("http://a.test/", links=[Link("http://b.test/", anchor="sailing boats")])
    told = replace(
        visit(is_relevant=False), page=page, judgement=Judgement(0.0, False, {"sailing": 0.5, "sports": 0.4})
    )
    factors = tunnel.abilities.factors(told, page.links[0])
    assert factors["anchor"] == anchor
    assert factors["source"] == 0.4  # by the wider focus, in either case
