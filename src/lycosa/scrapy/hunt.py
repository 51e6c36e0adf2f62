"""The hunter at work for a spider: it is told what pages are like and which requests they led to, and orders these.

    add → queue → next → read → tell

A request is a link with a number, one for each URL; how it is sent is not decided here. Requests that a page has led
to wait with the worth of an average link until the spider is done with the page: then the hunter is told the page with
exactly these links, each with its anchor and context where it stands on the page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.config import Config
from lycosa.crawl.link_rules import rising
from lycosa.crawl.reading import Read, read_response
from lycosa.frontier.keys import MOST_TRIES
from lycosa.judge_choice import judge_of, require_vectors, settled
from lycosa.lib.snapshot import Tree
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Response, Visit
from lycosa.page.furniture import Furniture
from lycosa.scrapy.priorities import PrioritisedFrontier
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import studying_strategy
from lycosa.workspace import Workspace

STRATEGY = "hunter"
FETCHED = Outcome(Kind.FETCHED, "http 200", status=200)


class WantedRequest(NamedTuple):
    """A request that a page led to."""

    key: str
    """What tells it from other requests: its URL, unless there is more to it."""
    url: str
    anchor: str = ""
    """Text of the link, where the spider knows it."""


class LinkStage(IntEnum):
    ADDED = 0
    WAITING = 1
    UNDER_WAY = 2
    """Handed out; no page has come of it yet, and perhaps none will."""
    TOLD = 3
    """It is a page that the hunter was told."""


class Hunt:
    """All that is known of a spider's requests and pages."""

    def __init__(self, config: Config) -> None:
        """`config`: topic, judge and constants; what concerns fetching is not used."""
        config = settled(config)
        require_vectors(config)
        judge = judge_of(config, Workspace(Path()))
        self._threshold = judge.abilities.threshold
        parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(config.seed))
        self._study, self._strategy = studying_strategy(STRATEGY, parts, config.constants)
        self._reading = config.reading(judge)
        self._furniture = Furniture()
        self._queue = PrioritisedFrontier()
        self._numbers: dict[str, int] = {}
        """By key."""
        self._hosts: dict[str, int] = {}
        self._urls: list[str] = [""]
        self._host_of: list[int] = [0]
        self._distance: list[int] = [0]
        self._scores: list[float] = [0.0]
        """By link: as the hunter gave them; the queue has them rounded."""
        self._stage = bytearray(1)
        self._is_cited = bytearray(1)
        """Whether a page was told that leads to the link."""
        self.pages = 0
        self.relevant = 0
        self._next_look = 1

    # Links.

    def canonical(self, url: str) -> str:
        """One spelling for one document; a URL that has none stays as it is."""
        return self._reading.urls.canonical(url)[0] or url

    def number(self, key: str) -> int:
        """The number of a link; 0 if it is not known."""
        return self._numbers.get(key, 0)

    def is_known(self, link: int) -> bool:
        return 0 < link < len(self._urls)

    def stage(self, link: int) -> LinkStage:
        return LinkStage(self._stage[link])

    def add(self, key: str, url: str, host: str, *, source: int = 0, is_redirect: bool = False) -> int:
        """A number for a new link. `source`: the link whose page led to it, or that was redirected to it; 0: a seed."""
        number = self._numbers[key] = len(self._urls)
        self._urls.append(url)
        self._host_of.append(self._hosts.setdefault(host, len(self._hosts) + 1))
        self._distance.append(0)
        self._scores.append(self._strategy.seed_score())
        self._stage.append(LinkStage.ADDED)
        self._is_cited.append(False)
        if source:
            self._distance[number] = self._distance[source] + (not is_redirect)
            self._scores[number] = self._scores[source] if is_redirect else self._average(number)
        return number

    def _average(self, link: int) -> float:
        """What any link is worth, of which nothing is known yet."""
        return float(self._worth(link, Page(""), np.array([link]))[0])

    def _worth(self, link: int, page: Page, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """What links are worth by what is known, without learning from the page that has them."""
        revisit = self._strategy.abilities.revisit
        assert revisit is not None, f"{STRATEGY} can do that"
        return revisit(self._visit(link, page), targets)

    # The queue.

    def queue(self, link: int, *, priority: int, tries: int = 0) -> None:
        """The link waits. `tries`: how often it has failed."""
        host, score = self._host_of[link], self._scores[link]
        self._queue.queue(link, host, score, priority=priority, tries=min(tries, MOST_TRIES))
        self._stage[link] = LinkStage.WAITING

    @property
    def waiting(self) -> int:
        return self._queue.pending

    @property
    def best_priority(self) -> int | None:
        """The highest priority of a link that waits."""
        return self._queue.best_priority

    def next(self, busy: Collection[str] = ()) -> int | None:
        """The best link, of the highest priority, whose host is not busy."""
        held = [self._hosts[host] for host in busy if host in self._hosts]
        self._queue.hold(held, is_held=True)
        leased = self._strategy.ask(1, self._queue, 0.0)
        self._queue.hold(held, is_held=False)
        for link, score in self._queue.take_revised().items():
            self._scores[link] = score
        for link in leased:
            self._stage[link] = LinkStage.UNDER_WAY
        return leased[0] if leased else None

    # Pages.

    def read(self, response: Response, host: str) -> Read:
        """Read and judge a page."""
        return read_response(response, self._reading, self._furniture.of(self._hosts.get(host, 0)))

    def tell(self, link: int, page: Page, judgement: Judgement, wanted: Iterable[WantedRequest]) -> None:
        """The spider is done with a page, and wants these."""
        page, targets = self._with_links(page, wanted)
        if self.stage(link) is LinkStage.TOLD:  # nothing is learned from a page that is fetched again
            self._take_scores(targets, self._worth(link, page, targets))
            return
        self._queue.finish(link)
        self._stage[link] = LinkStage.TOLD
        self.pages += 1
        self.relevant += judgement.is_relevant
        self._furniture.add(self._host_of[link], page.blocks)
        self._take_scores(targets, self._strategy.tell(self._visit(link, page, judgement), targets))
        if self._study is not None and self.pages >= self._next_look:
            self._study.verdicts()
            self._judge_as_learned()

    def _judge_as_learned(self) -> None:
        """Judge the pages to come as the study does by now; and so again when there are a quarter more."""
        assert self._study is not None
        self._next_look = self.pages + max(1, self.pages // 4)
        self._reading = replace(self._reading, judge=self._study.as_judge(self._threshold))

    def _visit(self, link: int, page: Page, judgement: Judgement | None = None) -> Visit:
        lease = Lease(
            link, self._urls[link], self._host_of[link], self._scores[link], self._distance[link], tries=0, redirects=0
        )
        return Visit(Fetched(lease, FETCHED), FETCHED, page, judgement)

    def _with_links(self, page: Page, wanted: Iterable[WantedRequest]) -> tuple[Page, NDArray[np.int64]]:
        """The page with these links and no others, and their numbers."""
        on_page = {link.url: link for link in page.links}
        chosen: dict[int, Link] = {}
        for each in wanted:
            if number := self.number(each.key):
                chosen.setdefault(number, on_page.get(each.url) or Link(each.url, each.anchor))
        return replace(page, links=tuple(chosen.values())), np.array(list(chosen), dtype=np.int64)

    def _take_scores(self, targets: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """Links that no page was told to lead to get these scores; others move up if theirs is better."""
        is_first = np.array([not self._is_cited[link] for link in targets.tolist()], dtype=np.bool_)
        changed = is_first | rising(self._queue, targets, scores)
        links, news = targets[changed], scores[changed]
        self._queue.rescore(links, news)
        for link, score in zip(links.tolist(), news.tolist(), strict=True):
            self._scores[link] = score
            self._is_cited[link] = True

    # What is kept from one run to the next.

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`. Which links wait is not in it."""
        snapshots = self._strategy.abilities.snapshots
        assert snapshots is not None, f"{STRATEGY} can be saved"
        return {
            "keys": list(self._numbers),
            "urls": self._urls[1:],
            "hosts": list(self._hosts),
            "host_of": np.array(self._host_of, dtype=np.int64),
            "distance": np.array(self._distance, dtype=np.int64),
            "scores": np.array(self._scores, dtype=np.float64),
            "stage": np.frombuffer(bytes(self._stage), np.uint8),
            "is_cited": np.frombuffer(bytes(self._is_cited), np.uint8),
            "furniture": np.frombuffer(self._furniture.save(), np.uint8),
            "counts": [self.pages, self.relevant],
            "strategy": snapshots.take(),
            "state": np.frombuffer(self._strategy.save(), np.uint8),
        }

    def load(self, saved: Tree) -> None:
        """Turn a new hunt into the one that was saved; whoever saved the waiting links queues them again."""
        snapshots = self._strategy.abilities.snapshots
        assert snapshots is not None
        self._numbers = {key: number for number, key in enumerate(saved["keys"], 1)}
        self._urls = ["", *saved["urls"]]
        self._hosts = {host: number for number, host in enumerate(saved["hosts"], 1)}
        self._host_of, self._distance = saved["host_of"].tolist(), saved["distance"].tolist()
        self._scores = saved["scores"].tolist()
        self._stage, self._is_cited = bytearray(saved["stage"].tobytes()), bytearray(saved["is_cited"].tobytes())
        self._furniture = Furniture.restored(saved["furniture"].tobytes())
        self.pages, self.relevant = saved["counts"]
        snapshots.load(saved["strategy"])
        self._strategy.restore(saved["state"].tobytes())
        columns = (self._urls, self._host_of, self._distance, self._scores, self._stage, self._is_cited)
        if {len(self._numbers) + 1} != {len(column) for column in columns}:
            raise ValueError(f"columns of {[len(column) for column in columns]} links")
        if self._study is not None and self._study.judged_pages:
            self._judge_as_learned()
