"""Shark-Search, and Fish-Search before it (paper TC, sections 3.1.4 and 4.1.2; Hersovici et al. 1998).

    score(link)         = (1 − r) · neighbourhood(link) + r · inherited(link)
    inherited(link)     = δ · sim(page) if sim(page) > 0, else δ · inherited(page)
    neighbourhood(link) = β · sim(anchor) + (1 − β) · context(link)
    context(link)       = 1 if sim(anchor) > 0, else sim(words around the link)

From a page with any similarity to the topic, links may be followed d links deep; from any other page, one link less
than to the page itself. At depth 0 the links of a page are not queued. sim is the similarity to the topic's words.

Fish-Search only distinguishes relevant and irrelevant pages, and uses only the inherited score: r = 1, and sim is 1 if
the judge calls the page relevant, otherwise 0. Differs from De Bra and Post (1994): no limit on the number of links
followed from one page.

Depth and inherited score have to be kept for each of up to millions of waiting links, across restarts. They are part of
the link's score: the frontier orders by 32-bit floats, the store keeps 64 bits, and the 28 bits below the precision of
a 32-bit float contain a mark, the depth and the inherited score (to a millionth). So nothing has to be saved, a
redirect passes them on to its target, and of several citing pages the best one counts.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.bounds import require_at_least, require_at_most
from lycosa.model import Visit
from lycosa.strategies.papers.batches import Batched
from lycosa.strategies.protocol import Abilities, StrategyParts

MAX_DEPTH = 127
LEAST = 2.0**-40
"""Used in place of a score of 0, whose bits have no room for depth and inherited score."""
MEMO = 1 << 14
"""Number of anchors whose similarity is remembered: `Home`, `Next page`, the site's menu."""

_INHERITED_BITS = 20
_INHERITED_MAX = (1 << _INHERITED_BITS) - 1
_MARK = 1 << 27
_HIDDEN = (1 << 29) - 1  # the bits of a 64-bit float below the last bit of a 32-bit float
_DOUBLE = struct.Struct("<d")
_BITS = struct.Struct("<Q")
_FLOAT = struct.Struct("<f")


@dataclass(frozen=True, slots=True, kw_only=True)
class FishSettings:
    batch: int = 1
    """N: number of best links that are fetched in random order before the best are chosen again."""
    depth: int = 3
    """d: number of irrelevant pages that may be passed in a row."""
    decay: float = 0.5
    """δ: factor on a score that is inherited over one link."""

    def __post_init__(self) -> None:
        require_at_least(self, "fish", batch=1, depth=0, decay=0)
        require_at_most(self, "fish", depth=MAX_DEPTH, decay=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharkSettings(FishSettings):
    inherited_share: float = 0.1
    """r: share of the inherited score; the rest is the neighbourhood's. Hersovici et al. take 0.5."""
    anchor_share: float = 0.8
    """β: share of the anchor in the neighbourhood; the rest is that of the words around it."""

    def __post_init__(self) -> None:
        FishSettings.__post_init__(self)
        require_at_least(self, "shark", inherited_share=0, anchor_share=0)
        require_at_most(self, "shark", inherited_share=1, anchor_share=1)


class Fish(Batched):
    family: ClassVar = "fish"

    def __init__(self, parts: StrategyParts, settings: FishSettings) -> None:
        super().__init__(settings.batch, parts.rng)
        self.name = self.family + (f"-{settings.batch}" if settings.batch > 1 else "")
        self._depth = settings.depth
        self._decay = settings.decay

    def seed_score(self) -> float:
        return pack(1.0, payload(self._depth, 0.0))

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        depth, inherited = unpack(visit.lease.score) or (self._depth, 0.0)
        depth = min(depth, self._depth)
        if depth <= 0 or visit.page is None:
            return np.full(len(targets), np.nan)
        similarity = self._similarity(visit)
        if similarity > 0:
            depth, inherited = self._depth, similarity
        else:
            depth -= 1
        inherited *= self._decay
        return pack_many(self._scores(visit, len(targets), inherited), payload(depth, inherited))

    def _similarity(self, visit: Visit) -> float:
        return 1.0 if visit.judgement is not None and visit.judgement.is_relevant else 0.0

    def _scores(self, visit: Visit, count: int, inherited: float) -> NDArray[np.float64]:  # noqa: ARG002 - all links alike
        return np.full(count, inherited)

    def reason(self, score: float) -> str:
        depth, inherited = unpack(score) or (self._depth, 0.0)
        return (
            f"{self.name}: {score:.3f}, with {inherited:.3f} inherited; from its page, links are followed {depth} deep"
        )


class Shark(Fish):
    family = "shark"

    def __init__(self, parts: StrategyParts, settings: SharkSettings) -> None:
        super().__init__(parts, settings)
        self._similarity_of = parts.similarity
        self._inherited_share = settings.inherited_share
        self._anchor_share = settings.anchor_share
        self._anchors: dict[str, float] = {}

    @property
    def abilities(self) -> Abilities:
        return Abilities(needs_whole_pages=True)

    def _similarity(self, visit: Visit) -> float:
        return visit.judgement.relevance if visit.judgement is not None else 0.0

    def _scores(self, visit: Visit, count: int, inherited: float) -> NDArray[np.float64]:
        assert visit.page is not None
        scores = np.fromiter(
            (self._neighbourhood(link.anchor, link.context) for link in visit.page.links), float, count
        )
        scores *= 1.0 - self._inherited_share
        scores += self._inherited_share * inherited
        return scores

    def _neighbourhood(self, anchor: str, context: str) -> float:
        by_anchor = self._anchors.get(anchor)
        if by_anchor is None:
            if len(self._anchors) >= MEMO:
                self._anchors.clear()
            by_anchor = self._anchors[anchor] = self._similarity_of(anchor)
        by_context = 1.0 if by_anchor > 0 else self._similarity_of(context)
        return self._anchor_share * by_anchor + (1.0 - self._anchor_share) * by_context


def payload(depth: int, inherited: float) -> int:
    """The bits hidden in a score, 28 of them: mark, depth, inherited score."""
    return _MARK | depth << _INHERITED_BITS | round(min(max(inherited, 0.0), 1.0) * _INHERITED_MAX)


def pack(score: float, hidden: int) -> float:
    """The score in the precision of the frontier, with the payload in the bits below."""
    if abs(score) < LEAST:
        score = LEAST
    (rounded,) = _FLOAT.unpack(_FLOAT.pack(score))
    (packed,) = _DOUBLE.unpack(_BITS.pack(_bits(rounded) | hidden))
    return float(packed)


def pack_many(scores: NDArray[np.float64], hidden: int) -> NDArray[np.float64]:
    """`pack` for many scores of 0 or more, with one payload."""
    bits = np.maximum(scores, LEAST).astype(np.float32).astype(np.float64).view(np.uint64)
    return (bits | np.uint64(hidden)).view(np.float64)


def unpack(score: float) -> tuple[int, float] | None:
    """Depth and inherited score; None if the score was given by another strategy and has neither."""
    hidden = _bits(score) & _HIDDEN
    if hidden // _MARK != 1:
        return None
    return (hidden ^ _MARK) >> _INHERITED_BITS, (hidden & _INHERITED_MAX) / _INHERITED_MAX


def _bits(score: float) -> int:
    (bits,) = _BITS.unpack(_DOUBLE.pack(score))
    return int(bits)
