"""Shark-Search, and Fish-Search before it (paper TC, sections 3.1.4 and 4.1.2; Hersovici et al. 1998).

    score(link)         = (1 − r) · neighbourhood(link) + r · inherited(link)
    inherited(link)     = δ · sim(page) if sim(page) > 0, else δ · inherited(page)
    neighbourhood(link) = β · sim(anchor) + (1 − β) · context(link)
    context(link)       = 1 if sim(anchor) > 0, else sim(words around the link)

The links of a page that has anything of the topic may be followed d links deep, those of another page one link
less deep than the page itself; at depth 0 a page's links are not queued. sim is the similarity to the topic's words.

Fish-Search calls a page relevant or not, nothing between, and knows only what is inherited: r = 1 and sim = 1 where
the judge calls the page relevant, 0 elsewhere. Differs from De Bra and Post (1994): no limit on the number of links
that are followed from one page.

Depth and inherited score belong to each waiting link, up to millions of them, and must outlive the process. They
travel in the link's score: the frontier orders by 32-bit floats, the store keeps 64 bits, and the 28 bits below what a
32-bit float can see hold a mark, the depth and the inherited score (to a millionth). So nothing needs to be
saved, a redirect hands them on to its target, and of several citing pages it is the best one that counts.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.lib.bounds import require_at_least
from lycosa.model import Visit
from lycosa.strategies.papers.batches import Batched
from lycosa.strategies.protocol import Abilities, StrategyParts

MAX_DEPTH = 127
LEAST = 2.0**-40
"""The score of a link with nothing to be said for it: 0 has no room for what travels in a score."""
MEMO = 1 << 14
"""Anchors whose similarity is remembered: `Home`, `Next page`, the site's menu."""

_INHERITED_BITS = 20
_INHERITED_MAX = (1 << _INHERITED_BITS) - 1
_MARK = 1 << 27
_HIDDEN = (1 << 29) - 1  # what a 64-bit float has below the last bit of a 32-bit float
_DOUBLE = struct.Struct("<d")
_BITS = struct.Struct("<Q")
_FLOAT = struct.Struct("<f")


@dataclass(frozen=True, slots=True, kw_only=True)
class FishSettings:
    batch: int = 1
    """N: how many of the best links are fetched, in random order, before the best are chosen again."""
    depth: int = 3
    """d: how many links without relevance may be followed in a row."""
    decay: float = 0.5
    """δ: what is left of a score when it is handed down one link."""

    def __post_init__(self) -> None:
        require_at_least(self, "fish", batch=1, depth=0, decay=0)
        if self.depth > MAX_DEPTH or self.decay > 1:
            raise ConfigError(f"fish: depth is {self.depth} and decay {self.decay}: at most {MAX_DEPTH} and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharkSettings(FishSettings):
    inherited_share: float = 0.1
    """r: how much the inherited score counts against the neighbourhood. Hersovici et al. take 0.5."""
    anchor_share: float = 0.8
    """β: how much the anchor counts against the words around it."""

    def __post_init__(self) -> None:
        FishSettings.__post_init__(self)
        require_at_least(self, "shark", inherited_share=0, anchor_share=0)
        if self.inherited_share > 1 or self.anchor_share > 1:
            raise ConfigError("shark: inherited_share and anchor_share must not be above 1")


class Fish(Batched):
    def __init__(self, parts: StrategyParts, settings: FishSettings) -> None:
        super().__init__(settings.batch, parts.rng)
        self.name = self._family() + (f"-{settings.batch}" if settings.batch > 1 else "")
        self._depth = settings.depth
        self._decay = settings.decay

    @classmethod
    def _family(cls) -> str:
        return "fish"

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

    def _scores(self, visit: Visit, count: int, inherited: float) -> NDArray[np.float64]:  # noqa: ARG002 - Fish looks at no link
        return np.full(count, inherited)

    def retry_score(self, score: float, tries: int) -> float:
        plain = super().retry_score(score, tries)
        hidden = _bits(score) & _HIDDEN
        return pack(min(plain, -LEAST), hidden) if unpack(score) else min(plain, -LEAST)

    def reason(self, score: float) -> str:
        if score < 0:
            return super().reason(score)
        depth, inherited = unpack(score) or (self._depth, 0.0)
        return f"{self.name}: {score:.3f}, of it inherited {inherited:.3f}; links are followed {depth} deep from there"


class Shark(Fish):
    def __init__(self, parts: StrategyParts, settings: SharkSettings) -> None:
        super().__init__(parts, settings)
        self._similarity_of = parts.similarity
        self._inherited_share = settings.inherited_share
        self._anchor_share = settings.anchor_share
        self._anchors: dict[str, float] = {}

    @property
    def abilities(self) -> Abilities:
        return Abilities(needs_whole_pages=True)

    @classmethod
    def _family(cls) -> str:
        return "shark"

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
    """What travels in a score, as 28 bits: mark, depth, inherited score."""
    return _MARK | depth << _INHERITED_BITS | round(min(max(inherited, 0.0), 1.0) * _INHERITED_MAX)


def pack(score: float, hidden: int) -> float:
    """The score to the precision of the frontier, with the payload in the bits below."""
    if abs(score) < LEAST:
        score = LEAST
    (rounded,) = _FLOAT.unpack(_FLOAT.pack(score))
    (packed,) = _DOUBLE.unpack(_BITS.pack(_bits(rounded) | hidden))
    return float(packed)


def pack_many(scores: NDArray[np.float64], hidden: int) -> NDArray[np.float64]:
    """`pack` for scores from 0 on, with one payload."""
    bits = np.maximum(scores, LEAST).astype(np.float32).astype(np.float64).view(np.uint64)
    return (bits | np.uint64(hidden)).view(np.float64)


def unpack(score: float) -> tuple[int, float] | None:
    """Depth and inherited score; None where the score carries none: another strategy gave it."""
    hidden = _bits(score) & _HIDDEN
    if hidden // _MARK != 1:
        return None
    return (hidden ^ _MARK) >> _INHERITED_BITS, (hidden & _INHERITED_MAX) / _INHERITED_MAX


def _bits(score: float) -> int:
    (bits,) = _BITS.unpack(_DOUBLE.pack(score))
    return int(bits)
