"""A replay follows the stop rules, and ends where a full crawl ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.model import Kind, Outcome
from lycosa.stopping.rules import StopRules
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

PLAN = WebPlan(seed=3, pages=120, hosts=5, topics=3, out_degree=8, disallowing_hosts=0.0, crawl_delay=0.0)


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return GeneratedWeb(PLAN)


@pytest.fixture(scope="module")
def world(web, tmp_path_factory) -> World:
    path = tmp_path_factory.mktemp("worlds") / "made.world"
    build_generated(web, path, is_rendered=True, readers=0)
    return World.open(path)


class Served:
    """The generated web as a dictionary for the rig's fetcher."""

    def __init__(self, web: GeneratedWeb) -> None:
        self._web = web

    def get(self, url, missing):
        answer = self._web.render(url)
        if answer.status == 301:
            return Outcome(Kind.REDIRECTED, "http 301", status=301, location=dict(answer.headers)["Location"])
        return answer.body.decode() if answer.status == 200 else missing


def best_first(judge):
    return strategy("best-first", StrategyParts.of(judge.abilities, rng=np.random.default_rng(1), buffer=None))


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (StopRules(relevant=6), "enough found: 6"),
        (StopRules(irrelevant=12), "irrelevant pages: 12"),
        (StopRules(irrelevant_in_a_row=6), "irrelevant pages in a row: 6"),
        (StopRules(precision=0.4, window=10), "precision: "),
        (StopRules(best_score=0.15), "best score: "),
        (StopRules(community=0.2, community_size=4), "community closed: "),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_ends_where_the_full_machine_ends(rules, words, web, world, rig, monkeypatch):
    judge = KeywordJudge(web.topic_keywords(0))
    seeds = web.seeds(0, 3, np.random.default_rng(1))
    urls = [web.url(page) for page in seeds]
    crawl = rig(Served(web))
    monkeypatch.setattr(crawl, "reading", lambda: replace(type(crawl).reading(crawl), judge=judge))
    live = crawl.crawl(
        *urls, strategy=best_first(judge), width=1, stop=rules, delay=0.0, fetch_time_factor=0.0, pages=100
    )
    numbers = [world.page_of(url) for url in urls]
    track = replay(JudgedWorld(world, judge), best_first(judge), numbers, pages=100, rules=rules)
    assert track.ending == live
    assert live.startswith(words)
    assert [world.url(page) for page in track.pages] == crawl.pages
    assert 3 < len(track.pages) < 100


def test_the_page_budget_and_advice_are_told(web, world):
    judge = KeywordJudge(web.topic_keywords(0))
    judged = JudgedWorld(world, judge)
    assert replay(judged, best_first(judge), [0], pages=5).ending == "page budget: 5 of 5 pages fetched"
    told = iter(["", "", "focus: nothing left to generalise"])
    track = replay(judged, best_first(judge), [0], pages=5, advice=lambda: next(told))
    assert track.ending == "focus: nothing left to generalise"
    assert len(track.pages) == 2
