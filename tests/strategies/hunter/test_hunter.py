from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest

from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.judges.contrast.judge import ContrastJudge, ContrastStudy
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.strategies.hunter import hunter as module
from lycosa.strategies.hunter.hunter import SEED_SCORE, Hunter, HunterSettings
from lycosa.strategies.hunter.notes import NEAR, LinkAddresses
from lycosa.strategies.hunter.tables import FEATURES
from lycosa.strategies.protocol import StrategyParts

OUTCOME = Outcome(Kind.FETCHED, "http 200", status=200)
WORDS = {True: "cycling touring bicycle", False: "soup kitchen pan"}
SEEDS = (2, 4, 6, 8)


def is_good(number: int) -> bool:
    """Of 16 pages the first few are about the topic: they stand together."""
    return number % 16 < 5


def print_of(number: int) -> int:
    return number * 0x9E3779B97F4A7C15 % (1 << 64)


class Web:
    """Links go to the pages around and to a few at random. Pages of the topic say so, and so do links to them."""

    def __init__(self, size: int, *, dead: int = 0) -> None:
        rng = np.random.default_rng(5)
        self.size = size
        self.dead = dead
        self.targets = [
            np.unique(np.concatenate([(page + np.arange(-4, 5)) % size, rng.integers(0, size, 6)])) + 1
            for page in range(size)
        ]

    def is_dead(self, number: int) -> bool:
        return bool(self.dead) and number % self.dead == 3

    def url(self, number: int) -> str:
        return f"http://h{number // 16 % 9}.test/d{number % 3}/{number}"

    def page(self, number: int) -> Page:
        targets = self.targets[number - 1].tolist()
        links = [
            Link(self.url(n), WORDS[is_good(n)].split()[n % 3], f"see {WORDS[is_good(n)]} here", position=at)
            for at, n in enumerate(targets)
        ]
        terms = {"word": 3, f"other{number % 7}": 2}
        terms |= {"cycl": 5, "bicycl": 3} if is_good(number) else {"soup": 5, "pan": 2}
        return Page(
            self.url(number),
            title="",
            links=links,
            terms=terms,
            words=20,
            fingerprint=number * 0x9E3779B97F4A7C15 % (1 << 64),
        )


class Crawl:
    """A frontier, a strategy, and what a store keeps."""

    def __init__(self, web: Web, strategy: Hunter) -> None:
        self.web, self.strategy, self.frontier = web, strategy, Frontier()
        self.visited: list[int] = []
        self.told: list[tuple[Visit, np.ndarray]] = []
        self.scores: dict[int, float] = {}
        self._known = set(SEEDS)
        self._push(np.array(SEEDS), np.full(len(SEEDS), strategy.seed_score()))

    def _push(self, links, scores) -> None:
        self.scores.update(zip(links.tolist(), scores.tolist(), strict=True))
        self.frontier.push_many(links, np.ones(len(links), dtype=np.int64), scores)

    def run(self, pages: int) -> list[int]:
        while len(self.visited) < pages:
            links = self.strategy.ask(1, self.frontier, 0.0)
            self.scores.update(self.frontier.take_revised())
            if not links:
                break
            if not self.web.is_dead(links[0]):
                self._visit(links[0])
            self.frontier.done(links[0])
        return self.visited

    def _visit(self, link: int) -> None:
        page, targets = self.web.page(link), self.web.targets[link - 1].astype(np.int64)
        lease = Lease(link, page.url, 1, self.scores[link], 0 if link in SEEDS else 1, 0, 0)
        judgement = Judgement(float(is_good(link)), is_good(link))
        visit = Visit(Fetched(lease, OUTCOME), OUTCOME, page, judgement)
        scores = self.strategy.tell(visit, targets)
        light = replace(page, terms={}, links=[each._replace(context="", path="") for each in page.links])
        self.told.append((replace(visit, page=light, note=self.strategy.abilities.note()), targets))
        is_new = np.array([target not in self._known for target in targets.tolist()])
        self._known.update(targets.tolist())
        self._push(targets[is_new], scores[is_new])
        better = ~is_new & (scores.astype(np.float32) > self.frontier.scores(targets))
        self.scores.update(zip(targets[better].tolist(), scores[better].tolist(), strict=True))
        self.frontier.rescore(targets[better], scores[better])
        self.visited.append(link)

    def begin_again(self, strategy: Hunter) -> None:
        for visit, targets in self.told:
            strategy.tell(visit, targets)
        strategy.restore(self.strategy.save())
        waiting = self.frontier.waiting_links()
        self.strategy, self.frontier = strategy, Frontier()
        self.frontier.load(waiting, np.ones(len(waiting)), np.array([self.scores[n] for n in waiting.tolist()]))


def own_judge(**settings) -> Hunter:
    """It learns from the seeds what is looked for."""
    judge = ContrastJudge.fit(keywords="cycling", learns_from_seeds=True)
    return Hunter(StrategyParts.of(judge.abilities, rng=np.random.default_rng(0)), HunterSettings(**settings))


