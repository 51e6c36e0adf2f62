"""Ariadne's eight criteria, and their mean."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from lycosa.errors import ConfigError
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.strategies.papers import ariadne
from lycosa.strategies.papers.ariadne import CRITERIA, Ariadne, AriadneSettings
from lycosa.strategies.protocol import StrategyParts

FETCHED = Outcome(Kind.FETCHED, "http 200", status=200)
NONE = dict.fromkeys(CRITERIA, 0.0)


def visit(*links: Link, relevance: float = 0.8, url: str = "http://a.test/", distance: int = 0) -> Visit:
    lease = Lease(1, url, 1, 1.0, distance, 0, 0)
    page = Page(url, links=list(links))
    return Visit(Fetched(lease, FETCHED), FETCHED, page, Judgement(relevance, relevance >= 0.5))


def score(link: Link, *more: Link, relevance: float = 0.8, **weights: float) -> float:
    """Of the first link, with these weights alone."""
    parts = StrategyParts(similarity=lambda text: 0.5 if "sail" in text else 0.0)
    made = Ariadne(parts, AriadneSettings(**(NONE | weights)))
    told = visit(link, *more, relevance=relevance)
    return float(made.tell(told, np.arange(1 + len(more)))[0])


@pytest.mark.parametrize(
    ("criterion", "link", "expected"),
    [
        ("source", Link("http://b.test/"), 0.8),
        ("url", Link("http://b.test/sailing/x.html"), 0.5),
        ("url", Link("http://b.test/x.html"), 0.01),
        ("anchor", Link("http://b.test/", anchor="sailing boats"), 0.5),
        ("anchor", Link("http://b.test/", anchor="more", context="where to sail next"), 0.25),
        ("anchor", Link("http://b.test/", anchor="home", other_anchors=("next", "sailing boats")), 0.5),
        ("anchor", Link("http://b.test/", "home", "where to sail next", other_anchors=("next",)), 0.25),
        ("anchor", Link("http://b.test/", other_anchors=("sailing boats",)), 0.5),
        ("anchor", Link("http://b.test/"), 0.01),
        ("host", Link("http://a.test/x"), 2 / 3),
        ("host", Link("http://b.test/x"), 1 / 2),
        ("distance", Link("http://b.test/x"), 1 / 2),
        ("depth", Link("http://b.test/"), 1.0),
        ("depth", Link("http://b.test/a/b/c.html?x=/y/z"), 1 / 4),
        ("transversal", Link("http://b.test/"), 1.0),
        ("transversal", Link("http://a.test/x"), 0.5),
        ("out_links", Link("http://b.test/"), log(2) / log(101)),
    ],
)
def test_one_criterion_alone(criterion: str, link: Link, expected: float) -> None:
    assert score(link, **{criterion: 2.0}) == pytest.approx(expected)


def test_together_they_are_a_weighted_geometric_mean() -> None:
    found = score(Link("http://b.test/x", anchor="sail"), source=3.0, anchor=1.0)
    assert found == pytest.approx(exp((3 * log(0.8) + log(0.5)) / 4))


def test_zeros_are_floored() -> None:
    assert score(Link("http://b.test/"), relevance=0.0, source=1.0, floor=0.2) == pytest.approx(0.2)


def test_a_host_earns_its_record() -> None:
    made = Ariadne(StrategyParts(), AriadneSettings(**(NONE | {"host": 1.0})))
    for number in range(15):
        made.tell(visit(relevance=0.1, url=f"http://b.test/{number}"), np.zeros(0, dtype=np.int64))
    assert made.tell(visit(Link("http://b.test/16")), np.array([1])).tolist() == pytest.approx([1 / 17])


def test_factors_for_people() -> None:
    made = Ariadne(StrategyParts(similarity=lambda text: 0.0), AriadneSettings())
    factors = made.factors(visit(Link("http://b.test/x")), Link("http://b.test/x"))
    assert tuple(factors) == CRITERIA
    assert factors["source"] == 0.8


def test_a_page_without_links_or_a_strange_url() -> None:
    made = Ariadne(StrategyParts(), AriadneSettings())
    assert made.tell(visit(), np.zeros(0, dtype=np.int64)).shape == (0,)
    assert ariadne.host_of("nonsense") == ""
    assert ariadne.shallowness("nonsense") == 1.0


@pytest.mark.parametrize("wrong", [NONE, {"source": -1.0}, {"floor": 0.0}, {"floor": 1.5}])
def test_impossible_settings(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="ariadne"):
        AriadneSettings(**wrong)
