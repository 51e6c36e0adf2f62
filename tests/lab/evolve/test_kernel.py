"""The kernel is evidence only because it downloads what `crawl.loop.run` downloads: these tests compare the two."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.fetch.urls import url_hash
from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.evolve.link_arrays import DOCUMENT, LinkArrays, link_arrays_of, ordered_scores, verdicts_of
from lycosa.lab.evolve.simulator import CrawlPlan, Simulator
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.model import Judgement, Link, Page
from lycosa.strategies.papers import evolved
from lycosa.strategies.papers.current_list import CurrentList, CurrentListSettings
from lycosa.strategies.papers.evolved import GA2003, PHASES, WEIGHTS, Evolved, EvolvedSettings, weight_names
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

ORDERS = [
    None,
    CurrentListSettings(),
    CurrentListSettings(size=7, refill=3),
    CurrentListSettings(size=3, refill=3),
    CurrentListSettings(size=1, refill=1),
]
NAMES = ["best next", "current list", "short list", "list that runs empty", "list of one"]


class MadeWorld:
    """What a replay needs of a world, made from random numbers, with self-links, nofollow, redirects and dead links.

    It is its own judge.
    """

    def __init__(self, seed: int, *, pages: int = 60, dead: int = 6, has_margins: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.urls = [f"http://h{number % 5}.test/{number}" for number in range(pages + dead)]
        self.url_hosts = np.arange(pages + dead) % 5
        links = [rng.choice(pages + dead, rng.integers(0, 9), replace=False) for _ in range(pages)]
        self.redirects = np.where(rng.random(pages) < 0.1, rng.integers(0, pages, pages), DOCUMENT).astype(np.int32)
        for page in np.flatnonzero(self.redirects >= 0).tolist():
            links[page] = links[page][:0]
        self.link_offsets = np.concatenate([[0], np.cumsum([len(each) for each in links])])
        self.link_urls = np.concatenate(links).astype(np.int32)
        self.nofollow = rng.random(len(self.link_urls)) < 0.1
        # Few different values: many ties, and scores of exactly 0.
        self.relevance = rng.integers(0, 5, pages) / 4
        self.is_relevant = rng.random(pages) < 0.4
        self.margins: np.ndarray | None = None
        if has_margins:  # far below −1, too, where the score of a link is not rank + 1
            self.margins = rng.choice([-2.5, -1.5, -1.0, -0.25, 0.0, 0.25, 1.5], pages)
        self.anchors = (rng.integers(0, 4, len(self.link_urls)) / 3).astype(np.float32)
        self.world = self
        self.seconds: dict[int, float] = {}  # judging takes no time

    def __len__(self) -> int:
        return len(self.redirects)

    def visit(self, page: int) -> tuple[Page, Judgement]:
        low, high = self.link_offsets[page : page + 2].tolist()
        links = [
            Link(self.urls[url], str(anchor))
            for url, anchor in zip(self.link_urls[low:high].tolist(), self.anchors[low:high].tolist(), strict=True)
        ]
        margin = None if self.margins is None else float(self.margins[page])
        judgement = Judgement(float(self.relevance[page]), bool(self.is_relevant[page]), margin=margin)
        return Page(self.urls[page], links=links), judgement

    def is_redirect(self, page: int) -> bool:
        return bool(self.redirects[page] != DOCUMENT)

    def status(self, page: int) -> int:
        return 301 if self.is_redirect(page) else 200

    def location(self, page: int) -> str:
        return self.urls[self.redirects[page]]

    def number_of_hash(self, hashes):
        known = {url_hash(url): number for number, url in enumerate(self.urls)}
        return np.array([known[value] for value in hashes.tolist()])

    def web(self) -> LinkArrays:
        return LinkArrays(
            urls=len(self.urls),
            link_offsets=self.link_offsets,
            link_urls=self.link_urls,
            nofollow=self.nofollow,
            redirects=self.redirects,
            ordered_score=ordered_scores(self.relevance),
            is_relevant=self.is_relevant,
            anchors=self.anchors,
            hosts=self.url_hosts.astype(np.int32),
        )


def judged_web(judged: JudgedWorld, similarity=None) -> LinkArrays:
    return link_arrays_of(judged.world, verdicts_of(judged.world, lambda page: judged.visit(page)[1], similarity))


def random_weights(rng: np.random.Generator, count: int = len(GA2003)) -> EvolvedSettings:
    values = rng.integers(0, 128, count) * (rng.random(count) < 0.8)
    values[rng.integers(count)] = 1 + rng.integers(127)
    return EvolvedSettings(**dict(zip(WEIGHTS, values.tolist(), strict=False)))


def random_phases(rng: np.random.Generator, *, pages: int, count: int = len(GA2003)) -> EvolvedSettings:
    """Two or three phases; sometimes one of them is empty, or begins after the crawl has ended."""
    switches = np.sort(1 + rng.integers(0, pages + 5, 2)).tolist()
    phases = 2 + int(rng.integers(2))
    values = dataclasses.asdict(random_weights(rng, count))
    for phase, switch in zip(range(1, phases), switches, strict=False):
        weights = random_weights(rng, count)
        values |= {name: getattr(weights, own) for name, own in zip(weight_names(phase), WEIGHTS, strict=True)}
        values[f"{PHASES[phase]}_from"] = switch
    return EvolvedSettings(**values)


def replayed(judged, settings: EvolvedSettings, plan: CrawlPlan, seed: int, similarity=float) -> list[int]:
    chosen = Evolved(StrategyParts(similarity=similarity), settings)
    if plan.order is not None:
        chosen = CurrentList(chosen, rng=np.random.default_rng(seed), settings=plan.order)
    return replay(judged, chosen, plan.seeds.tolist(), pages=plan.pages).pages


def simulated(simulator: Simulator, settings: EvolvedSettings, plan: CrawlPlan, seed: int) -> list[int]:
    return simulator.crawl(settings, plan, np.random.default_rng(seed)).tolist()


@pytest.fixture(scope="module", params=[1, 2, 3])
def recorded(request, tmp_path_factory) -> JudgedWorld:
    web = GeneratedWeb(WebPlan(seed=request.param, pages=250, hosts=8, topics=3, out_degree=10))
    path = tmp_path_factory.mktemp("kernel") / "made.world"
    build_generated(web, path, is_rendered=True, readers=0)
    return JudgedWorld(World.open(path), KeywordJudge(web.topic_keywords(0)))


class TestSameWay:
    @pytest.mark.parametrize("order", ORDERS, ids=NAMES)
    def test_as_the_crawl_itself_on_generated_worlds(self, recorded, order):
        rng = np.random.default_rng(11)
        simulator = Simulator(judged_web(recorded))
        for number in range(3):
            seeds = rng.choice(len(recorded.world), 4, replace=False)
            settings = random_weights(rng)
            plan = CrawlPlan(seeds=seeds, pages=150, order=order)
            way = simulated(simulator, settings, plan, number)
            assert way == replayed(recorded, settings, plan, number)
            assert len(set(way)) == len(way) > 100

    @pytest.mark.parametrize("order", ORDERS, ids=NAMES)
    def test_as_the_crawl_itself_on_webs_full_of_ties_and_traps(self, order):
        rng = np.random.default_rng(12)
        lengths = []
        for number in range(25):
            made = MadeWorld(number)
            plan = CrawlPlan(seeds=rng.choice(len(made), 3, replace=False), pages=len(made), order=order)
            settings = random_weights(rng)
            way = simulated(Simulator(made.web()), settings, plan, number)
            assert way == replayed(made, settings, plan, number), f"world {number}"
            lengths.append(len(way))
        assert np.mean(lengths) > 30

    @pytest.mark.parametrize("order", ORDERS[:3], ids=NAMES[:3])
    def test_also_by_the_raw_margins_of_a_judge(self, order):
        rng = np.random.default_rng(18)
        differs = 0
        for number in range(20):
            made = MadeWorld(number, has_margins=True)
            plan = CrawlPlan(seeds=rng.choice(len(made), 3, replace=False), pages=len(made), order=order)
            settings = dataclasses.replace(random_weights(rng), parent_1=127, hub=1, authority=1)
            verdicts = verdicts_of(made, lambda page, made=made: made.visit(page)[1])
            assert verdicts.is_relevant.tolist() == [
                bool(margin > 0) and redirect == DOCUMENT
                for margin, redirect in zip(made.margins, made.redirects, strict=True)
            ]
            web = link_arrays_of(made, verdicts)
            way = simulated(Simulator(web), settings, plan, number)
            assert way == replayed(made, settings, plan, number), f"world {number}"
            differs += way != simulated(Simulator(made.web()), settings, plan, number)
        assert differs > 10

    @pytest.mark.parametrize("order", ORDERS[:3], ids=NAMES[:3])
    def test_also_with_weights_for_anchors_and_hosts(self, order):
        rng = np.random.default_rng(14)
        differs = 0
        for number in range(20):
            made = MadeWorld(number)
            plan = CrawlPlan(seeds=rng.choice(len(made), 3, replace=False), pages=len(made), order=order)
            settings = random_weights(rng, len(WEIGHTS))
            simulator = Simulator(made.web())
            simulated(simulator, random_weights(rng, len(WEIGHTS)), plan, 0)  # leaves records of hosts
            way = simulated(simulator, settings, plan, number)
            assert way == replayed(made, settings, plan, number), f"world {number}"
            plain = dataclasses.replace(settings, anchor=0, host=0, hub=settings.hub or 1)
            differs += way != simulated(simulator, plain, plan, number)
        assert differs > 10

    @pytest.mark.parametrize("order", ORDERS, ids=NAMES)
    def test_also_with_phases_on_webs_full_of_ties_and_traps(self, order):
        rng = np.random.default_rng(16)
        switched, differs = 0, 0
        for number in range(40):
            made = MadeWorld(number)
            plan = CrawlPlan(seeds=rng.choice(len(made), 3, replace=False), pages=len(made), order=order)
            settings = random_phases(rng, pages=len(made), count=len(WEIGHTS) if number % 2 else len(GA2003))
            simulator = Simulator(made.web())
            way = simulated(simulator, settings, plan, number)
            assert way == replayed(made, settings, plan, number), f"world {number}: {settings}"
            switched += len(way) > settings.middle_from
            early = EvolvedSettings(**{name: getattr(settings, name) for name in WEIGHTS})
            same = settings.middle_from
            plain = simulated(simulator, early, plan, number)
            assert way[:same] == plain[:same]
            differs += way[same:] != plain[same:]
        assert switched > 20
        assert differs > 5

    @pytest.mark.parametrize("order", ORDERS[:2], ids=NAMES[:2])
    def test_also_with_phases_on_generated_worlds(self, recorded, order):
        rng = np.random.default_rng(17)
        simulator = Simulator(judged_web(recorded))
        for number in range(4):
            plan = CrawlPlan(seeds=rng.choice(len(recorded.world), 4, replace=False), pages=150, order=order)
            settings = random_phases(rng, pages=plan.pages)
            assert simulated(simulator, settings, plan, number) == replayed(recorded, settings, plan, number)

    def test_anchors_and_hosts_of_a_world(self, recorded):
        rng = np.random.default_rng(15)
        judge = KeywordJudge("cycling tours and road bikes")
        simulator = Simulator(judged_web(recorded, judge.score_text))
        for number in range(2):
            settings = dataclasses.replace(random_weights(rng), anchor=90, host=120)
            plan = CrawlPlan(seeds=rng.choice(len(recorded.world), 4, replace=False), pages=150)
            way = simulated(simulator, settings, plan, number)
            assert way == replayed(recorded, settings, plan, number, judge.score_text)

    def test_also_where_news_of_ancestors_is_too_much_to_hand_down(self, monkeypatch):
        rng = np.random.default_rng(13)
        # The kernel's limit is compiled in: here the strategy's is made larger, and smaller, and must then differ.
        made = [MadeWorld(number) for number in range(30)]
        plans = [CrawlPlan(seeds=rng.choice(60, 3, replace=False), pages=60) for _ in made]
        weights = EvolvedSettings(**dict.fromkeys(WEIGHTS, 0) | {"parent_2": 1, "parent_3": 1, "hub": 0.01})
        exact = [simulated(Simulator(each.web()), weights, plan, 0) for each, plan in zip(made, plans, strict=True)]
        monkeypatch.setattr(evolved, "MAX_SPREAD", 0)
        assert exact != [replayed(each, weights, plan, 0) for each, plan in zip(made, plans, strict=True)]
        monkeypatch.setattr(evolved, "MAX_SPREAD", 1 << 60)
        assert exact == [replayed(each, weights, plan, 0) for each, plan in zip(made, plans, strict=True)]

    def test_one_run_leaves_nothing_behind_for_the_next(self):
        made, rng = MadeWorld(5), np.random.default_rng(1)
        plan = CrawlPlan(seeds=np.array([1, 2]), pages=50)
        used, settings = Simulator(made.web()), random_weights(rng)
        first = simulated(used, settings, plan, 0)
        for number in range(20):
            simulated(used, random_weights(rng), dataclasses.replace(plan, order=ORDERS[number % len(ORDERS)]), number)
        used.memory.base = np.iinfo(np.int32).max - 10  # as after very many runs
        assert simulated(used, settings, plan, 0) == first


class TestOrders:
    def test_best_first_is_the_special_case_of_one_weight(self, recorded):
        """PARENT_1 alone gives the order of best-first on a web where all scores are positive."""
        judged = JudgedWorld(recorded.world, Positive())
        plan = CrawlPlan(seeds=np.array([0, 5, 9]), pages=150)
        weights = EvolvedSettings(**dict.fromkeys(WEIGHTS, 0) | {"parent_1": 1})
        way = simulated(Simulator(judged_web(judged)), weights, plan, 0)
        assert way == replay(judged, strategy("best-first"), plan.seeds.tolist(), pages=150).pages

    def test_other_random_numbers_make_another_crawl(self, recorded):
        simulator = Simulator(judged_web(recorded))
        plan = CrawlPlan(seeds=np.arange(5), pages=100, order=CurrentListSettings())
        ways = [simulated(simulator, EvolvedSettings(), plan, seed) for seed in (1, 1, 2)]
        assert ways[0] == ways[1] != ways[2]


class Positive:
    """A judge that gives every page more than ½: multiples of 1/64, which 32 bits hold exactly."""

    def judge(self, page: Page) -> Judgement:
        return Judgement(0.5 + (1 + url_hash(page.url) % 31) / 64, True)


class TestMistakes:
    def test_impossible_crawls(self):
        simulator = Simulator(MadeWorld(1).web())
        settings, rng = EvolvedSettings(), np.random.default_rng(0)
        for pages in (0, 61):
            with pytest.raises(ConfigError, match=f"a crawl of {pages} pages in a web of 60: it must be 1 to 60"):
                simulator.crawl(settings, CrawlPlan(seeds=np.array([1]), pages=pages), rng)
        with pytest.raises(ConfigError, match="a seed is not among the 60 pages"):
            simulator.crawl(settings, CrawlPlan(seeds=np.array([60]), pages=5), rng)
        bare = dataclasses.replace(MadeWorld(1).web(), anchors=np.zeros(0, np.float32), hosts=np.zeros(0, np.int32))
        for settings, part in (
            (EvolvedSettings(anchor=1), "anchors"),
            (EvolvedSettings(host=1), "hosts"),
            (EvolvedSettings(middle_from=2, middle_host=1), "hosts"),
        ):
            with pytest.raises(ConfigError, match=f"this web has no {part}"):
                Simulator(bare).crawl(settings, CrawlPlan(seeds=np.array([1]), pages=5), rng)

    @pytest.mark.parametrize("seeds", [[], [3, 4, 3]])
    def test_impossible_seeds(self, seeds):
        with pytest.raises(ConfigError, match="needs seeds, and each only once"):
            CrawlPlan(seeds=np.array(seeds, dtype=np.int64), pages=5)

    @pytest.mark.parametrize(
        "change",
        [
            {"link_offsets": np.array([0, 1])},
            {"ordered_score": np.zeros(3, np.float32)},
            {"is_relevant": np.zeros(3, np.bool_)},
            {"nofollow": np.zeros(3, np.bool_)},
            {"redirects": np.zeros(3, np.int32)},
            {"urls": 10},
            {"anchors": np.zeros(3, np.float32)},
            {"hosts": np.zeros(3, np.int32)},
            {"hosts": np.full(66, 66, np.int32)},
        ],
    )
    def test_arrays_that_do_not_fit(self, change):
        with pytest.raises(InputError, match="web"):
            dataclasses.replace(MadeWorld(1).web(), **change)
