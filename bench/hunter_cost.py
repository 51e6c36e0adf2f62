"""What the hunter costs: CPU for each fetch, bytes for each waiting link, and how near its order is to a full ranking.

The web is made up page by page as the crawl goes: 50 links a page, of which about 30 are new, half of them within a
page's own topic; so that a million waiting links need no more memory than the crawl itself. Only the strategy and
the frontier run; reading pages is not counted, nor taking words from link texts, which the reader does with it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from lycosa.frontier.frontier import Frontier
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.strategies.hunter.hunter import Hunter, HunterSettings
from lycosa.strategies.protocol import StrategyParts
from table import table

LINKS = 50
NEW = 30
TOPICS = 20
HOST_PAGES = 500
MOMENTS = (0.8, 0.84, 0.88, 0.92, 0.96, 1.0)
"""Shares of the links that are to wait in the end, at which the order is looked at; the mean counts."""
OFTEN = 100_000
"""Up to so many waiting links it is measured several times."""
OUTCOME = Outcome(Kind.FETCHED, "http 200", status=200)


class Cost(NamedTuple):
    waiting: int
    fetches: int
    fetch_us: float
    """Microseconds of CPU for each of the latest fetches, reviews and all."""
    most_us: float
    """The same in the slowest run: a machine that others use, too, takes longer for the same work."""
    longest_ms: float
    bytes_per_link: float
    """Of the hunter's columns, what is kept of visited pages included; the frontier's own are not."""
    overlap: float
    """Of the frontier's best 1,000 links: how many are among the best by a ranking of all. The mean of six moments."""
    correlation: float
    """Spearman, over the links that are in either."""


