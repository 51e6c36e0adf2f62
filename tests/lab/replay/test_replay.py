"""A replay is evidence only because it fetches what a full crawl fetches: these tests compare the two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from distilled import distilling
from lycosa.crawl.centrality import DistillingSettings
from lycosa.crawl.reading import Reading
from lycosa.errors import ConfigError
from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.evaluate.runs import LOOK_AHEAD, ORACLE, Scores
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.compare import ComparePlan, guide_of, run_topic, runs_of_task
from lycosa.lab.replay.distilling import ReplayDistilling
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.replay.tasks import make_task
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.model import Kind, Outcome
from lycosa.page.furniture import Furniture
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.table import strategy

NAMES = (
    "breadth-first",
    "random",
    "best-first",
    "best-first-16",
    "shark",
    "shark-16",
    "fish",
    "pagerank",
    "infospiders",
    "infospiders-no-learning",
    "infospiders-no-evolution",
    "hunter",
)
PLAN = WebPlan(seed=3, pages=160, hosts=6, topics=3, out_degree=10, disallowing_hosts=0.0, crawl_delay=0.0)


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return GeneratedWeb(PLAN)


@pytest.fixture(scope="module")
def world(web: GeneratedWeb, tmp_path_factory: pytest.TempPathFactory) -> World:
    path = tmp_path_factory.mktemp("worlds") / "made.world"
    build_generated(web, path, is_rendered=True, readers=0)
    return World.open(path)


class Served:
    """The generated web as a dictionary for the rig's fetcher."""

    def __init__(self, web: GeneratedWeb) -> None:
        self._web = web

    def get(self, url: str, missing: object) -> object:
        answer = self._web.render(url)
        if answer.status == 200:
            return answer.body.decode()
        if answer.status == 301:
            location = dict(answer.headers)["Location"]
            return Outcome(Kind.REDIRECTED, "http 301", status=301, location=location)
        return missing


def made(name: str, judge: KeywordJudge, buffer: int | None) -> Strategy:
    return strategy(name, StrategyParts.of(judge.abilities, rng=np.random.default_rng(5), buffer=buffer))


@pytest.mark.parametrize("buffer", [None, 24], ids=["no limit", "buffer 24"])
@pytest.mark.parametrize("name", NAMES)
def test_a_replay_goes_the_way_of_the_full_machine(
    name: str, buffer: int | None, web: GeneratedWeb, world: World, rig, monkeypatch
) -> None:
    judge = KeywordJudge(web.topic_keywords(0))
    seeds = web.seeds(0, 3, np.random.default_rng(1))
    urls = [web.url(page) for page in seeds]
    crawl = rig(Served(web))
    monkeypatch.setattr(crawl, "reading", lambda: type(crawl).reading(crawl).__class__(urls=crawl.urls, judge=judge))
    crawl.crawl(
        *urls, strategy=made(name, judge, buffer), buffer=buffer, width=1, pages=90, delay=0.0, fetch_time_factor=0.0
    )
    fetched = [
        row[0] for row in crawl.store.query("select f.url from pages p join frontier f using (id) order by number")[1]
    ]
    numbers = [world.page_of(url) for url in urls]
    track = replay(JudgedWorld(world, judge), made(name, judge, buffer), numbers, pages=90, buffer=buffer)
    assert [world.url(page) for page in track.pages] == fetched
    assert len(fetched) > 30


