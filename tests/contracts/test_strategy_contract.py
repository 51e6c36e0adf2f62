"""What every strategy must do, run over all there are."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.judges.keywords import KeywordJudge
from lycosa.lib.snapshot import read, write
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import STRATEGIES, strategy

HOSTS = 7
NAMES = (
    *STRATEGIES,
    "best-first-4",
    "shark-5",
    "fish-3",
    "hard+best-first",
    "decay+breadth-first",
    "decay+hunter",
    "hard+hunter",
    "tunnel+ariadne",
    "tunnel+best-first-4",
    "current-list+best-first",
    "current-list+evolved",
)


@pytest.fixture(params=NAMES)
def make(request):
    """Makes the strategy, always with the same random numbers."""

    def made(seed: int = 1):
        judge = KeywordJudge("recreational cycling")
        return strategy(request.param, StrategyParts.of(judge.abilities, rng=np.random.default_rng(seed), buffer=40))

    return made


class Crawl:
    """A strategy and its frontier on a made-up web, without fetching: pages are made when their link is leased."""

    def __init__(self, strategy, *, seed: int = 3, buffer: int | None = None) -> None:
        self.strategy = strategy
        self.frontier = Frontier(buffer=buffer)
        self.now = 0.0
        self.leased: list[int] = []
        """Without those that came back."""
        self.scores: dict[int, float] = {}
        """As a store keeps them."""
        self.told: list[tuple[Visit, np.ndarray]] = []
        self._resting: dict[int, float] = {}
        self._came_back: set[int] = set()
        self._rng = np.random.default_rng(seed)
        self._known = 0
        for _ in range(5):
            self._push(np.array([self._known]), np.array([strategy.seed_score()]))
            self._known += 1

    def _push(self, links, scores) -> None:
        self.scores.update(zip(links.tolist(), scores.tolist(), strict=True))
        self.frontier.push_many(links, links % HOSTS, scores)

    def step(self, count: int = 2) -> list[int]:
        links = self.strategy.ask(count, self.frontier, self.now)
        self.scores.update(self.frontier.take_revised())
        for link in links:
            self.visit(link)
        self.now += 1.0
        return links

    def visit(self, link: int) -> None:
        """A page with links to known and to new URLs; its relevance follows from its number.

        Some links lead nowhere, some come back once, as when robots.txt has to be fetched first.
        """
        host = self.frontier.host_of(link)
        self._resting[host] = self.now + 2.5
        self.frontier.cool(host, self.now + 2.5)
        if link % 13 == 4 and link not in self._came_back:
            self._came_back.add(link)
            self.frontier.release(link)
            return
        self.leased.append(link)
        if link % 11 == 5:
            self.frontier.done(link)
            return
        new = np.arange(self._known, self._known + 3)
        old = np.unique(self._rng.integers(0, self._known, 2))
        targets = np.concatenate([new, old])
        self._known += 3
        visit = page_visit(link, targets, relevance=(link * 37 % 100) / 100, score=self.scores[link])
        scores = self.strategy.tell(visit, targets)
        self.told.append((replace(visit, note=self.strategy.abilities.note()), targets))
        assert scores.shape == targets.shape
        assert not np.isinf(scores).any()
        self.frontier.done(link)
        is_wanted = ~np.isnan(scores[:3])
        self._push(new[is_wanted], scores[:3][is_wanted])
        better = self.frontier.is_waiting(old) & (scores[3:].astype(np.float32) > self.frontier.scores(old))
        self.scores.update(zip(old[better].tolist(), scores[3:][better].tolist(), strict=True))
        self.frontier.rescore(old[better], scores[3:][better])

    def run(self, steps: int) -> list[int]:
        for _ in range(steps):
            self.step()
        return self.leased

    def begin_again(self, strategy, snapshot: Path | None = None, told: int = 0) -> None:
        """As after a kill: what is known is what was stored with the last commit.

        With the snapshot that was taken after `told` visits, only later ones are told again.
        """
        if snapshot is not None:
            strategy.abilities.snapshots.load(read(snapshot, sha256(snapshot.read_bytes()).hexdigest()))
        if strategy.abilities.is_retold:
            for visit, targets in self.told[told:]:
                strategy.tell(visit, targets)
        strategy.restore(self.strategy.save())
        waiting = self.frontier.waiting_links()
        loaded = Frontier()
        loaded.load(waiting, waiting % HOSTS, np.array([self.scores[link] for link in waiting.tolist()]))
        for host, until in self._resting.items():
            loaded.cool(host, until)
        self.strategy, self.frontier = strategy, loaded


def assert_same(one, other) -> None:
    """Two snapshots, to the last bit; without the links whose scores the frontier is to be told, which a strategy
    that was told visits again has more of."""
    assert one.keys() == other.keys()
    for name in one.keys() - {"due", "due_limit"}:
        if isinstance(one[name], dict):
            assert_same(one[name], other[name])
        elif isinstance(one[name], np.ndarray):
            assert one[name].dtype == other[name].dtype, name
            assert one[name].tobytes() == other[name].tobytes(), name
        else:
            assert one[name] == other[name], name


WORDS = ("cycling", "soup", "recreational bicycle", "pan", "touring", "cycling cycling tours")


def page_visit(number: int, targets, *, relevance: float, score: float = 0.5, kind: Kind = Kind.FETCHED) -> Visit:
    url = f"http://h{number % HOSTS}.test/{number}"
    lease = Lease(number, url, number % HOSTS, score, 1, 0, 0)
    outcome = Outcome(kind, "http 200", status=200)
    links = [
        Link(
            f"http://h{n % HOSTS}.test/{n}",
            anchor := WORDS[n % len(WORDS)],
            f"some {WORDS[n // 7 % len(WORDS)]} near {anchor} and more",
            position=at,
        )
        for at, n in enumerate(targets.tolist())
    ]
    hits = round(20 * relevance)
    terms = {"word": 20, f"other{number % 5}": 7, **({"cycl": hits} if hits else {})}
    page = Page(url, title="a page", links=links, terms=terms, words=sum(terms.values()))
    return Visit(Fetched(lease, outcome, is_contact=True), outcome, page, Judgement(relevance, relevance > 0.5))


@pytest.mark.parametrize("name", NAMES)
def test_it_knows_the_name_it_is_listed_under(name):
    assert strategy(name).name == name


def test_a_misspelt_name_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="'best-frist' is not known: did you mean 'best-first'"):
        strategy("best-frist")
    with pytest.raises(ConfigError, match=r"known are .*breadth-first"):
        strategy("xyz")


class TestOrder:
    def test_the_same_visits_give_the_same_order(self, make):
        assert Crawl(make()).run(60) == Crawl(make()).run(60)

    @pytest.mark.parametrize("buffer", [None, 40])
    def test_no_link_is_handed_out_twice(self, make, buffer):
        leased = Crawl(make(), buffer=buffer).run(100)
        assert len(leased) == len(set(leased)) > 100

    def test_never_more_than_asked_for(self, make):
        crawl = Crawl(make())
        crawl.run(20)
        crawl.now += 100
        for count in (0, 1, 3):
            assert len(crawl.strategy.ask(count, crawl.frontier, crawl.now)) <= count
        assert crawl.strategy.ask(-2, crawl.frontier, crawl.now) == []

    def test_everything_is_handed_out_in_the_end(self, make):
        chosen, frontier = make(), Frontier()
        for link in range(50):
            frontier.push(link, link % HOSTS, chosen.seed_score())
        got: list[int] = []
        for now in range(1000):
            for link in chosen.ask(4, frontier, float(now)):
                got.append(link)
                host = frontier.host_of(link)
                frontier.done(link)
                frontier.cool(host, now + 1.5)
        assert sorted(got) == list(range(50))


class TestHosts:
    def test_a_cooling_host_is_left_alone(self, make):
        crawl = Crawl(make())
        rested: dict[int, float] = {}
        for _ in range(80):
            for link in crawl.step(4):
                host = link % HOSTS
                assert crawl.now - 1.0 >= rested.get(host, 0.0)
                rested[host] = crawl.now - 1.0 + 2.5

    def test_one_at_a_time_from_a_host(self, make):
        chosen, frontier = make(), Frontier()
        for link in range(10):
            frontier.push(link, 0, chosen.seed_score())
        assert len(chosen.ask(5, frontier, 0.0)) == 1
        assert chosen.ask(5, frontier, 0.0) == []

    def test_an_address_that_is_busy_or_cooling_is_left_alone(self, make):
        chosen, frontier = make(), Frontier()
        for host in (0, 1):
            frontier.push(host, host, chosen.seed_score())
            frontier.set_address(host, "192.0.2.1")
        (first,) = chosen.ask(5, frontier, 0.0)
        frontier.done(first)
        frontier.cool_address("192.0.2.1", 10.0)
        assert chosen.ask(5, frontier, 9.0) == []
        assert len(chosen.ask(5, frontier, 10.0)) == 1

    def test_hosts_set_aside_are_left_alone(self, make):
        chosen, frontier = make(), Frontier()
        frontier.push(0, 0, chosen.seed_score())
        frontier.set_aside(0)
        assert chosen.ask(5, frontier, 0.0) == []


class TestState:
    def test_it_goes_on_as_if_it_had_not_been_interrupted(self, make):
        whole, parts = Crawl(make()), Crawl(make())
        whole.run(60)
        for seed in range(6):
            parts.run(10)
            parts.begin_again(make(seed))
        assert parts.leased == whole.leased

    def test_it_goes_on_from_a_snapshot_as_if_it_had_not_been_interrupted(self, make, tmp_path):
        whole, parts = Crawl(make()), Crawl(make())
        if parts.strategy.abilities.snapshots is None:
            assert not parts.strategy.abilities.is_retold
            return
        for seed in range(6):
            parts.run(7)
            told, tree = len(parts.told), parts.strategy.abilities.snapshots.take()
            parts.run(3)  # a snapshot does not change with the crawl
            write(tmp_path / "taken", tree)
            parts.begin_again(make(seed), tmp_path / "taken", told)
        whole.run(60)
        assert parts.leased == whole.leased
        assert_same(parts.strategy.abilities.snapshots.take(), whole.strategy.abilities.snapshots.take())

    @pytest.mark.parametrize("name", ["hunter", "evolved", "decay+hunter"])
    def test_scores_that_the_frontier_does_not_have_yet_are_in_the_snapshot(self, name):
        judge = KeywordJudge("recreational cycling")
        crawl = Crawl(strategy(name, StrategyParts.of(judge.abilities, rng=np.random.default_rng(1))))
        news = 0
        for _ in range(25):
            crawl.step()
            tree, waiting = crawl.strategy.abilities.snapshots.take(), crawl.frontier.waiting_links()
            loaded = Frontier()
            loaded.load(waiting, waiting % HOSTS, np.array([crawl.scores[link] for link in waiting.tolist()]))
            before = loaded.scores(waiting)
            resumed = strategy(name, StrategyParts.of(judge.abilities, rng=np.random.default_rng(1)))
            resumed.abilities.snapshots.load(tree)
            resumed.ask(0, loaded, crawl.now)
            crawl.strategy.ask(0, crawl.frontier, crawl.now)
            crawl.scores.update(crawl.frontier.take_revised())
            assert loaded.scores(waiting).tolist() == crawl.frontier.scores(waiting).tolist()
            news += int((loaded.scores(waiting) != before).sum())
        assert news > 10

    def test_a_snapshot_that_lacks_something_is_refused(self, make):
        crawl = Crawl(make())
        if crawl.strategy.abilities.snapshots is None:
            return
        crawl.run(20)
        tree = crawl.strategy.abilities.snapshots.take()
        for name in tree:
            lacking = {other: value for other, value in tree.items() if other != name}
            with pytest.raises((ValueError, KeyError, TypeError)):
                make().abilities.snapshots.load(lacking)

    def test_the_state_does_not_grow_with_the_crawl(self, make):
        crawl = Crawl(make(), buffer=40)
        crawl.run(150)
        early = len(crawl.strategy.save())
        crawl.run(300)
        assert len(crawl.strategy.save()) <= early * 1.3 + 200

    def test_nothing_saved_is_a_state_too(self, make):
        fresh = make()
        fresh.restore(b"")
        assert Crawl(fresh).run(20) == Crawl(make()).run(20)

    def test_foreign_state_is_refused(self, make):
        for foreign in (b"left by another strategy", b"{}\n", b'{"strategy": "other", "columns": []}\n'):
            with pytest.raises(ValueError, match="state"):
                make().restore(foreign)

    def test_it_can_be_sent_to_another_process(self, make):
        assert pickle.loads(pickle.dumps(make())).name == make().name


class TestScores:
    def visits(self) -> Iterator[Visit]:
        targets = np.arange(5, dtype=np.int64)
        yield page_visit(7, targets, relevance=0.8)
        yield page_visit(8, targets[:0], relevance=0.0)

    def test_a_page_without_links_gets_no_scores(self, make):
        for visit in self.visits():
            count = len(visit.page.links)
            assert len(make().tell(visit, np.arange(count, dtype=np.int64))) == count

    def test_a_retry_waits_behind_what_was_never_tried(self, make):
        """However often it is found again."""
        chosen, frontier, targets = make(), Frontier(), np.arange(5, dtype=np.int64)
        frontier.push(9, 9, chosen.seed_score())
        assert chosen.ask(1, frontier, 0.0) == [9]
        frontier.release(9, tries=1)
        targets = np.append(targets, 9)
        scores = chosen.tell(page_visit(7, targets, relevance=0.8), targets)
        assert not np.isnan(scores).any()
        frontier.push_many(targets[:5], targets[:5], scores[:5])
        frontier.rescore(targets, scores)
        got: list[int] = []
        while found := chosen.ask(1, frontier, 0.0):
            got += found
            frontier.done(found[0])
        assert sorted(got) == [0, 1, 2, 3, 4, 9]
        assert got[-1] == 9

    def test_a_score_has_a_reason_in_words(self, make):
        chosen = make()
        for score in (chosen.seed_score(), 0.5):
            assert chosen.name in chosen.reason(score)


WRAPPERS = ("hard", "decay", "decay-lenient", "tunnel", "current-list")


class TestAbilities:
    @pytest.mark.parametrize("rule", WRAPPERS)
    def test_a_wrapper_passes_on_what_it_does_not_change(self, rule):
        inner, outer = strategy("hunter").abilities, strategy(f"{rule}+hunter").abilities
        assert outer.forecasting is not None
        assert outer.studies_topic
        assert outer.is_retold
        assert (outer.digest is None, outer.needs_whole_pages) == (inner.digest is None, inner.needs_whole_pages)
        assert outer.note() == inner.note()

    @pytest.mark.parametrize("rule", ["hard", "decay", "current-list"])
    def test_tunnelling_inside_keeps_its_advice_and_its_changes(self, rule):
        tunnel, wrapped = strategy("tunnel+ariadne").abilities, strategy(f"{rule}+tunnel+ariadne").abilities
        assert tunnel.advice is not None
        assert wrapped.advice is not None
        assert wrapped.take_change() == ""
        assert wrapped.factors is not None

    @pytest.mark.parametrize("name", STRATEGIES)
    def test_without_a_wrapper_nothing_is_widened(self, name):
        assert strategy(name).abilities.advice is None

    def test_abilities_do_not_change(self, make):
        chosen = make()
        before = chosen.abilities
        Crawl(chosen).run(20)
        after = chosen.abilities
        for name in ("needs_whole_pages", "is_retold", "studies_topic"):
            assert getattr(before, name) == getattr(after, name)
        assert (before.forecasting is None) == (after.forecasting is None)