def words_alone() -> Hunter:
    judge = ContrastJudge.fit(keywords="holidays")
    return Hunter(StrategyParts.of(judge.abilities, rng=np.random.default_rng(0)), HunterSettings())


class _MadeUp:
    """A meaning that depends on the page's URL; a note keeps it, as its text is gone."""

    def __call__(self, page: Page) -> float:
        assert page.terms, "a page told again is not read again"
        return 0.9 if crc32(page.url.encode()) % 10 == 0 else 0.1


def judge_of_meaning(**settings) -> Hunter:
    """It knows a word that no page contains, and what pages mean."""
    judge = ContrastJudge.fit(keywords="holidays", has_meaning=True)

    def study() -> ContrastStudy:
        begun = judge.study()
        begun.meaning = _MadeUp()
        return begun

    parts = replace(StrategyParts.of(judge.abilities, rng=np.random.default_rng(0)), study=study)
    return Hunter(parts, HunterSettings(**settings))


def given_judge(**settings) -> Hunter:
    return Hunter(StrategyParts(keywords={"cycl": 1}), HunterSettings(**settings))


@pytest.fixture(params=[own_judge, given_judge])
def make(request):
    return request.param


class TestOrder:
    def test_it_finds_the_topic(self, make):
        visited = Crawl(Web(1_600), make()).run(150)
        assert np.mean([is_good(link) for link in visited]) > 0.85  # of all pages .31 are

    @pytest.mark.parametrize("kind", ["has_pages", "has_text", "has_urls", "has_places"])
    def test_what_it_is_not_to_look_at_does_not_count(self, kind):
        crawl = Crawl(Web(400), own_judge(**{kind: False}))
        crawl.run(60)
        factors = _factors_of_best(crawl)
        unused = {name for name, value in factors.items() if value == 0}
        group = {"has_pages": "hubs", "has_text": "link words", "has_urls": "URL words", "has_places": "host"}[kind]
        assert group in unused
        assert len(unused) < len(FEATURES)

    def test_scores_are_predictions_that_tell_good_links_from_others(self):
        crawl = Crawl(Web(1_600), given_judge())
        crawl.run(120)
        waiting = crawl.frontier.waiting_links()
        scores = crawl.frontier.scores(waiting)
        good = np.array([is_good(link) for link in waiting.tolist()])
        assert 0 < scores.min() <= scores.max() < 1
        assert (scores[good][:, None] > scores[~good]).mean() > 0.9  # of pairs of a good link and another

    def test_a_copy_of_a_page_is_worth_nothing(self):
        hunter = given_judge()
        web = Web(100)
        for link in (1, 2):
            page = replace(web.page(link), fingerprint=77)
            lease = Lease(link, page.url, 1, 1.0, 0, 0, 0)
            hunter.tell(Visit(Fetched(lease, OUTCOME), OUTCOME, page, Judgement(1.0, True)), web.targets[link - 1])
        assert hunter._evidence.pages.relevance[1:3].tolist() == [1.0, 0.0]

    def test_nearly_the_same_page_is_worth_nothing_either_and_a_resumed_crawl_knows(self):
        web, first, again = Web(100), given_judge(), given_judge()
        for link, fingerprint in ((1, 0xF0F0), (2, 0xF0F3), (3, 0xAAAA << 40)):
            page = replace(web.page(link), fingerprint=fingerprint)
            lease = Lease(link, page.url, 1, 1.0, 0, 0, 0)
            visit = Visit(Fetched(lease, OUTCOME), OUTCOME, page, Judgement(1.0, True))
            first.tell(visit, web.targets[link - 1])
            light = replace(page, fingerprint=0, terms={})
            again.tell(replace(visit, page=light, note=first.abilities.note()), web.targets[link - 1])
        for hunter in (first, again):
            assert hunter._evidence.pages.relevance[1:4].tolist() == [1.0, 0.0, 1.0]

    def test_links_that_lead_nowhere_speak_against_their_host(self):
        crawl = Crawl(Web(400), given_judge())
        crawl.run(12)
        evidence = crawl.strategy._evidence
        waiting = evidence.waiting(0, evidence.highest)
        on_host = waiting[evidence.links.host[waiting] == evidence.links.host[waiting[-1]]]
        assert len(on_host) > 2
        before = evidence.features(on_host[-1:])[0, FEATURES.index("host")]
        nothing = np.zeros((0, NEAR), dtype=np.uint16)
        evidence.visit(on_host[0], 0.0, on_host[:0], nothing, LinkAddresses.of([]), gone=on_host[1:-1])
        assert evidence.features(on_host[-1:])[0, FEATURES.index("host")] < before

    def test_diversity_spreads_a_crawl_over_hosts(self):
        hosts = []
        for diversity in (0.0, 1.0):
            crawl = Crawl(Web(1_600), given_judge(diversity=diversity))
            visited = [link for link in crawl.run(60) if is_good(link)]
            counts = np.bincount([link // 16 % 9 for link in visited], minlength=9)
            hosts.append(counts.max() / counts.sum())
        assert hosts[1] < hosts[0]

    def test_nothing_known_is_no_failure(self):
        """Seeds without words and links: it goes on with what there is."""
        hunter, frontier = own_judge(), Frontier()
        frontier.push_many(np.array([1, 2]), np.array([1, 1]), np.full(2, SEED_SCORE))
        for _ in range(2):
            (link,) = hunter.ask(1, frontier, 0.0)
            page = Page(f"http://a.test/{link}")
            lease = Lease(link, page.url, 1, SEED_SCORE, 0, 0, 0)
            visit = Visit(Fetched(lease, OUTCOME), OUTCOME, page, Judgement(0.0, False))
            assert len(hunter.tell(visit, np.zeros(0, dtype=np.int64))) == 0
            frontier.done(link)
        assert hunter.ask(1, frontier, 0.0) == []

    def test_a_page_visited_again_teaches_nothing(self):
        crawl = Crawl(Web(200), own_judge())
        crawl.run(20)
        visit, targets = crawl.told[5]
        before = crawl.strategy.look(crawl.frontier.waiting_links())
        crawl.strategy.tell(visit, targets)
        assert crawl.strategy.abilities.note() == b""
        np.testing.assert_array_equal(crawl.strategy.look(crawl.frontier.waiting_links()), before)


class TestResume:
    @pytest.mark.parametrize("dead", [0, 7])
    @pytest.mark.parametrize("limit", [6_000, 100])
    def test_a_crawl_told_again_makes_the_same_choices(self, make, monkeypatch, dead, limit):
        """Also where most links are not looked at in reviews, and where links lead nowhere."""
        monkeypatch.setattr(module, "ALL", limit)
        monkeypatch.setattr(module, "SAMPLE", 50)
        monkeypatch.setattr(module, "TOLD", 40)
        monkeypatch.setattr(module, "FRONT", 20)
        web = Web(600, dead=dead)
        whole = Crawl(web, make()).run(90)
        parts = Crawl(web, make())
        for pages in (1, 14, 61):
            parts.run(pages)
            parts.begin_again(make())
        assert parts.run(90) == whole

    def test_so_does_one_that_knows_what_pages_mean(self):
        web = Web(600)
        whole = Crawl(web, judge_of_meaning()).run(90)
        parts = Crawl(web, judge_of_meaning())
        for pages in (1, 14, 61):
            parts.run(pages)
            parts.begin_again(judge_of_meaning())
        assert parts.run(90) == whole
        assert Crawl(web, words_alone()).run(90) != whole

    def test_notes_are_small(self):
        crawl = Crawl(Web(300), own_judge())
        crawl.run(40)
        assert max(len(visit.note) for visit, _ in crawl.told) < 8_192

    def test_anothers_state_is_refused(self):
        with pytest.raises(ValueError, match="state"):
            own_judge().restore(b'{"strategy": "hunter", "columns": []}\n')


class TestScale:
    def test_the_order_is_near_to_that_of_a_full_ranking(self, monkeypatch):
        monkeypatch.setattr(module, "ALL", 200)
        monkeypatch.setattr(module, "SAMPLE", 150)
        crawl = Crawl(Web(3_000), own_judge())
        crawl.run(200)
        waiting = crawl.frontier.waiting_links()
        assert len(waiting) > 600
        known, fresh = crawl.frontier.scores(waiting), crawl.strategy.look(waiting)
        best, best_fresh = (set(np.argsort(-values)[:100].tolist()) for values in (known, fresh))
        assert len(best & best_fresh) > 70

    def test_it_keeps_little_of_each_link(self):
        crawl = Crawl(Web(3_000), own_judge())
        crawl.run(200)
        strategy = crawl.strategy
        assert strategy.bytes_in_use < 400 * strategy._evidence.highest


class TestWords:
    def test_the_evidence_is_named(self):
        crawl = Crawl(Web(400), own_judge())
        crawl.run(80)
        factors = _factors_of_best(crawl)
        assert set(factors) == set(FEATURES)
        assert sum(factors.values()) > 0

    def test_every_score_has_its_words(self):
        hunter = own_judge()
        assert "before all links that were found" in hunter.reason(SEED_SCORE)
        assert "0.250 is its predicted relevance, by" in hunter.reason(0.25)

    def test_settings_are_checked(self):
        with pytest.raises(ConfigError, match="freedom"):
            HunterSettings(freedom=-1)


def _factors_of_best(crawl: Crawl) -> dict[str, float]:
    assert crawl.strategy.ask(0, crawl.frontier, 0.0) == []  # the frontier hears of the last visit
    best = int(crawl.frontier.top(1)[0])
    for visit, targets in crawl.told:
        if best in targets:
            again = crawl.strategy.again(visit, targets)[targets.tolist().index(best)]
            assert again == pytest.approx(crawl.frontier.score_of(best), rel=1e-6)
            return dict(crawl.strategy.factors(visit, visit.page.links[targets.tolist().index(best)]))
    raise AssertionError("nobody cites it")
