"""PageRank as a crawl order (paper TC, section 3.1.3, figure 7).

The crawler keeps a buffer of visited pages with their out-links; when it is full, the page least similar to the topic
is dropped. Every `interval` pages the PageRank of the buffered pages and of all pages they link to is computed
(`lib.linkgraph`), and becomes the score of the waiting links. Pages without out-links, among them all that are waiting,
are treated as linking to every buffered page.

The paper does not say what the score of a link is between two computations: here (1 − γ) + γ · PR(page) / |out(page)|,
its rank if the page just visited were the only one to cite it; PR(page) is the score with which the page was fetched. A
waiting link that no buffered page cites has rank 1 − γ.

Differs from TC: of a page with very many links only the first are kept, to bound the buffer.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.linkgraph import pagerank
from lycosa.model import Visit
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.saved_state import seal, unseal

MAX_LINKS = 1_000
"""Maximum number of out-links kept per page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRankSettings:
    damping: float = 0.8
    """γ: the share of a page's rank that goes to the pages it links to."""
    tolerance: float = 0.01
    """The computation ends when no rank changes by more than this."""
    interval: int = 25
    """Number of pages between two computations: the fewer, the greedier. The paper does not give its value."""
    pages: int = 2_048
    """Number of visited pages kept if the frontier has no buffer; otherwise as many as that holds, as in the paper."""

    def __post_init__(self) -> None:
        require_at_least(self, "pagerank", interval=1, pages=1)
        require_above_zero(self, "pagerank", "damping", "tolerance")
        if self.damping >= 1:
            raise ConfigError(f"pagerank.damping is {self.damping}: it must be below 1")


class PageRank(Strategy):
    name = "pagerank"

    def __init__(self, parts: StrategyParts, settings: PageRankSettings) -> None:
        self._damping = settings.damping
        self._tolerance = settings.tolerance
        self._interval = settings.interval
        self._limit = parts.buffer or settings.pages
        self._visits = 0
        self._is_due = False
        self._links: dict[int, NDArray[np.uint32]] = {}
        """The links of each buffered page."""
        self._worst: list[tuple[float, int]] = []
        """A heap of (similarity, page) of the buffered pages."""

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        page = visit.lease.id
        if page not in self._links:
            heappush(self._worst, (visit.judgement.relevance if visit.judgement else 0.0, page))
        self._links[page] = targets[:MAX_LINKS].astype(np.uint32)
        if len(self._links) > self._limit:
            del self._links[heappop(self._worst)[1]]
        self._visits += 1
        self._is_due = self._is_due or self._visits % self._interval == 0
        rank = max(visit.lease.score, 1.0 - self._damping)
        return np.full(len(targets), 1.0 - self._damping + self._damping * rank / max(1, len(targets)))

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        if self._is_due and count > 0:
            self._is_due = False
            self._rescore(frontier)
        return super().ask(count, frontier, now)

    def reason(self, score: float) -> str:
        return f"pagerank: {score:.3f} is its rank among the pages visited so far, where 1 is the mean"

    def save(self) -> bytes:
        similarities = {page: similarity for similarity, page in self._worst}
        pages = list(self._links)
        return seal(
            self.name,
            {"visits": self._visits, "is_due": self._is_due},
            np.array(pages, dtype=np.int64),
            np.array([similarities[page] for page in pages]),
            np.array([len(links) for links in self._links.values()], dtype=np.int64),
            _joined(list(self._links.values())),
        )

    def restore(self, state: bytes) -> None:
        if not state:
            return
        head, (pages, similarities, counts, links) = unseal(self.name, state)
        self._visits, self._is_due = head["visits"], head["is_due"]
        self._links = dict(zip(pages.tolist(), np.split(links, np.cumsum(counts)[:-1]), strict=False))
        self._worst = sorted(zip(similarities.tolist(), pages.tolist(), strict=True))

    def _rescore(self, frontier: Frontier) -> None:
        """Give every waiting link its current rank."""
        links = frontier.waiting_links()
        nodes, ranks = self._ranks()
        scores = np.full(len(links), 1.0 - self._damping)
        if len(nodes):
            at = np.minimum(np.searchsorted(nodes, links), len(nodes) - 1)
            scores = np.where(nodes[at] == links, ranks[at], scores)
        frontier.revise(links, scores)

    def _ranks(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The numbers of all pages that are buffered or cited by one, ascending, and their ranks."""
        pages = np.array(list(self._links), dtype=np.int64)
        counts = [len(links) for links in self._links.values()]
        edges = np.concatenate([np.repeat(pages, counts), _joined(list(self._links.values())).astype(np.int64), pages])
        nodes, places = np.unique(edges, return_inverse=True)
        total = sum(counts)
        ranks = pagerank(
            places[:total],
            places[total : 2 * total],
            count=len(nodes),
            sinks_lead_to=places[2 * total :],
            damping=self._damping,
            tolerance=self._tolerance,
        )
        return nodes, ranks


def _joined(columns: list[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    return np.concatenate([np.zeros(0, dtype=np.uint32), *columns])