class MadeWeb:
    """Topic of a link: by its number. Words, and so pages and link texts, follow from the topic."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.topic_of = np.zeros(1 << 16, dtype=np.int8)
        self.known = 0
        self._words = [[f"w{topic}x{n}" for n in range(60)] for topic in range(TOPICS)]
        self._usual = [f"common{n}" for n in range(2_000)]

    def new(self, topics: NDArray[np.integer]) -> NDArray[np.int64]:
        numbers = np.arange(self.known, self.known + len(topics))
        self.known += len(topics)
        if self.known > len(self.topic_of):
            self.topic_of = np.resize(self.topic_of, 2 * self.known)
        self.topic_of[numbers] = topics
        return numbers

    def page(self, number: int) -> tuple[Page, NDArray[np.int64]]:
        rng, topic = self._rng, int(self.topic_of[number])
        topics = np.where(rng.random(NEW) < 0.5, topic, rng.integers(0, TOPICS, NEW))
        old = np.unique(rng.integers(0, self.known, LINKS - NEW))
        targets = np.concatenate([self.new(topics), old])
        rng.shuffle(targets)
        links = [self._link(target, at) for at, target in enumerate(targets.tolist())]
        terms = {word: 1 + n % 4 for n, word in enumerate(self._text(topic, 30, 120))}
        page = Page(
            self.url(number),
            title="",
            links=links,
            terms=terms,
            words=300,
            fingerprint=(number + 1) * 0x9E3779B97F4A7C15 % (1 << 64),
        )
        return page, targets

    def url(self, number: int) -> str:
        word = self._words[int(self.topic_of[number])][number % 60]
        return f"http://h{number // HOST_PAGES}.test/{number // 50 % 10}/{word}-{number}.html"

    def _link(self, target: int, at: int) -> Link:
        words = self._text(int(self.topic_of[target]), 2, 12)
        anchor = " ".join(words[:2])
        return Link(self.url(target), anchor, " ".join((*words[2:8], anchor, *words[8:])), position=at)

    def _text(self, topic: int, own: int, usual: int) -> list[str]:
        rng = self._rng
        own_words, usual_words = self._words[topic], self._usual
        picked = (rng.random(own + usual) ** 2).tolist()
        return [own_words[int(x * 60)] for x in picked[:own]] + [usual_words[int(x * 2_000)] for x in picked[own:]]


def costs_of(sizes: tuple[int, ...], *, runs: int = 3) -> list[Cost]:
    """The fastest of some runs, which are the same crawl each time; sizes that take minutes are run once."""
    found = grow(sizes)
    again = [grow(tuple(size for size in sizes if size <= OFTEN)) for _ in range(runs - 1)]
    for at, others in enumerate(zip(*again, strict=True)):
        stages = (found[at], *others)
        slowest = max(cost.fetch_us for cost in stages)
        found[at] = min(stages, key=lambda cost: cost.fetch_us)._replace(most_us=slowest)
    return found


def grow(sizes: tuple[int, ...], *, seed: int = 1) -> list[Cost]:
    """Crawl until so many links wait, and say what each stage cost."""
    web = MadeWeb(seed)
    seeds = web.new(np.zeros(5, dtype=np.int8))
    judge = ContrastJudge.fit([web.page(int(number))[0] for number in seeds], "w0x1 w0x2")
    parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(seed))
    hunter, frontier = Hunter(parts, HunterSettings()), Frontier()
    frontier.push_many(seeds, np.ones(5, dtype=np.int64), np.full(5, hunter.seed_score()))
    costs, times = [], []
    for size in sizes:
        order = []
        for moment in MOMENTS:  # the order is freshest after a review, and oldest before one
            while frontier.waiting < moment * size:
                times.append(_step(web, hunter, frontier))
            order.append(nearness(hunter, frontier))
        latest = times[-len(times) // 4 :]
        overlap, correlation = np.mean(order, axis=0).tolist()
        costs.append(
            Cost(
                frontier.waiting,
                len(times),
                mean := float(np.mean(latest)) * 1e6,
                mean,
                max(latest) * 1e3,
                hunter.bytes_in_use / frontier.waiting,
                overlap,
                correlation,
            )
        )
    return costs


def _step(web: MadeWeb, hunter: Hunter, frontier: Frontier) -> float:
    began = time.process_time()
    (link,) = hunter.ask(1, frontier, 0.0)
    spent = time.process_time() - began
    score = frontier.score_of(link)
    page, targets = web.page(link)
    abilities = hunter.abilities
    page = replace(page, digest=abilities.digest(page) if abilities.digest else b"")
    lease = Lease(link, page.url, 1, score, 0 if score == hunter.seed_score() else 1, 0, 0)
    visit = Visit(Fetched(lease, OUTCOME), OUTCOME, page, Judgement(0, False))
    began = time.process_time()
    scores = hunter.tell(visit, targets)
    abilities.note()
    spent += time.process_time() - began
    frontier.done(link)
    frontier.take_revised()
    known = frontier.scores(targets)
    is_new = np.array([frontier.state_of(target) == 0 for target in targets.tolist()])
    frontier.push_many(targets[is_new], np.ones(int(is_new.sum()), dtype=np.int64), scores[is_new])
    better = scores.astype(np.float32) > known
    frontier.rescore(targets[better], scores[better])
    return spent


def nearness(hunter: Hunter, frontier: Frontier, count: int = 1_000) -> tuple[float, float]:
    waiting = frontier.waiting_links()
    fresh = hunter.look(waiting)
    known = frontier.scores(waiting)
    best, best_fresh = np.argsort(-known, kind="stable")[:count], np.argsort(-fresh, kind="stable")[:count]
    either = np.union1d(best, best_fresh)
    return len(np.intersect1d(best, best_fresh)) / count, float(spearmanr(known[either], fresh[either]).statistic)


def costs(sizes: tuple[int, ...]) -> str:
    head = (
        "links waiting",
        "fetches",
        "µs a fetch",
        "slowest run",
        "longest, ms",
        "bytes a link",
        "of the best 1,000",
        "rank correlation",
    )
    rows = [
        (
            f"{cost.waiting:,}",
            f"{cost.fetches:,}",
            f"{cost.fetch_us:,.0f}",
            f"{cost.most_us:,.0f}",
            f"{cost.longest_ms:.0f}",
            f"{cost.bytes_per_link:.0f}",
            f"{cost.overlap:.3f}",
            f"{cost.correlation:.3f}",
        )
        for cost in costs_of(sizes)
    ]
    return table(head, rows)
