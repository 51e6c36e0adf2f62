"""What the forecast counts as relevant: what the crawl counts as relevant."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.lib.text import term_counts
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.strategies.hunter.hunter import Hunter, HunterSettings
from lycosa.strategies.protocol import StrategyParts

FETCHED = Outcome(Kind.FETCHED, "http 200", status=200)


def visit(number: int, judgement: Judgement, text: str) -> Visit:
    links = [Link(f"http://a.test/{number + 1}", "onward", position=0)]
    page = Page(f"http://a.test/{number}", text=text, links=links, terms=term_counts(text), fingerprint=number + 1)
    lease = Lease(number, page.url, 1, 0.5, min(number, 1), 0, 0)
    return Visit(Fetched(lease, FETCHED), FETCHED, page, judgement)


def told(hunter: Hunter, judgements: list[Judgement], text: str = "cycling tours") -> list[float]:
    for number, judgement in enumerate(judgements):
        hunter.tell(visit(number, judgement, text), np.array([number + 1]))
    return hunter.history().relevant.tolist()


def test_the_crawls_judge_decides_where_nothing_is_learned():
    hunter = Hunter(StrategyParts(), HunterSettings())
    judgements = [Judgement(0.3, True), Judgement(0.7, False), Judgement(0.2, True)]
    assert told(hunter, judgements) == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(("threshold", "counted"), [(0.05, 1.0), (0.95, 0.0)])
def test_the_judges_threshold_holds_where_the_topic_is_studied(threshold, counted):
    judge = ContrastJudge.fit((), "recreational cycling", threshold=threshold)
    hunter = Hunter(StrategyParts.of(judge.abilities, rng=np.random.default_rng(0)), HunterSettings())
    text = "recreational cycling " + " ".join(f"word{n}" for n in range(60))
    relevant = told(hunter, [Judgement(0.5, True)] * 4, text)
    relevance = hunter.study.recent_verdicts()
    assert ((relevance > 0.05) & (relevance < 0.95)).all()
    assert relevant == [counted] * 4