def test_a_replay_makes_the_guesses_of_the_full_machine(rig, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(Furniture, "of", lambda *_: b"")  # a replay knows it from the first page on, a crawl does not
    web = GeneratedWeb(replace(PLAN, hosts=20, navigation=0.0, host_locality=0.9, out_degree=4))
    build_generated(web, tmp_path / "sparse.world", is_rendered=True, readers=0)
    world = World.open(tmp_path / "sparse.world")
    judge = KeywordJudge(web.topic_keywords(0), threshold=0.05)
    seeds = web.seeds(0, 3, np.random.default_rng(1))
    crawl = rig(Served(web))
    monkeypatch.setattr(crawl, "reading", lambda: Reading(urls=crawl.urls, judge=judge))
    crawl.crawl(
        *map(web.url, seeds), strategy=made("hunter", judge, None), width=1, pages=60, delay=0.0, fetch_time_factor=0.0
    )
    uncited = "select url from frontier f where distance > 0 and redirects = 0 and state != 'waiting' and not exists"
    guesses = crawl.sql(f"{uncited} (select 1 from links where target_id = f.id)")
    assert len(guesses) > 2
    track = replay(JudgedWorld(world, judge), made("hunter", judge, None), seeds, pages=60)
    assert [world.url(page) for page in track.pages] == crawl.pages


@pytest.mark.parametrize("across_sites", [True, False], ids=["between sites", "within sites, too"])
@pytest.mark.parametrize("name", ["best-first", "breadth-first", "hunter"])
def test_a_replay_distils_as_the_full_machine_does(
    name: str, across_sites: bool, web: GeneratedWeb, world: World, rig, monkeypatch
) -> None:
    judge = KeywordJudge(web.topic_keywords(0))
    settings = DistillingSettings(every=15, revisited=0, top=10, unvisited=20, across_sites=across_sites)
    seeds = web.seeds(0, 3, np.random.default_rng(1))
    crawl = rig(Served(web))
    monkeypatch.setattr(crawl, "reading", lambda: Reading(urls=crawl.urls, judge=judge))
    monkeypatch.setattr(Furniture, "of", lambda *_: b"")
    polite = {"delay": 0.0, "fetch_time_factor": 0.0}
    strategy_of_crawl, watch = made(name, judge, None), distilling(crawl, settings)
    crawl.crawl(*map(web.url, seeds), strategy=strategy_of_crawl, width=1, pages=90, watch=watch, **polite)
    distilled = ReplayDistilling(settings)
    judged = JudgedWorld(world, judge)
    track = replay(judged, made(name, judge, None), seeds, pages=90, distilling=distilled)
    assert [world.url(page) for page in track.pages] == crawl.pages
    assert distilled.times == len(crawl.sql("select 1 from events where kind = 'distilled'")) > 3
    fetched = {world.url(number) for number in distilled.raised} & set(crawl.pages)
    assert len(fetched) > 3
    assert track.pages != replay(judged, made(name, judge, None), seeds, pages=90).pages


def test_hubs_that_a_live_crawl_would_fetch_again_are_counted(web: GeneratedWeb, world: World) -> None:
    judge = KeywordJudge(web.topic_keywords(0))
    distilled = ReplayDistilling(DistillingSettings(every=20, revisited=5, top=3))
    replay(JudgedWorld(world, judge), made("best-first", judge, None), [0, 1, 2], pages=60, distilling=distilled)
    assert (distilled.times, distilled.revisits) == (3, 9)


def test_what_is_not_recorded_is_missing_and_costs_no_page(world: World, web: GeneratedWeb) -> None:
    judge = KeywordJudge(web.topic_keywords(0))
    track = replay(JudgedWorld(world, judge), made("breadth-first", judge, None), [0, 1, 2], pages=1000)
    assert track.missing > 0
    assert len(set(track.pages)) == len(track.pages)
    assert {len(column) for column in (track.relevance, track.distance, track.cpu, track.frontier)} == {
        len(track.pages)
    }


def test_labels_of_pages_change_no_crawl(world: World) -> None:
    """Honesty: only the oracles know which pages are relevant. Two opposite truths give the same crawls."""
    plan = ComparePlan(
        world=world.path, topics=("any",), strategies=NAMES, distance=1, pages=40, buffer=64, repeats=1, seeds=3
    )
    topic = max(world.topics, key=lambda name: len(world.pages_of(name)))
    task = make_task(world, topic, distance=1, seeds=3, rng=np.random.default_rng(2))
    ways = []
    for relevant in (task.relevant, ~task.relevant):
        changed = type(task)(**{name: getattr(task, name) for name in task.__slots__} | {"relevant": relevant})
        ways.append({run.strategy: run.pages.tolist() for run in runs_of_task(plan, guide_of(plan, topic), changed, 0)})
    for name in (ORACLE, LOOK_AHEAD):
        assert ways[0].pop(name) != ways[1].pop(name)
    assert ways[0] == ways[1]


def test_sharing_similarities_changes_no_crawl(world: World) -> None:
    plan = ComparePlan(
        world=world.path, topics=("any",), strategies=NAMES, distance=1, pages=40, buffer=64, repeats=1, seeds=3
    )
    topic = world.topics[0]
    task = make_task(world, topic, distance=1, seeds=3, rng=np.random.default_rng(2))
    ways = [
        {run.strategy: run.pages.tolist() for run in runs_of_task(plan, guide_of(each, topic), task, 0)}
        for each in (plan, replace(plan, is_timed=False))
    ]
    assert ways[0] == ways[1]


def test_crawls_from_two_halves_of_the_seeds(world: World) -> None:
    topic = max(world.topics, key=lambda name: len(world.pages_of(name)))
    plan = ComparePlan(
        world=world.path,
        topics=(topic,),
        strategies=("breadth-first",),
        distance=0,
        pages=40,
        repeats=2,
        seeds=4,
        has_overlap=True,
    )
    scores = run_topic((plan, topic))
    assert isinstance(scores, Scores)
    assert set(scores.overlaps) == {"breadth-first", "random", "look-ahead", "oracle"}
    pages = scores.overlaps["breadth-first"]["pages"]
    assert pages[0] == 0  # the halves have no seed in common
    assert 0 < pages[-1] < 1
    with pytest.raises(ConfigError, match="halved"):
        replace(plan, seeds=1)


def test_pages_given_away_as_seeds_are_not_graded(world: World) -> None:
    topic = max(world.topics, key=lambda name: len(world.pages_of(name)))
    members = len(world.pages_of(topic))
    plan = ComparePlan(
        world=world.path, topics=(topic,), strategies=("breadth-first",), distance=0, pages=2000, repeats=3, seeds=4
    )
    scores = run_topic((plan, topic))
    assert isinstance(scores, Scores)
    for metric in ("relevant", "recall"):
        assert scores.curves[metric][0, 3] == 0  # breadth-first fetches its seeds first
    assert scores.curves["relevant"].max() <= members - 4
    assert scores.curves["recall"].max() <= 1


def test_bounds_earn_nothing_by_pages_that_the_crawl_was_given(world: World) -> None:
    topic = max(world.topics, key=lambda name: len(world.pages_of(name)))
    plan = ComparePlan(
        world=world.path, topics=(topic,), strategies=("breadth-first",), distance=0, pages=30, repeats=1, seeds=4
    )
    task = make_task(world, topic, distance=0, seeds=4, rng=np.random.default_rng(1))
    shown = replace(task, is_graded=task.is_graded & (np.arange(len(world)) != task.targets[0]))
    guide = guide_of(plan, topic)
    for name in (ORACLE, LOOK_AHEAD):
        (run,) = (run for run in runs_of_task(plan, guide, shown, 0) if run.strategy == name)
        (free,) = (run for run in runs_of_task(plan, guide, task, 0) if run.strategy == name)
        # A page that was given away is worth no more than any other: it is not hurried to.
        assert task.targets[0] in free.pages
        place = run.pages.tolist().index(task.targets[0]) if task.targets[0] in run.pages else len(run.pages)
        assert place > free.pages.tolist().index(task.targets[0])
        assert task.targets[0] in run.given


class TestCost:
    """CPU time is that of the algorithm: its own, its queue's, and that of judging where it goes by that."""

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        """A clock of the process that only moves when it is told to."""
        now = [0.0]
        monkeypatch.setattr("lycosa.lab.replay.replay.time.process_time", lambda: now[0])
        return now

    def cpu(self, world: World, clock: list[float], name: str, **spent: float) -> float:
        class Slow(KeywordJudge):
            def judge(self, page):
                clock[0] += spent.get("judge", 0.0)
                return super().judge(page)

        judge = Slow("cycling")
        chosen = made(name, judge, None)
        tell, ask = chosen.tell, chosen.ask

        def slow_tell(visit, targets):
            clock[0] += spent.get("tell", 0.0)
            return tell(visit, targets)

        def slow_ask(count, frontier, now):
            clock[0] += spent.get("ask", 0.0)
            push = frontier.push_many

            def slow_push(*columns):
                clock[0] += spent.get("queue", 0.0)
                return push(*columns)

            if "queue" in spent and not hasattr(frontier, "is_slow"):
                frontier.push_many, frontier.is_slow = slow_push, True
            return ask(count, frontier, now)

        chosen.tell, chosen.ask = slow_tell, slow_ask
        judged = JudgedWorld(world, judge)
        first = replay(judged, chosen, [0], pages=10).cpu
        assert len(first) == 10
        return first[-1]

    def test_telling_and_asking_count(self, world, clock):
        assert self.cpu(world, clock, "breadth-first", tell=1.0) == 10
        assert self.cpu(world, clock, "breadth-first", ask=1.0) == 10

    def test_the_queue_counts(self, world, clock):
        assert 5 <= self.cpu(world, clock, "breadth-first", queue=1.0) <= 10  # pages without a new link push none

    def test_judging_counts_for_those_that_go_by_it(self, world, clock):
        assert self.cpu(world, clock, "best-first", judge=1.0) == 10
        assert self.cpu(world, clock, "shark", judge=1.0) == 10
        assert self.cpu(world, clock, "breadth-first", judge=1.0) == 0
        assert self.cpu(world, clock, "infospiders", judge=1.0) == 0

    def test_every_crawl_pays_for_a_page_whoever_came_first(self, world, clock):
        class Slow(KeywordJudge):
            def judge(self, page):
                clock[0] += 1.0
                return super().judge(page)

        judge = Slow("cycling")
        judged = JudgedWorld(world, judge)
        paid = [replay(judged, made("best-first", judge, None), [0], pages=10).cpu[-1] for _ in range(2)]
        assert paid == [10, 10]


def test_the_same_seed_gives_the_same_replay(world: World, web: GeneratedWeb) -> None:
    judge = KeywordJudge(web.topic_keywords(0))
    for name in NAMES:
        first, second = (
            replay(JudgedWorld(world, judge), made(name, judge, 32), [0, 5], pages=60, buffer=32).pages
            for _ in range(2)
        )
        assert first == second, name
