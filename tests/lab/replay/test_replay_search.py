"""Search engines over a recorded web: what they know, how they rank, and that a replay with them works like a crawl."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.replay.search import SearchPlan, WorldEngine, partial_engines
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.seeds.metasearch.settings import MetaSearchSettings
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.table import STRATEGIES, strategy

SETTINGS = MetaSearchSettings(is_on=True, every=20, dry_pages=0)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    path = tmp_path_factory.mktemp("world") / "small.world"
    build_generated(GeneratedWeb(WebPlan(seed=7, pages=300, hosts=8, topics=3, out_degree=4, paragraphs=2)), path)
    return World.open(path)


@pytest.fixture(scope="module")
def engines(world) -> list[WorldEngine]:
    return partial_engines(world, 3, coverage=0.4)


@pytest.fixture(scope="module")
def judged(world) -> JudgedWorld:
    return JudgedWorld(world, KeywordJudge("cycling"))


def crawl(judged, engines, *, name="best-first", pages=60, seeds=(), settings=SETTINGS):
    parts = StrategyParts.of(KeywordJudge("cycling").abilities, rng=np.random.default_rng(1))
    plan = SearchPlan(words="cycling", engines=engines, settings=settings, threshold=0.1)
    return replay(judged, strategy(name, parts), seeds, pages=pages, search=plan)


class TestEngine:
    def test_each_knows_another_part(self, world, engines):
        known = [set(engine.pages.tolist()) for engine in engines]
        documents = int((np.asarray(world.statuses) < 300).sum())
        for each in known:
            assert len(each) == pytest.approx(0.4 * documents, rel=0.25)
        assert len(known[0] & known[1]) == pytest.approx(0.16 * documents, rel=0.5)
        assert len(set.union(*known)) < documents

    def test_the_same_part_every_time_another_by_seed(self, world, engines):
        again = WorldEngine(world, engines[0].name, coverage=0.4)
        assert again.pages.tolist() == engines[0].pages.tolist()
        other = WorldEngine(world, engines[0].name, coverage=0.4, seed=1)
        assert other.pages.tolist() != engines[0].pages.tolist()

    def test_pages_with_the_words_the_best_first(self, world, engines):
        found = engines[0].answer("cycling", 10).found
        assert len(found) == 10
        counts = [world.terms(world.page_of(url)).get("cycl", 0) for url, _ in found]
        assert min(counts) >= 1
        assert counts[0] >= np.median(counts)

    def test_a_rare_word_decides(self, world, engines):
        engine = engines[0]
        page = int(engine.pages[5])
        rare = min(
            (term for term in world.terms(page) if len(term) > 3),
            key=lambda term: sum(term in world.terms(int(other)) for other in engine.pages[:60]),
        )
        assert world.url(page) in [url for url, _ in engine.answer(f"the {rare}", 20).found]

    def test_nothing(self, engines):
        assert engines[0].answer("zyzzyva", 10).outcome == "nothing found"


class TestReplay:
    def test_from_words_alone(self, world, judged, engines):
        track = crawl(judged, engines)
        assert len(track.pages) == 60
        assert len(set(track.pages)) == 60
        found = {world.page_of(url) for engine in engines for url, _ in engine.answer("cycling", 20).found}
        assert set(track.pages[:10]) <= found
        assert set(track.distance[:10]) == {1}
        topic = set(world.pages_of("cycling").tolist())
        assert len(topic & set(track.pages)) > 20

    def test_twice_the_same(self, judged, engines):
        assert crawl(judged, engines).pages == crawl(judged, engines).pages

    @pytest.mark.parametrize("name", [*STRATEGIES, "decay+breadth-first", "hard+best-first", "best-first-4"])
    def test_whatever_the_strategy(self, name, judged, engines):
        track = crawl(judged, engines, name=name, pages=45)
        assert len(track.pages) == 45 or track.ending.startswith("frontier empty")
        assert len(set(track.pages)) == len(track.pages) >= 10

    def test_when_nothing_is_left_it_searches_again(self, judged, engines):
        class NoLinks(Strategy):
            """Fetches only what it is given."""

            name = "no-links"

            def tell(self, visit, targets):
                return np.full(len(targets), np.nan)

        plan = SearchPlan(words="cycling", engines=engines, settings=replace(SETTINGS, every=0), threshold=0.1)
        track = replay(judged, NoLinks(), [], pages=35, search=plan)
        assert len(track.pages) > 10
        assert set(track.distance[:10]) == {1}

    def test_only_what_is_told_gives_words(self, judged, engines):
        """The judge that guides decides on which titles the next queries are made of."""
        plan = SearchPlan(words="cycling", engines=engines, settings=SETTINGS, relevance=lambda: [0.0] * 1000)
        parts = StrategyParts.of(KeywordJudge("cycling").abilities, rng=np.random.default_rng(1))
        asked = []
        for engine in engines:
            engine.answer = lambda query, count, own=engine.answer: asked.append(query) or own(query, count)
        try:
            replay(judged, strategy("best-first", parts), [], pages=60, search=plan)
        finally:
            for engine in engines:
                del engine.answer
        assert set(asked) == {"cycling"}

    def test_without_a_plan_nothing_changes(self, judged, world):
        seeds = world.pages_of("cycling")[:3].tolist()
        parts = StrategyParts.of(KeywordJudge("cycling").abilities, rng=np.random.default_rng(1))
        plain = replay(judged, strategy("best-first", parts), seeds, pages=40)
        assert plain.pages[:3] == seeds
