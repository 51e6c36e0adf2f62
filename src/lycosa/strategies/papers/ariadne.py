"""Ariadne: the score of a link is the weighted geometric mean of eight criteria (paper AR, section 3.2).

    score = (Π fᵢ^wᵢ)^(1 / Σ wᵢ)

(a) relevance of the source page      (e) link distance from the start pages
(b) relevance of the URL              (f) file level of the URL
(c) relevance of anchor and context   (g) whether it leads to another host
(d) record of the destination's host  (h) number of out-links of the source page

A weight of 0 leaves a criterion out; with a weight on (e) alone the order is breadth-first. Each criterion is a
function below with values from 0 to 1; values below a floor are raised to it, since a single zero would make the
product zero.

AR names the criteria and tunes them by hand, but gives neither functions nor weights: these are ours. Differs from AR:
the host's record is the share of its pages judged relevant; hosts with too many failures are set aside by politeness.
Of several links to one URL on a page, the context is that of one. After a change of focus, links are scored again
without their context, which is not kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.lib.bounds import require_above_zero, require_at_least, require_at_most
from lycosa.lib.snapshot import Snapshots, Tree
from lycosa.model import Link, Visit
from lycosa.strategies.protocol import Abilities, Strategy, StrategyParts

CRITERIA = ("source", "url", "anchor", "host", "distance", "depth", "transversal", "out_links")
HUB = 100
"""Number of out-links at which the value of (h) reaches 1."""
LONGEST_URL = 300
_WORD = re.compile(r"[a-zA-Z]{2,}")
_COMMON = frozenset({"http", "https", "www", "html", "htm", "php", "asp", "index", "com", "org", "net"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AriadneSettings:
    source: float = 4.0
    """Weight of the relevance of the page that contains the link."""
    url: float = 1.0
    """Weight of the relevance of the words in the URL."""
    anchor: float = 2.0
    """Weight of the relevance of the link's text and of the words around it."""
    host: float = 1.0
    """Weight of the share of relevant pages on the link's host so far."""
    distance: float = 0.5
    """Weight of a short distance from the start pages."""
    depth: float = 0.5
    """Weight of a position near the root of the host's directories."""
    transversal: float = 0.25
    """Weight of leading to another host."""
    out_links: float = 0.25
    """Weight of the number of links on the page."""
    floor: float = 0.01
    """Minimum value of a criterion."""

    def __post_init__(self) -> None:
        require_at_least(self, "ariadne", **dict.fromkeys(CRITERIA, 0))
        require_above_zero(self, "ariadne", "floor")
        require_at_most(self, "ariadne", floor=1)
        if not any(getattr(self, name) for name in CRITERIA):
            raise ConfigError(
                f"ariadne: all weights are 0, so all links would be equal; set one of {', '.join(CRITERIA)}"
            )


def anchor_relevance(anchor: float, context: float) -> float:
    """(c) The words around the link count half as much as those of the link itself."""
    return max(anchor, context / 2)


def host_record(relevant: int, pages: int) -> float:
    """(d) Share of relevant pages, one half at first."""
    return (relevant + 1) / (pages + 2)


def nearness(distance: int) -> float:
    """(e) 1 for a start page, then 1/2, 1/3, …"""
    return 1 / (1 + distance)


def shallowness(url: str) -> float:
    """(f) 1 for the host's root, 1/2 for a file in it, 1/3 one directory down, …"""
    return 1 / (1 + sum(1 for part in _path(url).split("/") if part))


def transversality(source: str, target: str) -> float:
    """(g) 1 for a link to another host, one half for a link within the host."""
    return 0.5 if host_of(source) == host_of(target) else 1.0


def hub_likeness(out_links: int) -> float:
    """(h) Grows with the logarithm of the number of out-links."""
    return min(1.0, math.log1p(out_links) / math.log1p(HUB))


def url_words(url: str) -> str:
    """The words of a URL, without those that most URLs have."""
    return " ".join(word for word in _WORD.findall(url[:LONGEST_URL]) if word.lower() not in _COMMON)


def host_of(url: str) -> str:
    """The host of an absolute URL, with its port."""
    return url.split("/", 3)[2] if url.count("/") >= 2 else ""


def _path(url: str) -> str:
    rest = url.split("/", 3)
    return rest[3].split("?", 1)[0] if len(rest) > 3 else ""


class Ariadne(Strategy):
    name = "ariadne"

    def __init__(self, parts: StrategyParts, settings: AriadneSettings) -> None:
        self._settings = settings
        self._similarity = parts.similarity
        weights = np.array([getattr(settings, name) for name in CRITERIA])
        self._shares = weights / weights.sum()
        self._hosts: dict[str, tuple[int, int]] = {}
        """Number of relevant pages and of visited pages, by host."""

    @property
    def abilities(self) -> Abilities:
        return Abilities(
            needs_whole_pages=self._settings.anchor > 0,
            is_retold=True,  # the records of hosts
            again=self.again,
            factors=self.factors,
            snapshots=Snapshots(self._take, self._load),
        )

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        if visit.page is not None:
            host = host_of(visit.page.url)
            relevant, pages = self._hosts.get(host, (0, 0))
            is_relevant = visit.judgement is not None and visit.judgement.is_relevant
            self._hosts[host] = (relevant + is_relevant, pages + 1)
        return self.again(visit, targets)

    def again(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        if visit.page is None:
            return np.full(len(targets), np.nan)
        rows = [self._criteria(visit, link) for link in visit.page.links]
        values = np.maximum(np.array(rows).reshape(len(targets), len(CRITERIA)), self._settings.floor)
        return np.asarray(np.exp(np.log(values) @ self._shares))

    def factors(self, visit: Visit, link: Link) -> Mapping[str, float]:
        return dict(zip(CRITERIA, self._criteria(visit, link), strict=True))

    def _take(self) -> Tree:
        records = np.array(list(self._hosts.values()), dtype=np.int64).reshape(-1, 2)
        return {"hosts": list(self._hosts), "records": records}

    def _load(self, saved: Tree) -> None:
        records = ((relevant, pages) for relevant, pages in saved["records"].tolist())
        self._hosts = dict(zip(saved["hosts"], records, strict=True))

    def _criteria(self, visit: Visit, link: Link) -> tuple[float, ...]:
        """The values in the order of CRITERIA. Expensive ones without weight are not computed."""
        assert visit.page is not None
        settings, page = self._settings, visit.page
        source = visit.judgement.relevance if visit.judgement else 0.0
        by_url = self._similarity(url_words(link.url)) if settings.url else 0.0
        by_anchor = 0.0
        if settings.anchor:
            # Links are triples (p, q, anchor): of a page's links to one URL the one with the best anchor counts.
            anchors = (link.anchor, *link.other_anchors)
            of_anchor = max((self._similarity(anchor) for anchor in anchors if anchor), default=0.0)
            # As in Shark-Search: the context is used only if no anchor has a similarity.
            of_context = self._similarity(link.context) if not of_anchor and link.context else 0.0
            by_anchor = anchor_relevance(of_anchor, of_context)
        return (
            source,
            by_url,
            by_anchor,
            host_record(*self._hosts.get(host_of(link.url), (0, 0))),
            nearness(visit.lease.distance + 1),
            shallowness(link.url),
            transversality(page.url, link.url),
            hub_likeness(len(page.links)),
        )

    def reason(self, score: float) -> str:
        return f"{self.name}: {score:.3f} is the weighted geometric mean of its criteria"
